// Retention and flush.ms as clients see them, on the whole broker: what a change of configs answers within one check.
#include <gtest/gtest.h>

#include "protocol/errors.hpp"
#include "protocol/gen/fetch.hpp"
#include "protocol/gen/incremental_alter_configs.hpp"
#include "protocol/gen/list_offsets.hpp"
#include "protocol/gen/produce.hpp"
#include "protocol/record.hpp"
#include "sim/sim_producer.hpp"

namespace weir::sim {
namespace {
using namespace protocol;

const SimTopic kTopic{"quiet", 1};
constexpr Millis kCheckMs = 1'000;
constexpr std::int64_t kEarliest = -2;

class RetentionOfTheBroker : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { begin({{"mq.storage", GetParam()}}); }
  void begin(const std::map<std::string, std::string>& configs) {
    auto config = small_broker_config();
    config.log_retention_check_interval_ms = kCheckMs;
    world.emplace(5, WorldOptions{.config = std::move(config)});
    ASSERT_TRUE(world->start_broker()) << world->why();
    ASSERT_TRUE(create_topic(*world, kTopic, configs));
    connect();
  }
  void connect() {
    auto opened = world->connect();
    ASSERT_TRUE(opened);
    connection = *opened;
  }
  template <class Response, class Request>
  Response call(const Request& request, std::int16_t version) {
    auto answer = std::make_shared<std::optional<Response>>();
    connection->call_version<Request, Response>(request, version, [answer](Result<client::Answered<Response>> got) {
      ASSERT_TRUE(got) << to_string(got.error());
      *answer = std::move(got->response);
    });
    EXPECT_TRUE(world->run_until([&] { return answer->has_value(); }, World::kPatienceMs));
    return answer->value_or(Response{});
  }
  // One record in each batch.
  void produce(int count, Millis stamp, std::int16_t acks = -1) {
    for (int i = 0; i < count; ++i) {
      RecordBatchBuilder builder{};
      builder.append({.value = as_bytes(std::string_view{"value"}), .timestamp = stamp});
      ProduceRequest request{.acks = acks, .timeout_ms = 30'000};
      auto& topic = request.topic_data.emplace_back();
      topic.name = kTopic.name;
      topic.partition_data.push_back(
          {.index = 0, .records = BufferChain{SharedBytes::adopt(std::move(*builder.build()))}});
      ASSERT_EQ(call<ProduceResponse>(request, 12).responses.at(0).partition_responses.at(0).error_code, 0);
    }
  }
  void set(std::int8_t type, const std::string& resource_name, const std::string& name, const std::string& value) {
    IncrementalAlterConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = type;
    resource.resource_name = resource_name;
    resource.configs.push_back({.name = name, .config_operation = 0, .value = Text{value}, .unknown_tags = {}});
    ASSERT_EQ(call<IncrementalAlterConfigsResponse>(request, 1).responses.at(0).error_code, 0);
  }
  void set_topic(const std::string& name, const std::string& value) { set(2, kTopic.name, name, value); }
  std::int64_t earliest() {
    ListOffsetsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = kTopic.name;
    topic.partitions.push_back({.partition_index = 0, .timestamp = kEarliest});
    return call<ListOffsetsResponse>(request, 7).topics.at(0).partitions.at(0).offset;
  }
  int fetch_at(std::int64_t offset) {
    FetchRequest request{.max_wait_ms = 0, .min_bytes = 1, .max_bytes = 1 << 20, .session_epoch = -1};
    auto& topic = request.topics.emplace_back();
    topic.topic = kTopic.name;
    topic.partitions.push_back({.partition = 0, .fetch_offset = offset, .partition_max_bytes = 1 << 20});
    return call<FetchResponse>(request, 12).responses.at(0).partitions.at(0).error_code;
  }
  [[nodiscard]] Millis now() { return world->queue().clock().wall_ms(); }

  std::optional<World> world;
  std::shared_ptr<client::Connection> connection;
};

TEST_P(RetentionOfTheBroker, AQuietTopicForgetsWithinOneCheckOnceItMay) {
  produce(100, now());
  world->queue().run_for(20 * kCheckMs);
  EXPECT_EQ(earliest(), 0);
  set_topic("retention.ms", "60000");
  world->queue().run_for(2 * kCheckMs);
  EXPECT_EQ(earliest(), 0) << "20 seconds old";
  set_topic("retention.ms", "1000");
  world->queue().run_for(kCheckMs);
  EXPECT_EQ(earliest(), 100);
  EXPECT_EQ(fetch_at(0), wire(ErrorCode::offset_out_of_range));
  EXPECT_EQ(fetch_at(100), 0);
  produce(1, now());
  EXPECT_EQ(earliest(), 100);
  world->queue().run_for(1'000 + 1 + kCheckMs);
  EXPECT_EQ(earliest(), 101) << "and so again, without another change";
}

TEST_P(RetentionOfTheBroker, NothingAtAllIsKeptForLongerThanACheckIfNothingIsWanted) {
  set_topic("retention.ms", "0");
  produce(10, now());
  world->queue().run_for(1 + kCheckMs);
  EXPECT_EQ(earliest(), 10);
  EXPECT_EQ(fetch_at(9), wire(ErrorCode::offset_out_of_range));
}

TEST_P(RetentionOfTheBroker, RecordsWithoutAStampStayAsLongAsOthers) {
  produce(10, -1);
  world->queue().run_for(5 * kCheckMs);
  EXPECT_EQ(earliest(), 0);
  set_topic("retention.ms", "60000");
  world->queue().run_for(50'000);
  EXPECT_EQ(earliest(), 0);
  world->queue().run_for(5'000 + 1 + kCheckMs);
  EXPECT_EQ(earliest(), 10);
}

TEST_P(RetentionOfTheBroker, TheDefaultOfAllTopicsAndTheSizeActToo) {
  produce(10, now());
  world->queue().run_for(5 * kCheckMs);
  set(4, "", "log.retention.bytes", "1");
  world->queue().run_for(kCheckMs);
  EXPECT_EQ(earliest(), 9);
  set(4, "", "log.retention.ms", "1000");
  world->queue().run_for(kCheckMs);
  EXPECT_EQ(earliest(), 10);
}

INSTANTIATE_TEST_SUITE_P(LogAndMemory, RetentionOfTheBroker, testing::Values("log", "memory"),
                         [](const auto& storage) { return std::string{storage.param}; });

using FlushOfTheBroker = RetentionOfTheBroker;

TEST_P(FlushOfTheBroker, WhatIsOlderThanFlushMsSurvivesAPowerCut) {
  for (const bool by_topic : {true, false}) {
    begin({{"mq.flush", "async"}});
    if (by_topic) {
      set_topic("flush.ms", "500");
    } else {
      set(4, "1", "log.flush.interval.ms", "500");
    }
    produce(10, now(), 1);
    world->queue().run_for(500);
    world->crash(CrashMode::power_cut);
    ASSERT_TRUE(world->start_broker()) << world->why();
    std::string why;
    const auto left = read_all(*world, kTopic, 0, why);
    ASSERT_TRUE(left) << why;
    EXPECT_EQ(left->size(), 10U);
  }
}

INSTANTIATE_TEST_SUITE_P(Log, FlushOfTheBroker, testing::Values("log"));

}  // namespace
}  // namespace weir::sim
