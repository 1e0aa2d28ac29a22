// Groups on the whole broker: the same calls that a consumer makes, through connections, log and restarts.
#include <gtest/gtest.h>

#include <optional>

#include "protocol/errors.hpp"
#include "protocol/gen/delete_groups.hpp"
#include "protocol/gen/delete_topics.hpp"
#include "protocol/gen/describe_groups.hpp"
#include "protocol/gen/find_coordinator.hpp"
#include "protocol/gen/heartbeat.hpp"
#include "protocol/gen/join_group.hpp"
#include "protocol/gen/leave_group.hpp"
#include "protocol/gen/list_groups.hpp"
#include "protocol/gen/offset_commit.hpp"
#include "protocol/gen/offset_delete.hpp"
#include "protocol/gen/offset_fetch.hpp"
#include "protocol/gen/sync_group.hpp"
#include "sim/seams/seeds.hpp"
#include "sim/sim_producer.hpp"

namespace weir::sim {
namespace {
using namespace protocol;

template <class Response>
Response versioned(World& world, client::Connection& connection, const auto& request, std::int16_t version) {
  using Request = std::decay_t<decltype(request)>;
  auto answer = std::make_shared<std::optional<Result<client::Answered<Response>>>>();
  connection.call_version<Request, Response>(
      request, version, [answer](Result<client::Answered<Response>> got) { *answer = std::move(got); });
  EXPECT_TRUE(world.run_until([&] { return answer->has_value(); }, World::kPatienceMs));
  EXPECT_TRUE(answer->has_value() && **answer);
  return answer->has_value() && **answer ? Response{(**answer)->response} : Response{};
}

struct Member {
  std::string id;
  std::int32_t generation = -1;
};

constexpr std::int16_t kNone = 0;
const SimTopic kTopic{"orders", 3};

class GroupSim : public testing::Test {
 protected:
  void start(World& world) {
    ASSERT_TRUE(world.start_broker()) << world.why();
    ASSERT_TRUE(create_topic(world, kTopic, {}));
    connect(world);
    FindCoordinatorRequest find;
    find.coordinator_keys = {"g"};
    for (int i = 0; i < 50; ++i) {
      const auto found = versioned<FindCoordinatorResponse>(world, *connection, find, 4);
      ASSERT_EQ(found.coordinators.size(), 1U);
      if (found.coordinators[0].error_code == kNone) {
        break;
      }
      EXPECT_EQ(found.coordinators[0].error_code, wire(ErrorCode::coordinator_not_available));
      EXPECT_EQ(found.coordinators[0].node_id, -1);
    }
  }
  void connect(World& world) {
    auto opened = world.connect();
    ASSERT_TRUE(opened);
    connection = *opened;
  }

  // Joins as the only member and syncs; retries while the shard loads.
  Member stable_member(World& world) {
    JoinGroupRequest join;
    join.group_id = "g";
    join.session_timeout_ms = 30'000;
    join.rebalance_timeout_ms = 30'000;
    join.protocol_type = "consumer";
    join.protocols.push_back(
        {.name = "range", .metadata = as_bytes(std::string_view{"\0\1\0\0\0\0\xff\xff\xff\xff", 10})});
    JoinGroupResponse joined;
    for (int i = 0; i < 100; ++i) {
      joined = versioned<JoinGroupResponse>(world, *connection, join, 9);
      if (joined.error_code == wire(ErrorCode::member_id_required)) {
        join.member_id = joined.member_id;
      }
      if (joined.error_code == kNone) {
        break;
      }
    }
    EXPECT_EQ(joined.error_code, kNone);
    SyncGroupRequest sync;
    sync.group_id = "g";
    sync.member_id = joined.member_id;
    sync.generation_id = joined.generation_id;
    sync.protocol_type = "consumer";
    sync.protocol_name = "range";
    sync.assignments.push_back({.member_id = joined.member_id, .assignment = as_bytes(std::string_view{"abc"})});
    const auto synced = versioned<SyncGroupResponse>(world, *connection, sync, 5);
    EXPECT_EQ(synced.error_code, kNone);
    EXPECT_EQ(as_text(synced.assignment.view()), "abc");
    return {joined.member_id.str(), joined.generation_id};
  }

  std::int16_t commit(World& world, const std::string& group, const Member& member, std::int64_t offset) {
    OffsetCommitRequest request;
    request.group_id = group;
    request.member_id = member.id;
    request.generation_id_or_member_epoch = member.generation;
    auto& topic = request.topics.emplace_back();
    topic.name = kTopic.name;
    topic.partitions.push_back({.partition_index = 1, .committed_offset = offset, .committed_metadata = "m"});
    topic.partitions.push_back({.partition_index = 99, .committed_offset = offset});
    const auto answer = versioned<OffsetCommitResponse>(world, *connection, request, 9);
    // As in Kafka, what is refused comes before what went to the group.
    const auto& partitions = answer.topics.at(0).partitions;
    EXPECT_EQ(partitions.at(0).partition_index, 99);
    EXPECT_EQ(partitions.at(0).error_code, wire(ErrorCode::unknown_topic_or_partition));
    return partitions.at(1).error_code;
  }

