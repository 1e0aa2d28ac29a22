// Shared by the tests with librdkafka: settings from the environment, clients, waiting, and the records that every
// client sends (the formulas of harness/records.py). The test thread owns everything here.
#pragma once

#include <librdkafka/rdkafkacpp.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace compat {

inline constexpr int kPartitions = 6;
inline constexpr int kWaitMs = 60'000;

using Option = std::pair<std::string, std::string>;
using Options = std::vector<Option>;

// What a helper throws when the client or the broker refuses; GoogleTest shows the text.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string environment(const char* name);
std::int64_t environment_number(const char* name);
std::string broker();

// Repeats `work` until the condition holds; throws with the sentence when it does not within kWaitMs.
void until(std::string_view sentence, const std::function<bool()>& condition, const std::function<void()>& work);

struct Delivery {
  std::int32_t partition;
  std::int64_t offset;
  std::int64_t id;
};
// One line of an acks or reads file of the harness: `partition offset id`.
std::string line(const Delivery& delivery);

// Collects the delivery reports of one producer. It is called from inside librdkafka, so it never throws.
class Deliveries : public RdKafka::DeliveryReportCb {
 public:
  std::vector<Delivery> all;
  std::vector<std::string> failed;  // what the client said of each record that it gave up
  std::function<void(const Delivery&)> on_each = [](const Delivery&) {};
  void dr_cb(RdKafka::Message& message) override;

 private:
  static std::int64_t id_of(const RdKafka::Message& message);
};

std::unique_ptr<RdKafka::Producer> make_producer(const Options& options, Deliveries* deliveries);
std::unique_ptr<RdKafka::KafkaConsumer> make_consumer(const Options& options,
                                                      RdKafka::RebalanceCb* rebalance = nullptr);

// A record as it is sent. The delivery report carries the id back.
struct Record {
  std::string topic;
  std::int32_t partition = RdKafka::Topic::PARTITION_UA;
  std::optional<std::string> key;
  std::optional<std::string> value;
  RdKafka::Headers* headers = nullptr;  // taken over when the send is accepted
  std::int64_t id = 0;
};
// Waits while the queue of the producer is full.
void send(RdKafka::Producer& producer, const Record& record);
void flush(RdKafka::Producer& producer);

std::optional<std::string> key_of(std::int64_t id);
std::string value_of(std::int64_t id);
Record standard_record(const std::string& topic, std::int64_t id, const std::string& codec);
// The id of a record whose key, value and headers are those that this id must have; throws when they are not.
std::int64_t check_content(RdKafka::Message& message, const std::string& codec);

std::optional<std::string> key(const RdKafka::Message& message);
std::optional<std::string> value(const RdKafka::Message& message);

// Every record of the topic from its start to the ends seen at the beginning.
void read_all(const std::string& topic, int partitions, const std::function<void(RdKafka::Message&)>& each);

}  // namespace compat
