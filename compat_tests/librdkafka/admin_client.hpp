// The admin calls of librdkafka's C interface (the C++ one has none), each as one blocking call that throws Refused.
// One client per object; the test thread owns it.
#pragma once

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "librdkafka/support.hpp"

namespace compat {

class AdminClient {
 public:
  AdminClient();

  // Each answers the error code of the one thing it was asked about; RD_KAFKA_RESP_ERR_NO_ERROR is done.
  rd_kafka_resp_err_t create_topic(const std::string& topic, int partitions, const Options& config = {});
  rd_kafka_resp_err_t delete_topic(const std::string& topic);
  rd_kafka_resp_err_t create_partitions(const std::string& topic, int total);
  rd_kafka_resp_err_t alter_config(const std::string& topic, const Options& config);
  rd_kafka_resp_err_t delete_records(const std::string& topic, int partition, std::int64_t before);
  rd_kafka_resp_err_t delete_group(const std::string& group);
  rd_kafka_resp_err_t alter_group_offset(const std::string& group, const std::string& topic, int partition,
                                         std::int64_t to);
  rd_kafka_resp_err_t delete_group_offset(const std::string& group, const std::string& topic, int partition);

  struct ConfigValue {
    std::string text;
    bool is_default;
    bool operator==(const ConfigValue&) const = default;
  };
  std::map<std::string, ConfigValue> describe_config(const std::string& topic);
  std::set<std::string> list_groups();
  struct GroupState {
    rd_kafka_consumer_group_state_t state;
    std::vector<std::size_t> partitions_of_members;
  };
  GroupState describe_group(const std::string& group);
  std::map<int, std::int64_t> group_offsets(const std::string& group);
  int partitions(const std::string& topic);  // 0 when there is no such topic

  // Creates, and waits until the broker tells it in its metadata.
  void create_topic_and_wait(const std::string& topic, int partitions = kPartitions, const Options& config = {});

 private:
  using Event = std::unique_ptr<rd_kafka_event_t, decltype(&rd_kafka_event_destroy)>;
  using Submit = std::function<void(rd_kafka_t*, rd_kafka_AdminOptions_t*, rd_kafka_queue_t*)>;
  Event call(rd_kafka_admin_op_t operation, const Submit& submit);

  std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> client_;
};

}  // namespace compat
