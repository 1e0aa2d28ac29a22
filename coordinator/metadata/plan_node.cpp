// Plans about the node itself: producer id blocks, leader epochs, registration.
#include <limits>

#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/plan.hpp"
#include "protocol/gen/feature_level_record.hpp"
#include "protocol/gen/partition_change_record.hpp"
#include "protocol/gen/producer_ids_record.hpp"

namespace weir::metadata {
namespace {

constexpr std::string_view kMetadataVersion = "metadata.version";
// Levels of Kafka 4.4 (4.4-IV2). Other features are finalized when this broker can do what they promise.
constexpr FeatureRange kMetadataVersions{.min = 7, .max = 33};

BrokerRegistration wanted_registration(const PlanInput& in) {
  BrokerRegistration broker;
  broker.id = in.identity.node_id;
  broker.endpoints = in.settings.endpoints;
  broker.features[std::string{kMetadataVersion}] = kMetadataVersions;
  broker.rack = in.settings.rack;
  broker.has_rack = !in.settings.rack.empty();
  broker.directories = {in.identity.directory_id};
  return broker;
}

}  // namespace

Plan<Result<ProducerIdBlock>> plan_producer_ids(const PlanInput& in) {
  const auto first = in.image.next_producer_id();
  if (first > std::numeric_limits<std::int64_t>::max() - kProducerIdBlock) {
    return {.records = {}, .response = Error{Errc::out_of_range, first}};
  }
  Plan<Result<ProducerIdBlock>> plan{.records = {}, .response = ProducerIdBlock{first, kProducerIdBlock}};
  const auto broker = in.image.brokers().find(in.identity.node_id);
  protocol::ProducerIdsRecord record;
  record.broker_id = in.identity.node_id;
  record.broker_epoch = broker == in.image.brokers().end() ? -1 : broker->second.epoch;
  record.next_producer_id = first + kProducerIdBlock;
  plan.records.add(record, 0);
  return plan;
}

Result<RecordList> plan_leader_epochs(const PlanInput& in, std::span<const log::PartitionKey> partitions) {
  RecordList records;
  for (const auto& key : partitions) {
    const auto& topic = in.image.find_topic(key.topic_id);
    if (topic == nullptr || key.index < 0 || key.index >= std::ssize(topic->partitions)) {
      return Error{Errc::not_found, key.index};
    }
    protocol::PartitionChangeRecord record;
    record.topic_id = key.topic_id;
    record.partition_id = key.index;
    record.leader = in.identity.node_id;  // naming a leader, even the same one, begins a new epoch
    records.add(record, 1);
  }
  return records;
}

RecordList plan_registration(const PlanInput& in) {
  RecordList records;
  if (!in.image.features().contains(kMetadataVersion)) {
    protocol::FeatureLevelRecord record;
    record.name = kMetadataVersion;
    record.feature_level = kMetadataVersions.max;
    records.add(record, 0);
  }
  auto wanted = wanted_registration(in);
  const auto found = in.image.brokers().find(in.identity.node_id);
  if (found != in.image.brokers().end()) {
    wanted.epoch = found->second.epoch;
    wanted.incarnation = found->second.incarnation;
    if (found->second == wanted) {
      return records;  // a restart with the same facts writes nothing
    }
  }
  wanted.epoch = in.image.end_offset().value + static_cast<std::int64_t>(records.size());  // the record's own offset
  wanted.incarnation = in.random.uuid();
  add_broker(records, wanted);
  return records;
}

}  // namespace weir::metadata
