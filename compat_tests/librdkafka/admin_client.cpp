#include "librdkafka/admin_client.hpp"

#include <chrono>
#include <thread>

namespace compat {

namespace {

struct ListDelete {
  void operator()(rd_kafka_topic_partition_list_t* list) const { rd_kafka_topic_partition_list_destroy(list); }
};
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t, ListDelete>;

PartitionList one_partition(const std::string& topic, int partition, std::int64_t offset) {
  PartitionList list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = offset;
  return list;
}

// The count comes by reference: the call that makes `results` also fills it, in an order that C++ leaves open.
rd_kafka_resp_err_t only_topic(const rd_kafka_topic_result_t** results, const std::size_t& count) {
  if (count != 1) {
    throw Refused("an answer about " + std::to_string(count) + " topics");
  }
  return rd_kafka_topic_result_error(results[0]);
}

// The error of the group, else that of its one partition where the answer has one.
rd_kafka_resp_err_t only_group(const rd_kafka_group_result_t** results, const std::size_t& count) {
  if (count != 1) {
    throw Refused("an answer about " + std::to_string(count) + " groups");
  }
  if (const auto* error = rd_kafka_group_result_error(results[0])) {
    return rd_kafka_error_code(error);
  }
  const auto* parts = rd_kafka_group_result_partitions(results[0]);
  return parts == nullptr || parts->cnt == 0 ? RD_KAFKA_RESP_ERR_NO_ERROR : parts->elems[0].err;
}

}  // namespace

AdminClient::AdminClient() : client_(nullptr, &rd_kafka_destroy) {
  char error[512];
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", broker().c_str(), error, sizeof error);
  client_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error));
  if (!client_) {
    throw Refused(error);
  }
}

AdminClient::Event AdminClient::call(rd_kafka_admin_op_t operation, const Submit& submit) {
  const std::unique_ptr<rd_kafka_queue_t, decltype(&rd_kafka_queue_destroy)> queue(rd_kafka_queue_new(client_.get()),
                                                                                   &rd_kafka_queue_destroy);
  const std::unique_ptr<rd_kafka_AdminOptions_t, decltype(&rd_kafka_AdminOptions_destroy)> options(
      rd_kafka_AdminOptions_new(client_.get(), operation), &rd_kafka_AdminOptions_destroy);
  submit(client_.get(), options.get(), queue.get());
  Event event(rd_kafka_queue_poll(queue.get(), kWaitMs), &rd_kafka_event_destroy);
  if (!event) {
    throw Refused("no answer to an admin call");
  }
  if (rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw Refused(rd_kafka_event_error_string(event.get()));
  }
  return event;
}

rd_kafka_resp_err_t AdminClient::create_topic(const std::string& topic, int partitions, const Options& config) {
  char error[512];
  rd_kafka_NewTopic_t* asked = rd_kafka_NewTopic_new(topic.c_str(), partitions, 1, error, sizeof error);
  if (asked == nullptr) {
    throw Refused(error);
  }
  for (const auto& [name, text] : config) {
    rd_kafka_NewTopic_set_config(asked, name.c_str(), text.c_str());
  }
  const auto event = call(RD_KAFKA_ADMIN_OP_CREATETOPICS, [&](auto* client, auto* options, auto* queue) {
    rd_kafka_CreateTopics(client, &asked, 1, options, queue);
  });
  rd_kafka_NewTopic_destroy(asked);
  std::size_t count = 0;
  return only_topic(rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count),
                    count);
}

rd_kafka_resp_err_t AdminClient::delete_topic(const std::string& topic) {
  rd_kafka_DeleteTopic_t* asked = rd_kafka_DeleteTopic_new(topic.c_str());
  const auto event = call(RD_KAFKA_ADMIN_OP_DELETETOPICS, [&](auto* client, auto* options, auto* queue) {
    rd_kafka_DeleteTopics(client, &asked, 1, options, queue);
  });
  rd_kafka_DeleteTopic_destroy(asked);
  std::size_t count = 0;
  return only_topic(rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event.get()), &count),
                    count);
}

rd_kafka_resp_err_t AdminClient::create_partitions(const std::string& topic, int total) {
  char error[512];
  rd_kafka_NewPartitions_t* asked =
      rd_kafka_NewPartitions_new(topic.c_str(), static_cast<std::size_t>(total), error, sizeof error);
  if (asked == nullptr) {
    throw Refused(error);
  }
  const auto event = call(RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, [&](auto* client, auto* options, auto* queue) {
    rd_kafka_CreatePartitions(client, &asked, 1, options, queue);
  });
  rd_kafka_NewPartitions_destroy(asked);
  std::size_t count = 0;
  return only_topic(
      rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(event.get()), &count), count);
}

