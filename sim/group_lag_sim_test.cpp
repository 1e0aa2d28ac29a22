// How far groups are behind, on the whole broker: ExplainGroup, and the lines of /metrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "protocol/codec.hpp"
#include "protocol/errors.hpp"
#include "protocol/gen/consumer_protocol_assignment.hpp"
#include "protocol/gen/consumer_protocol_subscription.hpp"
#include "protocol/gen/delete_records.hpp"
#include "protocol/gen/delete_topics.hpp"
#include "protocol/gen/explain_group.hpp"
#include "protocol/gen/find_coordinator.hpp"
#include "protocol/gen/heartbeat.hpp"
#include "protocol/gen/join_group.hpp"
#include "protocol/gen/offset_commit.hpp"
#include "protocol/gen/produce.hpp"
#include "protocol/gen/sync_group.hpp"
#include "protocol/record.hpp"
#include "sim/seams/talk.hpp"
#include "sim/sim_producer.hpp"

namespace weir::sim {
namespace {
using namespace protocol;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const SimTopic kTopic{"orders", 4};
constexpr std::int8_t kNumber = 0;
constexpr std::int8_t kNoCommit = 1;
constexpr std::int8_t kUnknown = 2;

template <class Message>
std::vector<std::byte> versioned_bytes(const Message& message) {
  Writer out;
  out.write_int16(0);
  EXPECT_TRUE(encode(out, 0, message));
  return out.finish().flatten();
}

class GroupLagSim : public testing::Test {
 protected:
  void start(std::uint64_t seed) {
    world.emplace(seed);
    ASSERT_TRUE(world->start_broker()) << world->why();
    ASSERT_TRUE(create_topic(*world, kTopic));
    connect();
    FindCoordinatorRequest find;
    find.coordinator_keys = {"g"};
    for (int i = 0; i < 50; ++i) {
      if (call<FindCoordinatorResponse>(find).coordinators.at(0).error_code == 0) {
        break;
      }
    }
  }
  void connect() {
    auto opened = world->connect();
    ASSERT_TRUE(opened);
    connection = *opened;
  }
  template <class Response, class Request>
  Response call(const Request& request) {
    auto answer = world->call<Request, Response>(*connection, request);
    EXPECT_TRUE(answer) << (answer ? "" : to_string(answer.error()));
    return answer ? Response{answer->response} : Response{};
  }

