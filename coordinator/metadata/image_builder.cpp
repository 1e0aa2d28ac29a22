#include "coordinator/metadata/image_builder.hpp"

#include "coordinator/metadata/kept_records.hpp"
#include "protocol/gen/abort_transaction_record.hpp"
#include "protocol/gen/begin_transaction_record.hpp"
#include "protocol/gen/broker_registration_change_record.hpp"
#include "protocol/gen/clear_elr_record.hpp"
#include "protocol/gen/config_record.hpp"
#include "protocol/gen/end_transaction_record.hpp"
#include "protocol/gen/feature_level_record.hpp"
#include "protocol/gen/fence_broker_record.hpp"
#include "protocol/gen/partition_change_record.hpp"
#include "protocol/gen/partition_record.hpp"
#include "protocol/gen/producer_ids_record.hpp"
#include "protocol/gen/register_broker_record.hpp"
#include "protocol/gen/remove_topic_record.hpp"
#include "protocol/gen/topic_record.hpp"
#include "protocol/gen/unfence_broker_record.hpp"
#include "protocol/gen/unregister_broker_record.hpp"

namespace weir::metadata {
namespace {

constexpr std::int32_t kLeaderUnchanged = -2;
constexpr std::int8_t kRecoveryStateUnchanged = -1;

std::shared_ptr<const ConfigOverrides> no_overrides() {
  static const auto none = std::make_shared<const ConfigOverrides>();
  return none;
}

bool can_collide(std::string_view name) {
  return name.find_first_of("._") != std::string_view::npos;
}

}  // namespace

ImageBuilder::ImageBuilder(const MetadataImage& base)
    : image_(base),
      by_name_(base.by_name_),
      by_id_(base.by_id_),
      by_collision_key_(base.by_collision_key_),
      configs_(base.configs_),
      kept_(base.kept_) {}

Result<void> ImageBuilder::apply(Offset offset, Bytes frame) {
  WEIR_TRY(const auto parsed, parse_frame(frame));
  image_.end_offset_ = offset + 1;
  switch (parsed.kind) {
    case protocol::BeginTransactionRecord::kApiKey:
      WEIR_TRY_VOID(decode_record<protocol::BeginTransactionRecord>(parsed));
      if (in_transaction_) {
        return Error{Errc::corrupt, offset.value};
      }
      in_transaction_ = true;
      return {};
    case protocol::EndTransactionRecord::kApiKey:
      WEIR_TRY_VOID(decode_record<protocol::EndTransactionRecord>(parsed));
      return end_transaction(true);
    case protocol::AbortTransactionRecord::kApiKey:
      WEIR_TRY_VOID(decode_record<protocol::AbortTransactionRecord>(parsed));
      return end_transaction(false);
    default: break;
  }
  if (in_transaction_) {
    pending_.push_back({offset, {frame.begin(), frame.end()}});
    return {};
  }
  return apply_frame(offset, parsed, frame);
}

Result<void> ImageBuilder::apply_all(Offset first, const RecordList& records) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    WEIR_TRY_VOID(apply(first + static_cast<std::int64_t>(i), records[i]));
  }
  return {};
}

Result<void> ImageBuilder::end_transaction(bool keep) {
  if (!in_transaction_) {
    return Error{Errc::corrupt, image_.end_offset_.value};
  }
  in_transaction_ = false;
  const auto pending = std::exchange(pending_, {});
  if (keep) {
    for (const auto& record : pending) {
      WEIR_TRY(const auto parsed, parse_frame(record.frame));
      WEIR_TRY_VOID(apply_frame(record.offset, parsed, record.frame));
    }
  }
  return {};
}

template <class M>
Result<void> ImageBuilder::apply_as(const RecordFrame& frame) {
  WEIR_TRY(const auto record, decode_record<M>(frame));
  return on(record);
}

