// Consumer groups as a tool sees them: their coordinator, state and members, and committed offsets. Blocks; used by the
// thread that owns the Blocking.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/client/blocking.hpp"

namespace weir::client {

using TopicPartition = std::pair<std::string, std::int32_t>;
using OffsetsByPartition = std::map<TopicPartition, std::int64_t>;

struct GroupMember {
  std::string id;
  std::string instance_id;  // empty: not static
  std::string client_id;
  std::string host;
  std::vector<TopicPartition> assigned;
};

struct GroupState {
  std::string state;  // as the broker spells it: Empty, Stable, Dead, ...
  std::string protocol_type;
  std::string protocol;
  std::vector<GroupMember> members;
};

enum class LagState : std::uint8_t { number, no_commit, unknown };

struct PartitionLag {
  TopicPartition at;
  LagState state = LagState::unknown;
  std::int64_t committed = -1;  // -1: no commit
  std::int64_t end = -1;        // -1: there is no such partition
  std::int64_t behind = -1;     // -1 unless a number
  Millis commit_age_ms = -1;    // -1: no commit, or the broker does not tell
  std::string member;           // whom it is assigned to; empty: nobody
};

struct GroupExplanation {
  std::string state;
  std::int32_t generation = -1;
  Millis state_since_ms = -1;  // how long; -1: not known
  std::vector<std::string> reasons;
  std::vector<PartitionLag> partitions;
};

struct ListedGroup {
  std::string id;
  std::string state;
  std::string type;
};

// What the broker refuses goes into `error`; the Result is about reaching it.
class Groups {
 public:
  explicit Groups(Blocking& broker) : broker_(broker) {}

  Result<std::vector<ListedGroup>> list(std::int16_t& error);
  // A group that is not there is Dead, without members.
  Result<GroupState> describe(const std::string& group, std::int16_t& error);
  // `unsupported`: no broker of ours. A group that is not there is refused with GROUP_ID_NOT_FOUND.
  Result<GroupExplanation> explain(const std::string& group, std::int16_t& error);
  Result<OffsetsByPartition> committed(const std::string& group, std::int16_t& error);  // only where there is a commit
  Result<void> commit(const std::string& group, const OffsetsByPartition& offsets, std::int16_t& error);
  Result<void> remove(const std::string& group, std::int16_t& error);  // with its offsets

 private:
  Result<std::int32_t> coordinator(const std::string& group, std::int16_t& error);
  Blocking& broker_;
};

}  // namespace weir::client