  // -2: the coordinator says it cannot answer yet.
  std::int64_t committed(World& world, const std::string& group, std::int16_t version) {
    OffsetFetchRequest request;
    if (version < 8) {
      request.group_id = group;
      request.topics->push_back({.name = kTopic.name, .partition_indexes = {1}});
      const auto answer = versioned<OffsetFetchResponse>(world, *connection, request, version);
      return answer.error_code != kNone || answer.topics.empty() ? -2 : answer.topics[0].partitions[0].committed_offset;
    }
    auto& asked = request.groups.emplace_back();
    asked.group_id = group;
    asked.topics->push_back({.name = kTopic.name, .partition_indexes = {1}});
    const auto answer = versioned<OffsetFetchResponse>(world, *connection, request, version);
    const auto& one = answer.groups.at(0);
    return one.error_code != kNone ? -2 : one.topics.at(0).partitions.at(0).committed_offset;
  }
  std::int64_t committed_soon(World& world, const std::string& group) {
    std::int64_t offset = -2;
    for (int i = 0; i < 100 && offset == -2; ++i) {
      offset = committed(world, group, 8);
    }
    return offset;
  }

  World& new_world(std::uint64_t seed) {
    connection.reset();
    return world_.emplace(seed);
  }

 private:
  std::optional<World> world_;