rd_kafka_resp_err_t AdminClient::alter_config(const std::string& topic, const Options& config) {
  rd_kafka_ConfigResource_t* asked = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str());
  for (const auto& [name, text] : config) {
    rd_kafka_ConfigResource_set_config(asked, name.c_str(), text.c_str());
  }
  const auto event = call(RD_KAFKA_ADMIN_OP_ALTERCONFIGS, [&](auto* client, auto* options, auto* queue) {
    rd_kafka_AlterConfigs(client, &asked, 1, options, queue);
  });
  rd_kafka_ConfigResource_destroy(asked);
  std::size_t count = 0;
  const auto* told = rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(event.get()), &count);
  return rd_kafka_ConfigResource_error(told[0]);
}

rd_kafka_resp_err_t AdminClient::delete_records(const std::string& topic, int partition, std::int64_t before) {
  const auto list = one_partition(topic, partition, before);
  rd_kafka_DeleteRecords_t* asked = rd_kafka_DeleteRecords_new(list.get());
  const auto event = call(RD_KAFKA_ADMIN_OP_DELETERECORDS, [&](auto* client, auto* options, auto* queue) {
    rd_kafka_DeleteRecords(client, &asked, 1, options, queue);
  });
  rd_kafka_DeleteRecords_destroy(asked);
  return rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event.get()))->elems[0].err;
}

rd_kafka_resp_err_t AdminClient::delete_group(const std::string& group) {
  rd_kafka_DeleteGroup_t* asked = rd_kafka_DeleteGroup_new(group.c_str());
  const auto event = call(RD_KAFKA_ADMIN_OP_DELETEGROUPS, [&](auto* client, auto* options, auto* queue) {
    rd_kafka_DeleteGroups(client, &asked, 1, options, queue);
  });
  rd_kafka_DeleteGroup_destroy(asked);
  std::size_t count = 0;
  return only_group(rd_kafka_DeleteGroups_result_groups(rd_kafka_event_DeleteGroups_result(event.get()), &count),
                    count);
}

rd_kafka_resp_err_t AdminClient::alter_group_offset(const std::string& group, const std::string& topic, int partition,
                                                    std::int64_t to) {
  const auto list = one_partition(topic, partition, to);
  auto* asked = rd_kafka_AlterConsumerGroupOffsets_new(group.c_str(), list.get());
  const auto event = call(RD_KAFKA_ADMIN_OP_ALTERCONSUMERGROUPOFFSETS, [&](auto* client, auto* options, auto* queue) {
    rd_kafka_AlterConsumerGroupOffsets(client, &asked, 1, options, queue);
  });
  rd_kafka_AlterConsumerGroupOffsets_destroy(asked);
  std::size_t count = 0;
  return only_group(rd_kafka_AlterConsumerGroupOffsets_result_groups(
                        rd_kafka_event_AlterConsumerGroupOffsets_result(event.get()), &count),
                    count);
}

rd_kafka_resp_err_t AdminClient::delete_group_offset(const std::string& group, const std::string& topic,
                                                     int partition) {
  const auto list = one_partition(topic, partition, RD_KAFKA_OFFSET_INVALID);
  auto* asked = rd_kafka_DeleteConsumerGroupOffsets_new(group.c_str(), list.get());
  const auto event = call(RD_KAFKA_ADMIN_OP_DELETECONSUMERGROUPOFFSETS, [&](auto* client, auto* options, auto* queue) {
    rd_kafka_DeleteConsumerGroupOffsets(client, &asked, 1, options, queue);
  });
  rd_kafka_DeleteConsumerGroupOffsets_destroy(asked);
  std::size_t count = 0;
  return only_group(rd_kafka_DeleteConsumerGroupOffsets_result_groups(
                        rd_kafka_event_DeleteConsumerGroupOffsets_result(event.get()), &count),
                    count);
}