Result<void> ImageBuilder::apply_frame(Offset offset, const RecordFrame& frame, Bytes whole) {
  using namespace protocol;
  switch (frame.kind) {
    case TopicRecord::kApiKey: return apply_as<TopicRecord>(frame);
    case PartitionRecord::kApiKey: return apply_as<PartitionRecord>(frame);
    case PartitionChangeRecord::kApiKey: return apply_as<PartitionChangeRecord>(frame);
    case RemoveTopicRecord::kApiKey: return apply_as<RemoveTopicRecord>(frame);
    case ClearElrRecord::kApiKey: return apply_as<ClearElrRecord>(frame);
    case ConfigRecord::kApiKey: return apply_as<ConfigRecord>(frame);
    case FeatureLevelRecord::kApiKey: return apply_as<FeatureLevelRecord>(frame);
    case ProducerIdsRecord::kApiKey: return apply_as<ProducerIdsRecord>(frame);
    case RegisterBrokerRecord::kApiKey: return apply_as<RegisterBrokerRecord>(frame);
    case UnregisterBrokerRecord::kApiKey: return apply_as<UnregisterBrokerRecord>(frame);
    case FenceBrokerRecord::kApiKey: return apply_as<FenceBrokerRecord>(frame);
    case UnfenceBrokerRecord::kApiKey: return apply_as<UnfenceBrokerRecord>(frame);
    case BrokerRegistrationChangeRecord::kApiKey: return apply_as<BrokerRegistrationChangeRecord>(frame);
    default: break;
  }
  const auto kept = classify_kept(frame);
  if (!kept) {
    return Error{kept.error().code, kept.error().code == Errc::unsupported ? kept.error().detail : offset.value};
  }
  if (kept->erase) {
    kept_.erase(kept->key);
  } else if (!kept->key.empty()) {
    kept_.set(kept->key, std::make_shared<const std::vector<std::byte>>(whole.begin(), whole.end()));
  }
  return {};
}

// --- topics ---------------------------------------------------------------------------------------------------------

Topic* ImageBuilder::edit(const Uuid& id) {
  auto& edited = edited_[id];
  if (edited == nullptr) {
    const auto before = by_id_.find(id);
    if (before == nullptr) {
      edited_.erase(id);
      return nullptr;
    }
    edited = std::make_shared<Topic>(*before);
    by_id_.set(id, edited);
    by_name_.set(edited->name, edited);
    touched_.try_emplace(id, Touched{.before = before});
  }
  return edited.get();
}

Result<void> ImageBuilder::on(const protocol::TopicRecord& record) {
  if (record.name.empty() || record.topic_id.is_zero() || by_name_.find(record.name.view()) != nullptr ||
      by_id_.find(record.topic_id) != nullptr || touched_.contains(record.topic_id)) {
    return {Errc::corrupt};
  }
  auto topic = std::make_shared<Topic>();
  topic->name = record.name.str();
  topic->id = record.topic_id;
  const auto& overrides = configs_.find(ConfigResource{ResourceType::topic, topic->name});
  topic->overrides = overrides ? overrides : no_overrides();
  by_name_.set(topic->name, topic);
  by_id_.set(topic->id, topic);
  touched_.try_emplace(topic->id);
  index_collisions(topic->name, true);
  edited_[record.topic_id] = std::move(topic);
  return {};
}

Result<void> ImageBuilder::on(const protocol::PartitionRecord& record) {
  auto* topic = edit(record.topic_id);
  // Partitions come in order: so nobody can ask for memory with a large index.
  if (topic == nullptr || record.partition_id < 0 || record.partition_id > std::ssize(topic->partitions) ||
      (!record.directories.empty() && record.directories.size() != record.replicas.size())) {
    return {Errc::corrupt};
  }
  if (record.partition_id == std::ssize(topic->partitions)) {
    topic->partitions.emplace_back();
    ++image_.partition_count_;
  }
  topic->partitions[static_cast<std::size_t>(record.partition_id)] = {
      .leader = record.leader,
      .leader_epoch = {record.leader_epoch},
      .partition_epoch = record.partition_epoch,
      .replicas = record.replicas,
      .isr = record.isr,
      .directories = record.directories.empty() ? std::vector<Uuid>(record.replicas.size()) : record.directories,
      .removing = record.removing_replicas,
      .adding = record.adding_replicas,
      .eligible_leaders = record.eligible_leader_replicas.value_or(std::vector<std::int32_t>{}),
      .last_known_leaders = record.last_known_elr.value_or(std::vector<std::int32_t>{}),
      .leader_recovery_state = record.leader_recovery_state};
  touched_[record.topic_id].partitions = true;
  return {};
}

