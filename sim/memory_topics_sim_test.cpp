// Memory topics as clients see them, on the whole broker.
#include <gtest/gtest.h>

#include "protocol/errors.hpp"
#include "protocol/gen/delete_records.hpp"
#include "protocol/gen/describe_configs.hpp"
#include "protocol/gen/fetch.hpp"
#include "protocol/gen/list_offsets.hpp"
#include "protocol/gen/offset_for_leader_epoch.hpp"
#include "protocol/gen/produce.hpp"
#include "protocol/record.hpp"
#include "sim/sim_producer.hpp"

namespace weir::sim {
namespace {
using namespace protocol;

const SimTopic kTopic{"quotes", 1};
constexpr std::int64_t kBlock = 1 << 20;

class MemoryTopicsSim : public testing::Test {
 protected:
  void start(const std::map<std::string, std::string>& configs = {{"mq.storage", "memory"}},
             Config config = small_broker_config()) {
    world.emplace(7, WorldOptions{.config = std::move(config)});
    ASSERT_TRUE(world->start_broker()) << world->why();
    ASSERT_TRUE(create_topic(*world, kTopic, configs));
    connect();
  }
  void connect() {
    auto opened = world->connect();
    ASSERT_TRUE(opened);
    connection = *opened;
  }
  // The answer comes into the returned place once the world has run.
  template <class Response, class Request>
  std::shared_ptr<std::optional<Response>> begin(const Request& request, std::int16_t version) {
    auto answer = std::make_shared<std::optional<Response>>();
    connection->call_version<Request, Response>(request, version, [answer](Result<client::Answered<Response>> got) {
      ASSERT_TRUE(got) << to_string(got.error());
      *answer = std::move(got->response);
    });
    return answer;
  }
  template <class Response, class Request>
  Response call(const Request& request, std::int16_t version) {
    const auto answer = begin<Response>(request, version);
    EXPECT_TRUE(world->run_until([&] { return answer->has_value(); }, World::kPatienceMs));
    return answer->value_or(Response{});
  }
  ProduceResponse::PartitionProduceResponse produce(const std::vector<std::string>& values, std::int16_t acks = -1) {
    RecordBatchBuilder builder{};
    for (const auto& value : values) {
      builder.append({.value = as_bytes(value), .timestamp = 1'700'000'000'000});
    }
    ProduceRequest request{.acks = acks, .timeout_ms = 30'000};
    auto& topic = request.topic_data.emplace_back();
    topic.name = kTopic.name;
    topic.partition_data.push_back(
        {.index = 0, .records = BufferChain{SharedBytes::adopt(std::move(*builder.build()))}});
    return call<ProduceResponse>(request, 12).responses.at(0).partition_responses.at(0);
  }
  static FetchRequest fetch_at(std::int64_t offset) {
    FetchRequest request{.max_wait_ms = 30'000, .min_bytes = 1, .max_bytes = 1 << 20, .session_epoch = -1};
    auto& topic = request.topics.emplace_back();
    topic.topic = kTopic.name;
    topic.partitions.push_back({.partition = 0, .fetch_offset = offset, .partition_max_bytes = 1 << 20});
    return request;
  }
  FetchResponse::PartitionData fetch(std::int64_t offset) {
    return call<FetchResponse>(fetch_at(offset), 12).responses.at(0).partitions.at(0);
  }
  std::int64_t list_offset(std::int64_t timestamp) {
    ListOffsetsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = kTopic.name;
    topic.partitions.push_back({.partition_index = 0, .timestamp = timestamp});
    return call<ListOffsetsResponse>(request, 7).topics.at(0).partitions.at(0).offset;
  }

  std::optional<World> world;
  std::shared_ptr<client::Connection> connection;
};

TEST_F(MemoryTopicsSim, RecordsAreServedUntilARestartAndOffsetsGoOnBehindIt) {
  start();
  EXPECT_EQ(produce({"a", "b"}).base_offset, 0);
  EXPECT_EQ(produce({"c"}, 1).base_offset, 2);
  EXPECT_EQ(list_offset(-1), 3);
  EXPECT_EQ(list_offset(-2), 0);
  EXPECT_EQ(list_offset(-3), 0) << "the largest timestamp";
  EXPECT_EQ(list_offset(1'700'000'000'001), -1);
  std::string why;
  const auto records = read_all(*world, kTopic, 0, why);
  ASSERT_TRUE(records) << why;
  ASSERT_EQ(records->size(), 3U);
  EXPECT_EQ(records->back().value, "c");
  for (const bool clean : {true, false}) {
    if (clean) {
      ASSERT_TRUE(world->stop_broker());
    } else {
      world->crash(CrashMode::power_cut);
    }
    ASSERT_TRUE(world->start_broker()) << world->why();
    connect();
    const auto begin = clean ? kBlock : 2 * kBlock;
    EXPECT_EQ(list_offset(-1), begin);
    EXPECT_EQ(list_offset(-2), begin);
    EXPECT_EQ(fetch(1).error_code, wire(ErrorCode::offset_out_of_range));
    EXPECT_EQ(produce({"d"}).base_offset, begin);
    EXPECT_FALSE(fetch(begin).records->empty());
  }
}

TEST_F(MemoryTopicsSim, AFetchThatWaitsIsWokenByAnAppend) {
  start();
  EXPECT_EQ(produce({"a"}).base_offset, 0);
  const auto answer = begin<FetchResponse>(fetch_at(1), 12);
  const auto& services = world->broker().services();
  const auto id = services.controller.image()->find_topic(std::string_view{kTopic.name})->id;
  const auto partition = services.log.find({id, 0});
  ASSERT_TRUE(world->run_until([&] { return partition->waiters.load() == 1; }, 1000));
  const auto asked_at = world->queue().clock().monotonic_ms();
  const auto first = connection;
  connect();
  EXPECT_EQ(produce({"b"}).base_offset, 1);
  ASSERT_TRUE(world->run_until([&] { return answer->has_value(); }, World::kPatienceMs));
  EXPECT_LT(world->queue().clock().monotonic_ms() - asked_at, 20'000);
  EXPECT_FALSE((*answer)->responses.at(0).partitions.at(0).records->empty());
}

TEST_F(MemoryTopicsSim, RecordsAreDeletedAndEpochsAnsweredAsInTheLog) {
  start();
  EXPECT_EQ(produce({"a", "b", "c"}).base_offset, 0);
  DeleteRecordsRequest request{.timeout_ms = 1000};
  auto& topic = request.topics.emplace_back();
  topic.name = kTopic.name;
  topic.partitions.push_back({.partition_index = 0, .offset = 2});
  const auto deleted = call<DeleteRecordsResponse>(request, 2).topics.at(0).partitions.at(0);
  EXPECT_EQ(deleted.error_code, 0);
  EXPECT_EQ(deleted.low_watermark, 2);
  EXPECT_EQ(fetch(1).error_code, wire(ErrorCode::offset_out_of_range));
  OffsetForLeaderEpochRequest epochs{.replica_id = -1};
  auto& asked = epochs.topics.emplace_back();
  asked.topic = kTopic.name;
  asked.partitions.push_back({.partition = 0, .current_leader_epoch = -1, .leader_epoch = 0});
  EXPECT_EQ(call<OffsetForLeaderEpochResponse>(epochs, 4).topics.at(0).partitions.at(0).end_offset, 3);
}

TEST_F(MemoryTopicsSim, ATopicThatSaysNothingTakesWhatTheBrokerHasWhenItIsMadeAndKeepsIt) {
  auto config = small_broker_config();
  config.mq_storage = "memory";
  start({}, std::move(config));
  EXPECT_EQ(produce({"a"}).base_offset, 0);
  DescribeConfigsRequest request;
  request.resources.push_back({.resource_type = 2, .resource_name = kTopic.name});
  const auto described = call<DescribeConfigsResponse>(request, 4);
  const auto& configs = described.results.at(0).configs;
  const auto storage = std::ranges::find_if(configs, [](const auto& one) { return one.name == "mq.storage"; });
  ASSERT_NE(storage, configs.end());
  EXPECT_EQ(storage->value, Text{"memory"});
  EXPECT_EQ(storage->config_source, 1) << "of the topic itself";
}

}  // namespace
}  // namespace weir::sim
