// GroupService: the group coordinator of this node. Partition p of `__consumer_offsets` lives on io loop p % loops,
// with all groups that hash to it; a request that came in on another loop hops there and its answer hops back. Owned by
// Broker. Any io loop may call; `done` runs on `reply_on`, which is the caller's loop. After stop() a request is
// dropped, which closes its connection.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/config.hpp"
#include "broker/group_partition.hpp"
#include "coordinator/metadata/controller.hpp"

namespace weir::broker {

class GroupService {
 public:
  template <class Body>
  using Done = UniqueFunction<void(Body)>;
  using ErrorCode = group::ErrorCode;

  GroupService(const Config& config, Runtime& runtime, metadata::Controller& controller, log::CommitLog& log,
               Metrics& metrics);
  ~GroupService();
  // Begins to load all partitions, so that the first request finds its group.
  void start();
  // Ends all groups here; loads and appends under way come to their end first. `done` runs on the first io loop.
  void stop(Task done);
  // From the controller's executor: their committed offsets go.
  void topics_deleted(std::vector<std::shared_ptr<const metadata::Topic>> topics);

  void join(group::JoinRequest request, IoLoop& reply_on, Done<group::JoinAnswer> done);
  void sync(group::SyncRequest request, IoLoop& reply_on, Done<group::SyncAnswer> done);
  void heartbeat(std::string group_id, group::Sender sender, IoLoop& reply_on, Done<ErrorCode> done);
  void leave(group::LeaveRequest request, IoLoop& reply_on, Done<group::LeaveAnswer> done);
  void commit(group::CommitRequest request, IoLoop& reply_on, Done<group::CommitAnswer> done);
  void delete_offsets(group::DeleteOffsetsRequest request, IoLoop& reply_on, Done<group::DeleteOffsetsAnswer> done);
  void delete_group(std::string group_id, IoLoop& reply_on, Done<group::DeleteGroupAnswer> done);

  struct Fetched {
    ErrorCode error = ErrorCode::none;
    std::vector<group::FetchedTopic> topics;
  };
  // nullopt: all topics that the group has offsets of.
  void fetch(std::string group_id, std::optional<std::vector<group::TopicPartitions>> topics, IoLoop& reply_on,
             Done<Fetched> done);
  struct Described {
    ErrorCode error = ErrorCode::none;
    group::GroupFacts facts;
  };
  void describe(std::string group_id, IoLoop& reply_on, Done<Described> done);
  struct Inspected {
    ErrorCode error = ErrorCode::none;
    group::InspectedGroup group;
  };
  void inspect(std::string group_id, IoLoop& reply_on, Done<Inspected> done);
  // All groups of partitions that have loaded, in no order. Takes turns with other work of the loops.
  void inspect_all(IoLoop& reply_on, Done<std::vector<group::InspectedGroup>> done);
  struct Listed {
    ErrorCode error = ErrorCode::none;  // some partition is still loading: the list would lack groups
    std::vector<group::ListedGroup> groups;
  };
  void list(IoLoop& reply_on, Done<Listed> done);

 private:
  struct LoopState {
    IoLoop* loop = nullptr;
    std::unique_ptr<metadata::ImageView> image;
    std::map<std::int32_t, std::shared_ptr<GroupPartition>> partitions;
    std::shared_ptr<WorkGate> gate;  // null once stopped
    Random random{0};
  };
  // On the loop of the group's partition: work(partition, none), or work(null, what to answer).
  using Work = UniqueFunction<void(GroupPartition*, ErrorCode)>;
  void with_partition_of(const std::string& group_id, IoLoop& from, Work work);
  template <class Body, class Event>
  void route(const std::string& group_id, IoLoop& reply_on, Done<Body> done, Body when_refused, Event event);
  struct Inspection;
  void inspect_more(LoopState& state, std::shared_ptr<Inspection> inspection);
  ErrorCode find(LoopState& state, std::int32_t index, GroupPartition*& found);
  std::int32_t partition_count();

  const Config& config_;
  Runtime& runtime_;
  metadata::Controller& controller_;
  group::GroupConfig group_config_;
  GroupPartition::World world_;
  std::vector<std::unique_ptr<LoopState>> loops_;
};

}  // namespace weir::broker