std::map<std::string, AdminClient::ConfigValue> AdminClient::describe_config(const std::string& topic) {
  rd_kafka_ConfigResource_t* asked = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str());
  const auto event = call(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, [&](auto* client, auto* options, auto* queue) {
    rd_kafka_DescribeConfigs(client, &asked, 1, options, queue);
  });
  rd_kafka_ConfigResource_destroy(asked);
  std::size_t count = 0;
  const auto* told =
      rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event.get()), &count);
  if (rd_kafka_ConfigResource_error(told[0]) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw Refused(rd_kafka_err2name(rd_kafka_ConfigResource_error(told[0])));
  }
  const auto* entries = rd_kafka_ConfigResource_configs(told[0], &count);
  std::map<std::string, ConfigValue> values;
  for (std::size_t at = 0; at < count; ++at) {
    const char* text = rd_kafka_ConfigEntry_value(entries[at]);
    values[rd_kafka_ConfigEntry_name(entries[at])] = {text == nullptr ? "" : text,
                                                      rd_kafka_ConfigEntry_is_default(entries[at]) == 1};
  }
  return values;
}

std::set<std::string> AdminClient::list_groups() {
  const auto event = call(RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPS, [](auto* client, auto* options, auto* queue) {
    rd_kafka_ListConsumerGroups(client, options, queue);
  });
  std::size_t count = 0;
  const auto* told = rd_kafka_event_ListConsumerGroups_result(event.get());
  const auto** listings = rd_kafka_ListConsumerGroups_result_valid(told, &count);
  std::set<std::string> groups;
  for (std::size_t at = 0; at < count; ++at) {
    groups.insert(rd_kafka_ConsumerGroupListing_group_id(listings[at]));
  }
  return groups;
}

AdminClient::GroupState AdminClient::describe_group(const std::string& group) {
  const char* asked = group.c_str();
  const auto event = call(RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, [&](auto* client, auto* options, auto* queue) {
    rd_kafka_DescribeConsumerGroups(client, &asked, 1, options, queue);
  });
  std::size_t count = 0;
  const auto* result = rd_kafka_event_DescribeConsumerGroups_result(event.get());
  const auto* told = rd_kafka_DescribeConsumerGroups_result_groups(result, &count)[0];
  GroupState group_state{rd_kafka_ConsumerGroupDescription_state(told), {}};
  for (std::size_t at = 0; at < rd_kafka_ConsumerGroupDescription_member_count(told); ++at) {
    const auto* assignment = rd_kafka_MemberDescription_assignment(rd_kafka_ConsumerGroupDescription_member(told, at));
    const auto* parts = rd_kafka_MemberAssignment_partitions(assignment);
    group_state.partitions_of_members.push_back(static_cast<std::size_t>(parts->cnt));
  }
  return group_state;
}

std::map<int, std::int64_t> AdminClient::group_offsets(const std::string& group) {
  auto* asked = rd_kafka_ListConsumerGroupOffsets_new(group.c_str(), nullptr);
  const auto event = call(RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS, [&](auto* client, auto* options, auto* queue) {
    rd_kafka_ListConsumerGroupOffsets(client, &asked, 1, options, queue);
  });
  rd_kafka_ListConsumerGroupOffsets_destroy(asked);
  std::size_t count = 0;
  const auto* result = rd_kafka_event_ListConsumerGroupOffsets_result(event.get());
  const auto* parts =
      rd_kafka_group_result_partitions(rd_kafka_ListConsumerGroupOffsets_result_groups(result, &count)[0]);
  std::map<int, std::int64_t> offsets;
  for (int at = 0; at < parts->cnt; ++at) {
    offsets[parts->elems[at].partition] = parts->elems[at].offset;
  }
  return offsets;
}

int AdminClient::partitions(const std::string& topic) {
  const rd_kafka_metadata_t* told = nullptr;
  const auto code = rd_kafka_metadata(client_.get(), 1, nullptr, &told, kWaitMs);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw Refused(rd_kafka_err2str(code));
  }
  int found = 0;
  for (int at = 0; at < told->topic_cnt; ++at) {
    if (topic == told->topics[at].topic) {
      found = told->topics[at].partition_cnt;
    }
  }
  rd_kafka_metadata_destroy(told);
  return found;
}

void AdminClient::create_topic_and_wait(const std::string& topic, int partitions_wanted, const Options& config) {
  const auto code = create_topic(topic, partitions_wanted, config);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    throw Refused(topic + " not created: " + rd_kafka_err2name(code));
  }
  // Kafka's controller has answered, but its broker may learn of the topic a moment later.
  until(
      topic + " is told in the metadata", [&] { return partitions(topic) == partitions_wanted; },
      [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
}

}  // namespace compat