 protected:
  std::shared_ptr<client::Connection> connection;  // goes before its world
};

TEST_F(GroupSim, AConsumerJoinsCommitsAndResumesAfterKillAndPowerCut) {
  for (const auto seed : seeds(20)) {
    SCOPED_TRACE("WEIR_SEED=" + std::to_string(seed));
    auto& world = new_world(seed);
    start(world);
    const auto member = stable_member(world);
    EXPECT_EQ(commit(world, "g", member, 42), kNone);
    EXPECT_EQ(commit(world, "g", {member.id, member.generation + 1}, 43), wire(ErrorCode::illegal_generation));
    EXPECT_EQ(committed(world, "g", 7), 42);
    world.crash(seed % 2 == 0 ? CrashMode::power_cut : CrashMode::process_death);
    ASSERT_TRUE(world.start_broker()) << world.why();
    connect(world);
    EXPECT_EQ(committed_soon(world, "g"), 42);
    HeartbeatRequest beat;
    beat.group_id = "g";
    beat.member_id = member.id;
    beat.generation_id = member.generation;
    EXPECT_EQ(versioned<HeartbeatResponse>(world, *connection, beat, 4).error_code, kNone) << "its membership too";
    EXPECT_EQ(commit(world, "g", member, 44), kNone);
    EXPECT_TRUE(world.stop_broker());
    ASSERT_TRUE(world.start_broker()) << world.why();
    connect(world);
    EXPECT_EQ(committed_soon(world, "g"), 44);
  }
}

TEST_F(GroupSim, AdminsSeeAndDeleteGroupsOfAllPartitions) {
  auto& world = new_world(5);
  start(world);
  for (int i = 0; i < 30; ++i) {
    std::int16_t error = -1;
    for (int retry = 0; retry < 100 && error != kNone; ++retry) {
      error = commit(world, "simple" + std::to_string(i), {}, i);
    }
    ASSERT_EQ(error, kNone);
  }
  const auto member = stable_member(world);
  ListGroupsRequest list;
  ListGroupsResponse listed;
  for (int i = 0; i < 100; ++i) {
    listed = versioned<ListGroupsResponse>(world, *connection, list, 5);
    if (listed.error_code == kNone) {
      break;
    }
  }
  EXPECT_EQ(listed.groups.size(), 31U);
  list.states_filter = {"STABLE"};
  EXPECT_EQ(versioned<ListGroupsResponse>(world, *connection, list, 5).groups.size(), 1U);

  DescribeGroupsRequest describe;
  describe.groups = {"g", "nogroup"};
  const auto described = versioned<DescribeGroupsResponse>(world, *connection, describe, 6);
  EXPECT_EQ(described.groups[0].group_state, "Stable");
  EXPECT_EQ(described.groups[0].members.at(0).member_id, member.id);
  EXPECT_EQ(described.groups[1].group_state, "Dead");
  EXPECT_EQ(described.groups[1].error_code, wire(ErrorCode::group_id_not_found));

  DeleteGroupsRequest remove;
  remove.groups_names = {"g", "nogroup", "simple7"};
  const auto removed = versioned<DeleteGroupsResponse>(world, *connection, remove, 2);
  EXPECT_EQ(removed.results[0].error_code, wire(ErrorCode::non_empty_group));
  EXPECT_EQ(removed.results[1].error_code, wire(ErrorCode::group_id_not_found));
  EXPECT_EQ(removed.results[2].error_code, kNone);
  EXPECT_EQ(committed(world, "simple7", 8), -1);

  OffsetDeleteRequest forget;
  forget.group_id = "simple8";
  forget.topics.push_back({.name = kTopic.name, .partitions = {{.partition_index = 9}, {.partition_index = 1}}});
  const auto forgotten = versioned<OffsetDeleteResponse>(world, *connection, forget, 0);
  EXPECT_EQ(forgotten.topics.at(0).partitions.at(0).error_code, wire(ErrorCode::unknown_topic_or_partition));
  EXPECT_EQ(forgotten.topics.at(0).partitions.at(1).error_code, kNone);
  EXPECT_EQ(committed(world, "simple8", 8), -1);

  OffsetFetchRequest fetch;
  auto& asked = fetch.groups.emplace_back();
  asked.group_id = "simple9";
  const auto id = world.broker().services().controller.image()->find_topic(std::string_view{kTopic.name})->id;
  asked.topics = {{.topic_id = Random{1}.uuid(), .partition_indexes = {0}}, {.topic_id = id, .partition_indexes = {1}}};
  const auto fetched = versioned<OffsetFetchResponse>(world, *connection, fetch, 10);
  ASSERT_EQ(fetched.groups.at(0).topics.size(), 2U);
  EXPECT_EQ(fetched.groups[0].topics[0].topic_id, id) << "what is not there comes last";
  EXPECT_EQ(fetched.groups[0].topics[1].partitions.at(0).error_code, wire(ErrorCode::unknown_topic_id));

  LeaveGroupRequest leave;
  leave.group_id = "g";
  leave.members.push_back({.member_id = member.id});
  EXPECT_EQ(versioned<LeaveGroupResponse>(world, *connection, leave, 5).members.at(0).error_code, kNone);
}

// Versions 2 to 4 name a retention: -1 is the broker's, any other counts from now, so one below it is over already.
TEST_F(GroupSim, ACommitWithANegativeRetentionExpiresAtTheNextCheckAndMinusOneIsTheBrokers) {
  auto& world = new_world(5);
  start(world);
  stable_member(world);  // the shard is loaded then
  const auto commit_for = [&](const char* group, std::int64_t retention_ms) {
    OffsetCommitRequest request;
    request.group_id = group;
    request.retention_time_ms = retention_ms;
    auto& topic = request.topics.emplace_back();
    topic.name = kTopic.name;
    topic.partitions.push_back({.partition_index = 1, .committed_offset = 7, .committed_metadata = "m"});
    const auto answer = versioned<OffsetCommitResponse>(world, *connection, request, 3);
    return answer.topics.at(0).partitions.at(0).error_code;
  };
  const auto once_loaded = [&](const char* group, std::int64_t retention_ms) {
    std::int16_t code = -1;
    for (int i = 0; i < 100 && code != kNone; ++i) {
      code = commit_for(group, retention_ms);
    }
    return code;
  };
  EXPECT_EQ(once_loaded("over", -5), kNone);
  EXPECT_EQ(once_loaded("by default", -1), kNone);
  EXPECT_EQ(committed(world, "over", 7), 7);
  world.run_until([] { return false; }, 700'000);  // offsets.retention.check.interval.ms is 600 s
  connect(world);
  EXPECT_EQ(committed(world, "over", 7), -1);
  EXPECT_EQ(committed(world, "by default", 7), 7);
}

TEST_F(GroupSim, AStopOnAFullDiskDoesNotWaitForACommitThatWaitsForRoom) {
  auto& world = new_world(9);
  start(world);
  const auto member = stable_member(world);  // the shard is loaded then
  world.disk().set_capacity(world.disk().used_bytes());
  OffsetCommitRequest request;
  request.group_id = "g";
  request.member_id = member.id;
  request.generation_id_or_member_epoch = member.generation;
  auto& topic = request.topics.emplace_back();
  topic.name = kTopic.name;
  topic.partitions.push_back({.partition_index = 1, .committed_offset = 42, .committed_metadata = "m"});
  bool is_answered = false;
  connection->call_version<OffsetCommitRequest, OffsetCommitResponse>(
      request, 9,
      [&](const Result<client::Answered<OffsetCommitResponse>>& answer) { is_answered = answer.has_value(); });
  world.queue().run_for(2'000);
  EXPECT_FALSE(is_answered);
  EXPECT_TRUE(world.stop_broker());
  EXPECT_FALSE(is_answered) << "nobody may think that it was kept";
  world.disk().set_capacity(1LL << 40);
  ASSERT_TRUE(world.start_broker()) << world.why();
  connect(world);
  EXPECT_EQ(committed_soon(world, "g"), -1);
}

TEST_F(GroupSim, ATopicThatIsDeletedTakesItsCommittedOffsetsWithIt) {
  auto& world = new_world(7);
  start(world);
  std::int16_t error = -1;
  for (int retry = 0; retry < 100 && error != kNone; ++retry) {
    error = commit(world, "simple", {}, 5);
  }
  ASSERT_EQ(error, kNone);
  DeleteTopicsRequest remove;
  remove.timeout_ms = 30'000;
  remove.topics.push_back({.name = kTopic.name});
  EXPECT_EQ(versioned<DeleteTopicsResponse>(world, *connection, remove, 6).responses.at(0).error_code, kNone);
  std::int64_t offset = 5;
  for (int i = 0; i < 100 && offset != -1; ++i) {
    offset = committed(world, "simple", 8);
  }
  EXPECT_EQ(offset, -1);
}

}  // namespace
}  // namespace weir::sim