  void produce(std::int32_t partition, int records) {
    RecordBatchBuilder builder{};
    for (int i = 0; i < records; ++i) {
      builder.append({.value = as_bytes(std::string_view{"value"}), .timestamp = 1'700'000'000'000});
    }
    ProduceRequest request{.acks = -1, .timeout_ms = 30'000};
    auto& topic = request.topic_data.emplace_back();
    topic.name = kTopic.name;
    topic.partition_data.push_back(
        {.index = partition, .records = BufferChain{SharedBytes::adopt(std::move(*builder.build()))}});
    auto answer = std::make_shared<std::optional<Result<client::Answered<ProduceResponse>>>>();
    connection->call_version<ProduceRequest, ProduceResponse>(
        request, 12, [answer](Result<client::Answered<ProduceResponse>> got) { *answer = std::move(got); });
    ASSERT_TRUE(world->run_until([&] { return answer->has_value(); }, World::kPatienceMs));
    ASSERT_TRUE(**answer);
    EXPECT_EQ((**answer)->response.responses.at(0).partition_responses.at(0).error_code, 0);
  }

  void join(const std::vector<std::int32_t>& partitions) {
    ConsumerProtocolSubscription subscription;
    subscription.topics = {kTopic.name, "missing"};
    JoinGroupRequest request;
    request.group_id = "g";
    request.session_timeout_ms = request.rebalance_timeout_ms = 30'000;
    request.protocol_type = "consumer";
    const auto metadata = versioned_bytes(subscription);
    request.protocols.push_back({.name = "range", .metadata = Bytes{metadata}});
    JoinGroupResponse joined;
    for (int i = 0; i < 100; ++i) {
      joined = call<JoinGroupResponse>(request);
      request.member_id = joined.member_id;
      if (joined.error_code == 0) {
        break;
      }
    }
    ASSERT_EQ(joined.error_code, 0);
    member_id = joined.member_id.str();
    generation = joined.generation_id;
    ConsumerProtocolAssignment assignment;
    assignment.assigned_partitions.push_back({.topic = kTopic.name, .partitions = partitions});
    const auto assigned = versioned_bytes(assignment);
    SyncGroupRequest sync;
    sync.group_id = "g";
    sync.member_id = member_id;
    sync.generation_id = generation;
    sync.protocol_type = "consumer";
    sync.protocol_name = "range";
    sync.assignments.push_back({.member_id = member_id, .assignment = Bytes{assigned}});
    ASSERT_EQ(call<SyncGroupResponse>(sync).error_code, 0);
  }

  void commit(const std::string& group, std::int32_t partition, std::int64_t offset) {
    OffsetCommitRequest request;
    request.group_id = group;
    if (group == "g") {
      request.member_id = member_id;
      request.generation_id_or_member_epoch = generation;
    }
    auto& topic = request.topics.emplace_back();
    topic.name = kTopic.name;
    topic.partitions.push_back({.partition_index = partition, .committed_offset = offset});
    std::int16_t error = -1;
    for (int retry = 0; retry < 100 && error != 0; ++retry) {
      auto answer = std::make_shared<std::optional<Result<client::Answered<OffsetCommitResponse>>>>();
      connection->call_version<OffsetCommitRequest, OffsetCommitResponse>(
          request, 9, [answer](Result<client::Answered<OffsetCommitResponse>> got) { *answer = std::move(got); });
      ASSERT_TRUE(world->run_until([&] { return answer->has_value(); }, World::kPatienceMs));
      ASSERT_TRUE(**answer);
      error = (**answer)->response.topics.at(0).partitions.at(0).error_code;
    }
    ASSERT_EQ(error, 0);
  }

  ExplainGroupResponse::ExplainedGroup explain(const std::string& group) {
    ExplainGroupRequest request;
    request.group_ids = {"nobody", group};
    for (int i = 0; i < 100; ++i) {
      const auto answer = call<ExplainGroupResponse>(request);
      EXPECT_EQ(answer.groups.size(), 2U);
      if (std::ranges::any_of(answer.groups, [](const auto& one) {
            return one.error_code == wire(ErrorCode::coordinator_load_in_progress);
          })) {
        continue;
      }
      EXPECT_EQ(answer.groups.at(0).group_id, "nobody");
      EXPECT_EQ(answer.groups.at(0).state, "Dead");
      EXPECT_EQ(answer.groups.at(0).error_code, wire(ErrorCode::group_id_not_found));
      EXPECT_EQ(answer.groups.at(1).group_id, group);
      return answer.groups.at(1);
    }
    ADD_FAILURE() << "the coordinator is still loading";
    return {};
  }
  static std::vector<std::string> reasons(const ExplainGroupResponse::ExplainedGroup& group) {
    std::vector<std::string> all;
    for (const auto& reason : group.reasons) {
      all.push_back(reason.str());
    }
    return all;
  }

  std::string metrics() {
    auto answer = talk(world->queue(), world->network(), world->client_loop(), *world->broker().http_bound(),
                       "GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(answer);
    return std::move(answer).value_or("");
  }

  std::optional<World> world;
  std::shared_ptr<client::Connection> connection;  // goes before its world
  std::string member_id;
  std::int32_t generation = -1;
};

TEST_F(GroupLagSim, EachPartitionOfASubscribedTopicHasALagOrAWordForIt) {
  start(11);
  for (std::int32_t partition = 0; partition < 4; ++partition) {
    produce(partition, 10);
  }
  join({0, 1, 2});
  commit("g", 0, 4);
  commit("g", 1, 11);  // beyond the end
  DeleteRecordsRequest trim;
  trim.timeout_ms = 30'000;
  trim.topics.push_back({.name = kTopic.name, .partitions = {{.partition_index = 0, .offset = 7}}});
  ASSERT_EQ(call<DeleteRecordsResponse>(trim).topics.at(0).partitions.at(0).error_code, 0);

  const auto told = explain("g");
  EXPECT_EQ(told.error_code, 0);
  EXPECT_EQ(told.state, "Stable");
  EXPECT_EQ(told.generation, generation);
  EXPECT_GE(told.state_since_ms, 0);
  ASSERT_EQ(told.topics.size(), 2U);
  EXPECT_EQ(told.topics[0].topic_name, "missing");
  EXPECT_TRUE(told.topics[0].partitions.empty());
  const auto& parts = told.topics[1].partitions;
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(parts[0].lag_state, kNumber);
  EXPECT_EQ(parts[0].committed_offset, 4);
  EXPECT_EQ(parts[0].log_start_offset, 7);
  EXPECT_EQ(parts[0].high_watermark, 10);
  EXPECT_EQ(parts[0].records_behind, 3) << "three of the six that were not read are gone";
  EXPECT_GE(parts[0].commit_age_ms, 0);
  EXPECT_EQ(parts[0].member_id, member_id);
  EXPECT_EQ(parts[1].lag_state, kUnknown);
  EXPECT_EQ(parts[1].records_behind, -1);
  EXPECT_EQ(parts[2].lag_state, kNoCommit);
  EXPECT_EQ(parts[2].committed_offset, -1);
  EXPECT_EQ(parts[2].commit_age_ms, -1);
  EXPECT_EQ(parts[2].member_id, member_id);
  EXPECT_EQ(parts[3].lag_state, kNoCommit);
  EXPECT_FALSE(parts[3].member_id);

  const auto why = reasons(told);
  EXPECT_THAT(why, Contains(StartsWith("The group is stable")));
  EXPECT_THAT(why, Contains("Topic missing is subscribed but does not exist."));
  EXPECT_THAT(why, Contains(HasSubstr("offset 4 of orders-0 lies below the log start 7")));
  EXPECT_THAT(why, Contains(HasSubstr("offset 11 of orders-1 lies beyond the end 10")));
  EXPECT_THAT(why, Contains(StartsWith("Partition orders-2 has no commit")));
  EXPECT_THAT(why, Contains("Partition orders-3 is assigned to nobody."));

  const auto text = metrics();
  EXPECT_THAT(text, HasSubstr("weir_group_records_behind{group=\"g\",topic=\"orders\",partition=\"0\"} 3\n"));
  EXPECT_THAT(text,
              HasSubstr("weir_group_lag_state{group=\"g\",topic=\"orders\",partition=\"1\",state=\"unknown\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("weir_group_lag_state{group=\"g\",topic=\"orders\",partition=\"2\",state=\"no_commit\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("weir_group_records_behind{group=\"g\",topic=\"orders\",partition=\"1\"}")));
}

TEST_F(GroupLagSim, GroupsOfAllPartitionsAreMeasuredAlsoAfterARestart) {
  start(12);
  produce(1, 20);
  for (int i = 0; i < 30; ++i) {
    commit("simple" + std::to_string(i), 1, i % 20);
  }
  world->crash(CrashMode::process_death);
  connection.reset();
  ASSERT_TRUE(world->start_broker()) << world->why();
  connect();
  EXPECT_THAT(reasons(explain("simple3")), testing::ElementsAre("Nobody ever joined: this group only stores offsets.",
                                                                "17 records wait in 1 partition."));
  const auto line_of = [](int i) {
    return "weir_group_records_behind{group=\"simple" + std::to_string(i) + "\",topic=\"orders\",partition=\"1\"} " +
           std::to_string(20 - i % 20) + "\n";
  };
  int missing = 30;
  for (int retry = 0; retry < 100 && missing > 0; ++retry) {  // groups of a partition that still loads are left out
    const auto text = metrics();
    missing = 0;
    for (int i = 0; i < 30; ++i) {
      missing += text.find(line_of(i)) == std::string::npos ? 1 : 0;
    }
  }
  EXPECT_EQ(missing, 0);
}

TEST_F(GroupLagSim, ACommitOfADeletedNamesakeIsNoLag) {
  start(13);
  produce(1, 5);
  commit("simple", 1, 2);
  DeleteTopicsRequest remove;
  remove.timeout_ms = 30'000;
  remove.topics.push_back({.name = kTopic.name});
  ASSERT_EQ(call<DeleteTopicsResponse>(remove).responses.at(0).error_code, 0);
  ASSERT_TRUE(create_topic(*world, kTopic));
  const auto told = explain("simple");  // gone with its last offset, or its offsets are on their way out
  EXPECT_TRUE(told.topics.empty());
  EXPECT_THAT(metrics(), Not(HasSubstr("group=\"simple\"")));
}

}  // namespace
}  // namespace weir::sim
