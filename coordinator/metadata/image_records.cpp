// records_of(): an image as records, for snapshots.
#include "coordinator/metadata/image_builder.hpp"
#include "protocol/gen/config_record.hpp"
#include "protocol/gen/feature_level_record.hpp"
#include "protocol/gen/partition_record.hpp"
#include "protocol/gen/producer_ids_record.hpp"
#include "protocol/gen/register_broker_record.hpp"
#include "protocol/gen/topic_record.hpp"

namespace weir::metadata {

namespace {
protocol::PartitionRecord record_of(const Uuid& topic_id, std::int32_t index, const PartitionState& state) {
  protocol::PartitionRecord record;
  record.partition_id = index;
  record.topic_id = topic_id;
  record.replicas = state.replicas;
  record.isr = state.isr;
  record.removing_replicas = state.removing;
  record.adding_replicas = state.adding;
  record.leader = state.leader;
  record.leader_recovery_state = state.leader_recovery_state;
  record.leader_epoch = state.leader_epoch.value;
  record.partition_epoch = state.partition_epoch;
  record.directories = state.directories;
  if (!state.eligible_leaders.empty()) {
    record.eligible_leader_replicas = state.eligible_leaders;
  }
  if (!state.last_known_leaders.empty()) {
    record.last_known_elr = state.last_known_leaders;
  }
  return record;
}
}  // namespace

void add_partition(RecordList& records, const Uuid& topic_id, std::int32_t index, const PartitionState& state) {
  const auto record = record_of(topic_id, index, state);
  records.add(record, record.eligible_leader_replicas || record.last_known_elr ? std::int16_t{2} : std::int16_t{1});
}

void add_broker(RecordList& records, const BrokerRegistration& broker) {
  protocol::RegisterBrokerRecord record;
  record.broker_id = broker.id;
  record.incarnation_id = broker.incarnation;
  record.broker_epoch = broker.epoch;
  for (const auto& endpoint : broker.endpoints) {
    record.end_points.push_back({.name = endpoint.listener,
                                 .host = endpoint.host,
                                 .port = endpoint.port,
                                 .security_protocol = endpoint.security_protocol,
                                 .unknown_tags = {}});
  }
  for (const auto& [name, range] : broker.features) {
    record.features.push_back(
        {.name = name, .min_supported_version = range.min, .max_supported_version = range.max, .unknown_tags = {}});
  }
  record.rack = broker.has_rack ? std::optional<protocol::Text>{broker.rack} : std::nullopt;
  record.fenced = broker.fenced;
  record.in_controlled_shutdown = broker.in_controlled_shutdown;
  record.log_dirs = broker.directories;
  records.add(record, 3);
}

RecordList records_of(const MetadataImage& image) {
  RecordList records;
  for (const auto& [name, level] : image.features()) {
    protocol::FeatureLevelRecord record;
    record.name = name;
    record.feature_level = level;
    records.add(record, 0);
  }
  for (const auto& [id, broker] : image.brokers()) {
    add_broker(records, broker);
  }
  image.for_each_topic([&](const Topic& topic) {
    protocol::TopicRecord record;
    record.name = topic.name;
    record.topic_id = topic.id;
    records.add(record, 0);
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      add_partition(records, topic.id, static_cast<std::int32_t>(i), topic.partitions[i]);
    }
  });
  image.for_each_override([&](const ConfigResource& resource, const std::string& name, const std::string& value) {
    protocol::ConfigRecord record;
    record.resource_type = static_cast<std::int8_t>(resource.type);
    record.resource_name = resource.name;
    record.name = name;
    record.value = value;
    records.add(record, 0);
  });
  if (image.next_producer_id() > 0) {
    protocol::ProducerIdsRecord record;
    record.broker_id = -1;  // who asked for the last block does not matter any more
    record.next_producer_id = image.next_producer_id();
    records.add(record, 0);
  }
  image.for_each_kept_record([&](Bytes frame) { records.add_frame(frame); });
  return records;
}

}  // namespace weir::metadata
