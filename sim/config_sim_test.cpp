// Configs that are set while the broker runs: they act at once, and a crash does not take them away.
#include <gtest/gtest.h>

#include "base/logging.hpp"
#include "protocol/errors.hpp"
#include "protocol/gen/delete_records.hpp"
#include "protocol/gen/describe_configs.hpp"
#include "protocol/gen/incremental_alter_configs.hpp"
#include "protocol/gen/produce.hpp"
#include "protocol/record.hpp"
#include "sim/sim_producer.hpp"

namespace weir::sim {
namespace {
using namespace protocol;

const SimTopic kTopic{"orders", 1};
constexpr std::int8_t kTopicConfigs = 2;
constexpr std::int8_t kBrokerConfigs = 4;
constexpr std::int8_t kLoggerConfigs = 8;

class ConfigSim : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(world.start_broker()) << world.why();
    ASSERT_TRUE(create_topic(world, kTopic));
    connect();
  }
  void connect() {
    auto opened = world.connect();
    ASSERT_TRUE(opened);
    connection = *opened;
  }
  void crash_and_restart() {
    world.crash(CrashMode::power_cut);
    ASSERT_TRUE(world.start_broker()) << world.why();
    connect();
  }
  // nullopt for `value` deletes it.
  int set(std::int8_t type, const std::string& resource_name, const std::string& name,
          const std::optional<std::string>& value, bool validate_only = false) {
    IncrementalAlterConfigsRequest request;
    request.validate_only = validate_only;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = type;
    resource.resource_name = resource_name;
    resource.configs.push_back({.name = name,
                                .config_operation = static_cast<std::int8_t>(value ? 0 : 1),
                                .value = value ? std::optional<Text>{*value} : std::nullopt,
                                .unknown_tags = {}});
    const auto answer =
        world.call<IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse>(*connection, request);
    return answer ? answer->response.responses.at(0).error_code : -7;
  }
  std::string described(std::int8_t type, const std::string& resource_name, const std::string& name) {
    DescribeConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = type;
    resource.resource_name = resource_name;
    resource.configuration_keys.emplace().emplace_back(name);
    const auto answer = world.call<DescribeConfigsRequest, DescribeConfigsResponse>(*connection, request);
    if (!answer || answer->response.results.at(0).configs.size() != 1) {
      return "absent";
    }
    const auto& config = answer->response.results[0].configs[0];
    return (config.value ? config.value->str() : "null") + " from " + std::to_string(config.config_source);
  }
  int produce(std::size_t size_bytes) { return produce(kTopic.name, BatchOptions{}, size_bytes); }
  int produce_as(const std::string& topic_name, std::int32_t sequence) {
    return produce(topic_name, {.producer_id = 9, .producer_epoch = 0, .base_sequence = sequence}, 10);
  }
  int produce(const std::string& topic_name, const BatchOptions& options, std::size_t size_bytes) {
    const std::string value(size_bytes, 'x');
    RecordBatchBuilder builder{options};
    builder.append({.value = as_bytes(std::string_view{value}), .timestamp = 1'700'000'000'000});
    ProduceRequest request{.acks = -1, .timeout_ms = 30'000};
    auto& topic = request.topic_data.emplace_back();
    topic.name = topic_name;
    topic.partition_data.push_back(
        {.index = 0, .records = BufferChain{SharedBytes::adopt(std::move(*builder.build()))}});
    auto answer = std::make_shared<std::optional<Result<client::Answered<ProduceResponse>>>>();
    connection->call_version<ProduceRequest, ProduceResponse>(
        request, 12, [answer](Result<client::Answered<ProduceResponse>> got) { *answer = std::move(got); });
    world.run_until([&] { return answer->has_value(); }, World::kPatienceMs);
    return answer->has_value() && **answer ? (**answer)->response.responses.at(0).partition_responses.at(0).error_code
                                           : -7;
  }

  // The error and the new log start.
  std::pair<int, std::int64_t> delete_records(const std::string& topic_name, std::int64_t offset,
                                              std::int32_t timeout_ms = 30'000) {
    DeleteRecordsRequest request{.timeout_ms = timeout_ms};
    auto& topic = request.topics.emplace_back();
    topic.name = topic_name;
    topic.partitions.push_back({.partition_index = 0, .offset = offset});
    const auto answer = world.call<DeleteRecordsRequest, DeleteRecordsResponse>(*connection, request);
    if (!answer) {
      return {-7, -7};
    }
    const auto& part = answer->response.topics.at(0).partitions.at(0);
    return {part.error_code, part.low_watermark};
  }
  void let_pass(Millis time_ms) {
    world.run_until([] { return false; }, time_ms);
    connect();
  }

  World world{11};
  std::shared_ptr<client::Connection> connection;
};

TEST_F(ConfigSim, ADefaultOfAllTopicsActsAtOnceAndSurvivesACrash) {
  EXPECT_EQ(produce(2000), 0);
  EXPECT_EQ(set(kBrokerConfigs, "", "message.max.bytes", "1000", true), 0);
  EXPECT_EQ(produce(2000), 0) << "only asked whether it might";
  EXPECT_EQ(set(kBrokerConfigs, "", "message.max.bytes", "1000"), 0);
  EXPECT_EQ(produce(2000), wire(ErrorCode::message_too_large));
  EXPECT_EQ(described(kTopicConfigs, kTopic.name, "max.message.bytes"), "1000 from 3");
  crash_and_restart();
  EXPECT_EQ(produce(2000), wire(ErrorCode::message_too_large));
  EXPECT_EQ(described(kBrokerConfigs, "1", "message.max.bytes"), "1000 from 3");
  EXPECT_EQ(set(kBrokerConfigs, "1", "message.max.bytes", "3000"), 0) << "this broker's own wins";
  EXPECT_EQ(produce(2000), 0);
  EXPECT_EQ(set(kTopicConfigs, kTopic.name, "max.message.bytes", "1500"), 0) << "the topic's own wins over both";
  EXPECT_EQ(produce(2000), wire(ErrorCode::message_too_large));
  EXPECT_EQ(set(kTopicConfigs, kTopic.name, "max.message.bytes", std::nullopt), 0);
  EXPECT_EQ(set(kBrokerConfigs, "1", "message.max.bytes", std::nullopt), 0);
  EXPECT_EQ(set(kBrokerConfigs, "", "message.max.bytes", std::nullopt), 0);
  EXPECT_EQ(produce(2000), 0);
  EXPECT_EQ(described(kBrokerConfigs, "1", "message.max.bytes"), "1048588 from 5");
}

TEST_F(ConfigSim, RetentionOfAllTopicsReachesTheLog) {
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(produce(600'000), 0);
  }
  const auto id = world.broker().services().controller.image()->find_topic(std::string_view{kTopic.name})->id;
  const auto partition = world.broker().services().log.find({id, 0});
  constexpr Millis kLongerThanTheCheck = 400'000;
  const auto begins_later = [&] { return partition->log_start() > Offset{0}; };
  EXPECT_EQ(set(kBrokerConfigs, "", "log.retention.ms", "-1"), 0);
  EXPECT_FALSE(world.run_until(begins_later, kLongerThanTheCheck));
  connect();
  EXPECT_EQ(set(kBrokerConfigs, "", "log.retention.bytes", "1"), 0);
  EXPECT_TRUE(world.run_until(begins_later, kLongerThanTheCheck));
}

// Kafka's recorded answers: compat_tests/probes, "delete_records".
TEST_F(ConfigSim, RecordsAreDeletedByRequestUnlessATopicIsCompactedAndNotDeleted) {
  constexpr int kPolicy = static_cast<int>(ErrorCode::policy_violation);
  const std::vector<std::tuple<std::string, std::string, int>> all{
      {"kept", "", 0}, {"both", "compact,delete", 0}, {"old", "delete", 0}, {"compacted", "compact", kPolicy}};
  for (const auto& [name, policy, error] : all) {
    ASSERT_TRUE(create_topic(world, {name, 1}, {{"cleanup.policy", policy}}));
    ASSERT_EQ(produce(name, BatchOptions{}, 10), policy.starts_with("compact") ? 87 : 0) << "a record without a key";
    const std::int64_t end = policy.starts_with("compact") ? 0 : 1;
    EXPECT_EQ(delete_records(name, end), (std::pair<int, std::int64_t>{error, error == 0 ? end : -1})) << name;
  }
  EXPECT_EQ(set(kTopicConfigs, "compacted", "cleanup.policy", ""), 0);
  EXPECT_EQ(delete_records("compacted", 0).first, 0) << "changed while it runs";
  EXPECT_EQ(produce("compacted", BatchOptions{}, 10), 0);
  EXPECT_EQ(set(kBrokerConfigs, "", "log.cleanup.policy", "compact"), 0);
  EXPECT_EQ(delete_records(kTopic.name, 0).first, kPolicy) << "inherited";
}

TEST_F(ConfigSim, ADeletionOfRecordsThatIsNotDurableInTimeIsAnsweredAndMayStillComeTrue) {
  constexpr int kTimedOut = static_cast<int>(ErrorCode::request_timed_out);
  ASSERT_EQ(produce(kTopic.name, BatchOptions{}, 10), 0);
  EXPECT_EQ(delete_records(kTopic.name, 0, 0).first, 0) << "a sync is not what a client's timeout is for";
  world.disk().set_fault_hook([](auto what, const auto& path) -> std::optional<Error> {
    const bool is_hit = what == DiskOperation::write && path.ends_with(".log");
    return is_hit ? std::optional{Error{Errc::disk_full}} : std::nullopt;
  });
  EXPECT_EQ(delete_records(kTopic.name, 1, 7'000), (std::pair<int, std::int64_t>{kTimedOut, -1}));
  world.disk().set_fault_hook({});
  EXPECT_TRUE(world.run_until([&] { return delete_records(kTopic.name, -1) == std::pair<int, std::int64_t>{0, 1}; },
                              World::kPatienceMs));
}

TEST_F(ConfigSim, AnIdleProducerIsForgottenAtTheNextCheckAndWhenTheLogOpens) {
  constexpr int kOutOfSequence = static_cast<int>(ErrorCode::out_of_order_sequence_number);
  const std::string memory = "memory";
  ASSERT_TRUE(create_topic(world, {memory, 1}, {{"mq.storage", "memory"}}));
  for (const auto& name : {kTopic.name, memory}) {
    EXPECT_EQ(produce_as(name, 0), 0);
    EXPECT_EQ(produce_as(name, 9), kOutOfSequence);
  }
  EXPECT_EQ(set(kBrokerConfigs, "", "producer.id.expiration.ms", "2000"), 0);
  let_pass(300'000);
  EXPECT_EQ(produce_as(kTopic.name, 9), kOutOfSequence) << "nobody has looked yet";
  let_pass(400'000);  // producer.id.expiration.check.interval.ms is 600 s
  for (const auto& name : {kTopic.name, memory}) {
    EXPECT_EQ(produce_as(name, 9), 0) << name;
    EXPECT_EQ(produce_as(name, 9), 0) << name << ": known again, a duplicate";
    EXPECT_EQ(produce_as(name, 20), kOutOfSequence) << name;
  }
  let_pass(10'000);
  crash_and_restart();
  let_pass(1);
  EXPECT_EQ(produce_as(kTopic.name, 20), 0) << "its last append was longer ago";
}

TEST_F(ConfigSim, TheBoundOfConnectionsMovesWhileTheBrokerRuns) {
  EXPECT_EQ(set(kBrokerConfigs, "1", "max.connections", "1"), 0);
  const auto refused = world.connect();
  ASSERT_TRUE(!refused || world.run_until([&] { return (*refused)->closed(); }, 1000));
  EXPECT_EQ(set(kBrokerConfigs, "1", "max.connections", "2"), 0);
  const auto accepted = world.connect();
  ASSERT_TRUE(accepted);
  EXPECT_FALSE(world.run_until([&] { return (*accepted)->closed(); }, 1000));
}

TEST_F(ConfigSim, TheLevelOfTheLogIsALogger) {
  const auto before = log_level();
  EXPECT_EQ(set(kLoggerConfigs, "1", "root", "ERROR"), 0);
  EXPECT_EQ(described(kLoggerConfigs, "1", "root"), "ERROR from 6");
  EXPECT_EQ(log_level(), LogLevel::error);
  set_log_level(before);
}

}  // namespace
}  // namespace weir::sim
