// The admin calls on topics, configs and records. Those on groups need members and stand in group_test.cpp.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "librdkafka/admin_client.hpp"
#include "librdkafka/support.hpp"

namespace compat {

namespace {

void pause() {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}  // a poll, bounded by until()

TEST(Admin, CreatesGrowsAndDeletesTopicsAndRefusesWhatIsWrong) {
  AdminClient admin;
  const std::string topic = "admin-topic";
  admin.create_topic_and_wait(topic, 3, {{"retention.ms", "86400000"}});
  EXPECT_EQ(admin.create_topic(topic, 3), RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS);
  EXPECT_EQ(admin.create_topic("no/slash", 1), RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION);
  EXPECT_EQ(admin.create_topic("odd", 1, {{"no.such.key", "1"}}), RD_KAFKA_RESP_ERR_INVALID_CONFIG);
  EXPECT_EQ(admin.create_partitions(topic, 5), RD_KAFKA_RESP_ERR_NO_ERROR);
  until("the topic has 5 partitions", [&] { return admin.partitions(topic) == 5; }, pause);
  EXPECT_EQ(admin.create_partitions(topic, 5), RD_KAFKA_RESP_ERR_INVALID_PARTITIONS);
  EXPECT_EQ(admin.delete_topic(topic), RD_KAFKA_RESP_ERR_NO_ERROR);
  until("the topic is gone", [&] { return admin.partitions(topic) == 0; }, pause);
  EXPECT_EQ(admin.delete_topic(topic), RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
}

TEST(Admin, AlterConfigsReplacesAllThatWasSetOnATopic) {
  AdminClient admin;
  admin.create_topic_and_wait("configured", 1, {{"retention.ms", "86400000"}});
  using Value = AdminClient::ConfigValue;
  auto told = admin.describe_config("configured");
  EXPECT_EQ(told.at("retention.ms"), (Value{"86400000", false}));
  EXPECT_EQ(told.at("cleanup.policy"), (Value{"delete", true}));
  EXPECT_EQ(admin.alter_config("configured", {{"max.message.bytes", "2000000"}}), RD_KAFKA_RESP_ERR_NO_ERROR);
  until(
      "the new value is told",
      [&] { return admin.describe_config("configured").at("max.message.bytes").text == "2000000"; }, pause);
  told = admin.describe_config("configured");
  EXPECT_EQ(told.at("retention.ms"), (Value{"604800000", true})) << "a key that was not named goes back to its default";
  EXPECT_EQ(admin.alter_config("configured", {{"max.message.bytes", "a lot"}}), RD_KAFKA_RESP_ERR_INVALID_CONFIG);
}

TEST(Admin, DeleteRecordsMovesTheStartOfOnePartition) {
  AdminClient admin;
  const std::string topic = "trimmed";
  admin.create_topic_and_wait(topic, 2);
  const auto producer = make_producer({{"enable.idempotence", "true"}}, nullptr);
  for (int number = 0; number < 200; ++number) {
    send(*producer, {.topic = topic, .partition = number % 2, .value = "x"});
  }
  flush(*producer);
  EXPECT_EQ(admin.delete_records(topic, 0, 40), RD_KAFKA_RESP_ERR_NO_ERROR);
  EXPECT_EQ(admin.delete_records(topic, 0, 101), RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE);
  using Bounds = std::pair<std::int64_t, std::int64_t>;
  const auto bounds = [&](std::int32_t partition) {
    Bounds found{-1, -1};
    EXPECT_EQ(producer->query_watermark_offsets(topic, partition, &found.first, &found.second, kWaitMs),
              RdKafka::ERR_NO_ERROR);
    return found;
  };
  EXPECT_EQ(bounds(0), (Bounds{40, 100}));
  EXPECT_EQ(bounds(1), (Bounds{0, 100})) << "another partition";
}

TEST(Offsets, AreFoundByTime) {
  AdminClient().create_topic_and_wait("timed", 1);
  const auto producer = make_producer({{"enable.idempotence", "true"}}, nullptr);
  for (int number = 0; number < 10; ++number) {
    send(*producer, {.topic = "timed", .value = "x"});
  }
  flush(*producer);
  const auto offset_at = [&](std::int64_t time_ms) {
    const std::unique_ptr<RdKafka::TopicPartition> part(RdKafka::TopicPartition::create("timed", 0, time_ms));
    std::vector<RdKafka::TopicPartition*> asked{part.get()};
    EXPECT_EQ(producer->offsetsForTimes(asked, kWaitMs), RdKafka::ERR_NO_ERROR);
    return part->offset();
  };
  EXPECT_EQ(offset_at(1), 0) << "before all";
  EXPECT_EQ(offset_at(4'000'000'000'000), RdKafka::Topic::OFFSET_END) << "after all";
}

}  // namespace

}  // namespace compat