Result<void> ImageBuilder::on(const protocol::PartitionChangeRecord& record) {
  auto* topic = edit(record.topic_id);
  if (topic == nullptr || record.partition_id < 0 || record.partition_id >= std::ssize(topic->partitions)) {
    return {Errc::corrupt};
  }
  auto& partition = topic->partitions[static_cast<std::size_t>(record.partition_id)];
  partition.isr = record.isr.value_or(partition.isr);
  partition.replicas = record.replicas.value_or(partition.replicas);
  partition.removing = record.removing_replicas.value_or(partition.removing);
  partition.adding = record.adding_replicas.value_or(partition.adding);
  partition.directories = record.directories.value_or(partition.directories);
  partition.directories.resize(partition.replicas.size());
  partition.eligible_leaders = record.eligible_leader_replicas.value_or(partition.eligible_leaders);
  partition.last_known_leaders = record.last_known_elr.value_or(partition.last_known_leaders);
  if (record.leader != kLeaderUnchanged) {  // also when it names the same leader: that is how an epoch is bumped
    partition.leader = record.leader;
    ++partition.leader_epoch;
  }
  if (record.leader_recovery_state != kRecoveryStateUnchanged) {
    partition.leader_recovery_state = record.leader_recovery_state;
  }
  ++partition.partition_epoch;
  touched_[record.topic_id].partitions = true;
  return {};
}

Result<void> ImageBuilder::on(const protocol::RemoveTopicRecord& record) {
  const auto topic = by_id_.find(record.topic_id);
  if (topic == nullptr) {
    return {Errc::corrupt};
  }
  if (!edited_.contains(record.topic_id)) {
    touched_.try_emplace(record.topic_id, Touched{.before = topic});
  }
  edited_.erase(record.topic_id);
  by_id_.erase(topic->id);
  by_name_.erase(topic->name);
  index_collisions(topic->name, false);
  remove_overrides({ResourceType::topic, topic->name});  // a new topic of that name inherits nothing
  image_.partition_count_ -= std::ssize(topic->partitions);
  return {};
}

Result<void> ImageBuilder::on(const protocol::ClearElrRecord& record) {
  std::vector<Uuid> ids;
  by_name_.view().for_each([&](const std::string& name, const auto& topic) {
    if (record.topic_name.empty() || record.topic_name == name) {
      ids.push_back(topic->id);
    }
  });
  for (const auto& id : ids) {
    for (auto& partition : edit(id)->partitions) {
      partition.eligible_leaders.clear();
      partition.last_known_leaders.clear();
    }
    touched_[id].partitions = true;
  }
  return {};
}

void ImageBuilder::index_collisions(const std::string& name, bool add) {
  if (!can_collide(name)) {
    return;
  }
  const auto key = collision_key(name);
  const auto& before = by_collision_key_.find(key);
  auto names = before ? *before : std::set<std::string>{};
  if (add) {
    names.insert(name);
  } else {
    names.erase(name);
  }
  if (names.empty()) {
    by_collision_key_.erase(key);
  } else {
    by_collision_key_.set(key, std::make_shared<const std::set<std::string>>(std::move(names)));
  }
}

// --- configs --------------------------------------------------------------------------------------------------------

Result<void> ImageBuilder::on(const protocol::ConfigRecord& record) {
  const ConfigResource resource{static_cast<ResourceType>(record.resource_type), record.resource_name.str()};
  set_override(resource, record.name.str(), record.value);
  broker_configs_changed_ = broker_configs_changed_ || resource.type == ResourceType::broker;
  if (resource.type == ResourceType::topic) {
    show_overrides(resource.name);
  }
  return {};
}

void ImageBuilder::set_override(const ConfigResource& resource, const std::string& name,
                                const std::optional<protocol::Text>& value) {
  auto& edited = edited_configs_[resource];
  if (edited == nullptr) {
    const auto& before = configs_.find(resource);
    edited = before ? std::make_shared<ConfigOverrides>(*before) : std::make_shared<ConfigOverrides>();
    configs_.set(resource, edited);
  }
  if (value) {
    (*edited)[name] = value->str();
  } else {
    edited->erase(name);
  }
  if (edited->empty()) {
    remove_overrides(resource);
  }
}

void ImageBuilder::remove_overrides(const ConfigResource& resource) {
  configs_.erase(resource);
  edited_configs_.erase(resource);
}

void ImageBuilder::show_overrides(const std::string& topic_name) {
  const auto topic = by_name_.find(topic_name);
  if (topic == nullptr) {
    return;  // its record follows
  }
  const auto& overrides = configs_.find(ConfigResource{ResourceType::topic, topic_name});
  edit(topic->id)->overrides = overrides ? overrides : no_overrides();
  touched_[topic->id].configs = true;
}

// --- features, producer ids, brokers --------------------------------------------------------------------------------

Result<void> ImageBuilder::on(const protocol::FeatureLevelRecord& record) {
  auto features = std::make_shared<MetadataImage::Features>(*image_.features_);
  if (record.feature_level == 0) {
    features->erase(record.name.str());
  } else {
    (*features)[record.name.str()] = record.feature_level;
  }
  image_.features_ = std::move(features);
  return {};
}

