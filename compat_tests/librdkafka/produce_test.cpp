// Metadata, and the records with each codec: content is compared here, the order by the checker of the harness.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "librdkafka/admin_client.hpp"
#include "librdkafka/support.hpp"

namespace compat {

namespace {

TEST(Metadata, NamesOneBrokerAtTheAddressWeUsedAndItLeadsEveryPartition) {
  AdminClient admin;
  admin.create_topic_and_wait("metadata", 3);
  const auto producer = make_producer({}, nullptr);
  RdKafka::Metadata* raw = nullptr;
  ASSERT_EQ(producer->metadata(true, nullptr, &raw, kWaitMs), RdKafka::ERR_NO_ERROR);
  const std::unique_ptr<RdKafka::Metadata> told(raw);
  ASSERT_EQ(told->brokers()->size(), 1U);
  const auto* node = told->brokers()->front();
  EXPECT_EQ(node->host() + ":" + std::to_string(node->port()), broker());
  EXPECT_FALSE(producer->clusterid(kWaitMs).empty());
  for (const auto* topic : *told->topics()) {
    if (topic->topic() != "metadata") {
      continue;
    }
    ASSERT_EQ(topic->partitions()->size(), 3U);
    for (const auto* partition : *topic->partitions()) {
      EXPECT_EQ(partition->leader(), node->id());
    }
    return;
  }
  FAIL() << "the topic is not in the metadata";
}

void send_and_read_back(const std::string& codec) {
  const auto topic = "codec-" + codec;
  const auto count = environment_number("WEIR_COUNT");
  const auto folder = environment("WEIR_OUT");
  AdminClient().create_topic_and_wait(topic);
  Deliveries deliveries;
  const auto producer =
      make_producer({{"enable.idempotence", "true"}, {"compression.codec", codec}, {"linger.ms", "5"}}, &deliveries);
  for (std::int64_t id = 0; id < count; ++id) {
    send(*producer, standard_record(topic, id, codec));
  }
  flush(*producer);
  EXPECT_EQ(deliveries.failed, std::vector<std::string>{});
  std::ofstream acks(folder + "/acks-" + topic + ".txt");
  for (const auto& delivery : deliveries.all) {
    acks << line(delivery);
  }
  std::ofstream reads(folder + "/reads-" + topic + ".txt");
  std::map<std::string, std::int32_t> partition_of_key;
  std::set<std::int32_t> used;
  read_all(topic, kPartitions, [&](RdKafka::Message& message) {
    reads << line({message.partition(), message.offset(), check_content(message, codec)});
    used.insert(message.partition());
    if (const auto found = key(message)) {
      ASSERT_EQ(partition_of_key.try_emplace(*found, message.partition()).first->second, message.partition()) << *found;
    }
  });
  EXPECT_EQ(used.size(), static_cast<std::size_t>(kPartitions)) << "the keys do not reach all partitions";
}

TEST(Records, ComeBackAsTheyWereSentWithoutACodec) {
  send_and_read_back("none");
}
TEST(Records, ComeBackAsTheyWereSentWithGzip) {
  send_and_read_back("gzip");
}
TEST(Records, ComeBackAsTheyWereSentWithSnappy) {
  send_and_read_back("snappy");
}
TEST(Records, ComeBackAsTheyWereSentWithLz4) {
  send_and_read_back("lz4");
}
TEST(Records, ComeBackAsTheyWereSentWithZstd) {
  send_and_read_back("zstd");
}

TEST(Records, KeepNullApartFromEmpty) {
  AdminClient().create_topic_and_wait("nulls", 1);
  const auto producer = make_producer({{"enable.idempotence", "true"}}, nullptr);
  using Pair = std::pair<std::optional<std::string>, std::optional<std::string>>;
  const std::vector<Pair> sent{{"key", std::nullopt}, {"key", ""}, {"", "value"}, {std::nullopt, "value"}};
  for (const auto& [sent_key, sent_value] : sent) {
    send(*producer, {.topic = "nulls", .key = sent_key, .value = sent_value});
  }
  flush(*producer);
  std::vector<Pair> read;
  read_all("nulls", 1, [&](RdKafka::Message& message) { read.emplace_back(key(message), value(message)); });
  EXPECT_EQ(read, sent);
}

void send_plainly(const std::string& acks) {
  const auto topic = "acks-" + acks;
  AdminClient().create_topic_and_wait(topic, 1);
  const auto producer = make_producer({{"acks", acks}}, nullptr);
  for (int number = 0; number < 500; ++number) {
    send(*producer, {.topic = topic, .value = std::to_string(number)});
  }
  flush(*producer);
  std::vector<int> read;
  // With acks=0 the client is done when the bytes are in its socket; the broker may still be reading them.
  until(
      "all 500 are there", [&] { return read.size() == 500; },
      [&] {
        read.clear();
        read_all(topic, 1, [&](RdKafka::Message& message) { read.push_back(std::stoi(value(message).value())); });
      });
  for (int number = 0; number < 500; ++number) {
    ASSERT_EQ(read[static_cast<std::size_t>(number)], number);
  }
}

TEST(Records, AllArriveInOrderWithAcksOneAndNoIdempotence) {
  send_plainly("1");
}
TEST(Records, AllArriveInOrderWithAcksZero) {
  send_plainly("0");
}

}  // namespace

}  // namespace compat