Result<void> ImageBuilder::on(const protocol::ProducerIdsRecord& record) {
  if (record.next_producer_id < image_.next_producer_id_) {
    return Error{Errc::corrupt, record.next_producer_id};  // ids would be given twice
  }
  image_.next_producer_id_ = record.next_producer_id;
  return {};
}

MetadataImage::Brokers& ImageBuilder::edit_brokers() {
  if (edited_brokers_ == nullptr) {
    edited_brokers_ = std::make_shared<MetadataImage::Brokers>(*image_.brokers_);
    image_.brokers_ = edited_brokers_;
  }
  return *edited_brokers_;
}

Result<void> ImageBuilder::edit_broker(std::int32_t id, std::int64_t epoch,
                                       UniqueFunction<void(BrokerRegistration&)> change) {
  auto& brokers = edit_brokers();
  const auto found = brokers.find(id);
  if (found == brokers.end() || found->second.epoch != epoch) {
    return Error{Errc::corrupt, id};
  }
  change(found->second);
  return {};
}

Result<void> ImageBuilder::on(const protocol::RegisterBrokerRecord& record) {
  BrokerRegistration broker{.id = record.broker_id,
                            .epoch = record.broker_epoch,
                            .incarnation = record.incarnation_id,
                            .endpoints = {},
                            .features = {},
                            .rack = record.rack ? record.rack->str() : "",
                            .has_rack = record.rack.has_value(),
                            .fenced = record.fenced,
                            .in_controlled_shutdown = record.in_controlled_shutdown,
                            .directories = record.log_dirs};
  for (const auto& endpoint : record.end_points) {
    broker.endpoints.push_back({.listener = endpoint.name.str(),
                                .host = endpoint.host.str(),
                                .port = endpoint.port,
                                .security_protocol = endpoint.security_protocol});
  }
  for (const auto& feature : record.features) {
    broker.features[feature.name.str()] = {.min = feature.min_supported_version, .max = feature.max_supported_version};
  }
  edit_brokers()[record.broker_id] = std::move(broker);
  return {};
}

Result<void> ImageBuilder::on(const protocol::UnregisterBrokerRecord& record) {
  WEIR_TRY_VOID(edit_broker(record.broker_id, record.broker_epoch, [](BrokerRegistration&) {}));
  edit_brokers().erase(record.broker_id);
  return {};
}

Result<void> ImageBuilder::on(const protocol::FenceBrokerRecord& record) {
  return edit_broker(record.id, record.epoch, [](BrokerRegistration& broker) { broker.fenced = true; });
}

Result<void> ImageBuilder::on(const protocol::UnfenceBrokerRecord& record) {
  return edit_broker(record.id, record.epoch, [](BrokerRegistration& broker) { broker.fenced = false; });
}

Result<void> ImageBuilder::on(const protocol::BrokerRegistrationChangeRecord& record) {
  return edit_broker(record.broker_id, record.broker_epoch, [&record](BrokerRegistration& broker) {
    if (record.fenced != 0) {
      broker.fenced = record.fenced > 0;
    }
    broker.in_controlled_shutdown = broker.in_controlled_shutdown || record.in_controlled_shutdown != 0;
    if (!record.log_dirs.empty()) {
      broker.directories = record.log_dirs;
    }
  });
}

// --- the result -----------------------------------------------------------------------------------------------------

ImagePointer ImageBuilder::build(ImageChanges* changes) {
  image_.by_name_ = by_name_.finish();
  image_.by_id_ = by_id_.finish();
  image_.by_collision_key_ = by_collision_key_.finish();
  image_.configs_ = configs_.finish();
  image_.kept_ = kept_.finish();
  if (changes != nullptr) {
    changes->broker_configs_changed = broker_configs_changed_;
    for (const auto& [id, touched] : touched_) {
      const auto& now = by_id_.find(id);
      if (now == nullptr) {
        if (touched.before != nullptr) {
          changes->topics_deleted.push_back(touched.before);
        }
      } else if (touched.before == nullptr) {
        changes->topics_created.push_back(id);
      } else {
        if (touched.partitions) {
          changes->topics_changed.push_back(id);
        }
        if (touched.configs) {
          changes->topic_configs_changed.push_back(now->name);
        }
      }
    }
  }
  edited_.clear();
  edited_configs_.clear();
  edited_brokers_.reset();
  touched_.clear();
  broker_configs_changed_ = false;
  return std::make_shared<const MetadataImage>(image_);
}

}  // namespace weir::metadata
