// Plans that make and remove topics and partitions. Facts: CreateTopics, DeleteTopics and CreatePartitions of a real
// Kafka 4.4 node, in our own words.
#include <set>

#include "base/topic_config.hpp"
#include "coordinator/metadata/describe_configs.hpp"
#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/internal_topics.hpp"
#include "coordinator/metadata/plan.hpp"
#include "coordinator/metadata/plan_parts.hpp"
#include "coordinator/metadata/topic_name.hpp"
#include "protocol/gen/remove_topic_record.hpp"
#include "protocol/gen/topic_record.hpp"

namespace weir::metadata {

using protocol::ErrorCode;

namespace {

constexpr std::string_view kClusterMetadataTopic = "__cluster_metadata";
constexpr std::int32_t kUseDefault = -1;

// Replicas on one node: exactly this node, once.
std::optional<Refusal> refuse_replicas(const PlanInput& in, const std::vector<std::int32_t>& replicas) {
  if (replicas.empty()) {
    return Refusal{ErrorCode::invalid_replica_assignment, "A partition was assigned to no broker at all."};
  }
  std::set<std::int32_t> seen;
  for (const auto broker : replicas) {
    if (broker != in.identity.node_id) {
      return Refusal{ErrorCode::invalid_replica_assignment,
                     "A partition was assigned to broker " + std::to_string(broker) + ", but there is no such broker."};
    }
    if (!seen.insert(broker).second) {
      return Refusal{ErrorCode::invalid_replica_assignment,
                     "A partition was assigned to broker " + std::to_string(broker) + " more than once."};
    }
  }
  return std::nullopt;
}

using CreatableTopic = protocol::CreateTopicsRequest::CreatableTopic;

std::optional<Refusal> refuse_assignment(const PlanInput& in, const CreatableTopic& topic) {
  if (topic.replication_factor != kUseDefault || topic.num_partitions != kUseDefault) {
    return Refusal{ErrorCode::invalid_request,
                   "With a manual assignment both the partition count and the replication factor must be -1."};
  }
  std::set<std::int32_t> indexes;
  for (const auto& partition : topic.assignments) {
    if (!indexes.insert(partition.partition_index).second) {
      return Refusal{ErrorCode::invalid_replica_assignment,
                     "Partition " + std::to_string(partition.partition_index) + " is assigned twice."};
    }
    if (auto refusal = refuse_replicas(in, partition.broker_ids)) {
      return refusal;
    }
  }
  if (*indexes.begin() != 0 || *indexes.rbegin() != std::ssize(topic.assignments) - 1) {
    return Refusal{ErrorCode::invalid_replica_assignment, "Assigned partitions must be numbered from 0 without a gap."};
  }
  return std::nullopt;
}

std::optional<Refusal> refuse_counts(std::int32_t partitions, std::int32_t replication_factor) {
  if (replication_factor < kUseDefault || replication_factor == 0) {
    return Refusal{ErrorCode::invalid_replication_factor,
                   "The replication factor must be above 0, or -1 for the broker's default."};
  }
  if (partitions < kUseDefault || partitions == 0) {
    return Refusal{ErrorCode::invalid_partitions,
                   "The number of partitions must be above 0, or -1 for the broker's default."};
  }
  return std::nullopt;
}

std::optional<Refusal> refuse_replication(std::int32_t replication_factor) {
  if (replication_factor > 1) {
    return Refusal{
        ErrorCode::invalid_replication_factor,
        "A replication factor of " + std::to_string(replication_factor) + " cannot be reached: there is 1 broker."};
  }
  return std::nullopt;
}

// One request's work: what it has made so far counts for the rest of it.
class TopicMaker {
 public:
  explicit TopicMaker(const PlanInput& in) : in_(in) {}

  std::optional<Refusal> refuse_name(const std::string& name) const {
    if (auto why = refuse_topic_name(name)) {
      return Refusal{ErrorCode::invalid_topic_exception, std::move(*why)};
    }
    if (in_.image.find_topic(name) != nullptr) {
      return Refusal{ErrorCode::topic_already_exists, "There is a topic '" + name + "' already."};
    }
    const auto key = collision_key(name);
    const auto& existing = in_.image.names_that_collide_with(name);
    const auto made = made_keys_.find(key);
    if (!existing.empty() || made != made_keys_.end()) {
      return Refusal{ErrorCode::invalid_topic_exception, "Topic '" + name +
                                                             "' would share its metric names with topic '" +
                                                             (existing.empty() ? made->second : *existing.begin()) +
                                                             "': '.' and '_' count as the same character there."};
    }
    return std::nullopt;
  }
  std::optional<Refusal> refuse_room(std::int64_t partitions) const {
    const auto total = in_.image.partition_count() + partitions_made_ + partitions;
    if (total > in_.settings.partitions_max) {
      return Refusal{ErrorCode::policy_violation,
                     "This node holds at most " + std::to_string(in_.settings.partitions_max) + " partitions."};
    }
    return std::nullopt;
  }
  void count_made(std::int64_t partitions) { partitions_made_ += partitions; }
  // After all checks: the records.
  Uuid make(RecordList& records, const std::string& name, std::int32_t partitions, const ConfigOverrides& overrides) {
    protocol::TopicRecord record;
    record.name = name;
    record.topic_id = internal_topic_id(name);
    if (record.topic_id.is_zero()) {
      record.topic_id = in_.random.uuid();
    }
    records.add(record, 0);
    for (const auto& [key, value] : overrides) {
      add_config(records, {ResourceType::topic, name}, key, value);
    }
    for (std::int32_t i = 0; i < partitions; ++i) {
      add_partition(records, record.topic_id, i, new_partition(in_.identity));
    }
    partitions_made_ += partitions;
    made_keys_.emplace(collision_key(name), name);
    return record.topic_id;
  }

 private:
  const PlanInput& in_;
  std::int64_t partitions_made_ = 0;
  std::map<std::string, std::string> made_keys_;  // collision key -> name
};

protocol::CreateTopicsResponse::CreatableTopicResult create_one(const PlanInput& in, TopicMaker& maker,
                                                                const CreatableTopic& topic, RecordList& records) {
  protocol::CreateTopicsResponse::CreatableTopicResult result;
  result.name = topic.name;
  result.error_message.reset();
  const auto refuse_with = [&](Refusal refusal) {
    refuse(result, std::move(refusal));
    result.configs.emplace();  // an empty list, as the real node
    return result;
  };
  const auto name = topic.name.str();
  if (auto refusal = maker.refuse_name(name)) {
    return refuse_with(std::move(*refusal));
  }
  ConfigOverrides overrides;
  for (const auto& config : topic.configs) {
    if (!config.value) {
      return refuse_with({ErrorCode::invalid_config, "Config " + config.name.str() + " has no value."});
    }
    overrides[config.name.str()] = config.value->str();  // of two with one name the last counts
  }
  if (auto why = refuse_overrides(overrides, *in.settings.broker())) {
    return refuse_with({ErrorCode::invalid_config, std::move(*why)});
  }
  settle_storage(name, overrides, *in.settings.broker());
  if (is_internal_topic(name) && TopicConfig{overrides, *in.settings.broker()}.in_memory()) {
    return refuse_with({ErrorCode::invalid_config, "mq.storage of an internal topic is log: it holds what must last."});
  }
  const bool manual = !topic.assignments.empty();
  auto refusal = manual ? refuse_assignment(in, topic) : refuse_counts(topic.num_partitions, topic.replication_factor);
  std::int32_t replication = topic.replication_factor;
  std::int32_t partitions = topic.num_partitions;
  if (manual) {
    replication = 1;
    partitions = static_cast<std::int32_t>(topic.assignments.size());
  } else {
    replication = replication == kUseDefault ? in.settings.default_replication_factor : replication;
    partitions = partitions == kUseDefault ? in.settings.num_partitions : partitions;
  }
  refusal = refusal ? std::move(refusal) : refuse_replication(replication);
  refusal = refusal ? std::move(refusal) : maker.refuse_room(partitions);
  if (refusal) {
    return refuse_with(std::move(*refusal));
  }
  result.topic_id = maker.make(records, name, partitions, overrides);
  result.num_partitions = partitions;
  result.replication_factor = static_cast<std::int16_t>(replication);
  result.configs = created_topic_configs(overrides, *in.settings.broker());
  return result;
}

std::int64_t partitions_asked(const PlanInput& in, const CreatableTopic& topic) {
  if (!topic.assignments.empty()) {
    return std::ssize(topic.assignments);
  }
  return topic.num_partitions == kUseDefault ? in.settings.num_partitions : std::max(topic.num_partitions, 0);
}

}  // namespace

PartitionState new_partition(const Identity& identity) {
  PartitionState state;
  state.leader = identity.node_id;
  state.replicas = {identity.node_id};
  state.isr = {identity.node_id};
  state.directories = {identity.directory_id};
  return state;
}

Plan<protocol::CreateTopicsResponse> plan_create_topics(const PlanInput& in,
                                                        const protocol::CreateTopicsRequest& request) {
  Plan<protocol::CreateTopicsResponse> plan;
  std::int64_t asked = 0;
  for (const auto& topic : request.topics) {
    asked += partitions_asked(in, topic);
  }
  const auto duplicates = duplicate_keys(request.topics, [](const CreatableTopic& topic) { return topic.name.view(); });
  TopicMaker maker{in};
  std::set<std::string_view> answered;
  for (const auto& topic : request.topics) {
    std::optional<Refusal> refusal;
    if (duplicates.contains(topic.name.view())) {
      if (!answered.insert(topic.name.view()).second) {
        continue;  // one answer for all of them
      }
      refusal = Refusal{ErrorCode::invalid_request, "The request names this topic more than once."};
    } else if (topic.name == kClusterMetadataTopic) {
      refusal = Refusal{ErrorCode::topic_authorization_failed, "The metadata log is no topic that can be created."};
    } else if (asked > kPartitionsPerRequestMax) {
      refusal = Refusal{ErrorCode::policy_violation,
                        "One request may create at most " + std::to_string(kPartitionsPerRequestMax) + " partitions."};
    }
    if (refusal) {
      auto& result = plan.response.topics.emplace_back();
      result.name = topic.name;
      refuse(result, std::move(*refusal));
      continue;
    }
    plan.response.topics.push_back(create_one(in, maker, topic, plan.records));
  }
  return plan;
}

// As many partitions as one CreateTopics may make: beyond that nothing is made. One Metadata request may name a
// million.
Plan<std::vector<AutoCreateResult>> plan_auto_create(const PlanInput& in, const std::vector<std::string>& names) {
  Plan<std::vector<AutoCreateResult>> plan;
  const std::set<std::string_view> distinct{names.begin(), names.end()};
  const auto unknown =
      std::ranges::count_if(distinct, [&](std::string_view name) { return in.image.find_topic(name) == nullptr; });
  if (unknown * in.settings.num_partitions > kPartitionsPerRequestMax) {
    for (const auto& name : names) {
      const bool known = in.image.find_topic(name) != nullptr;
      plan.response.push_back({name, known ? ErrorCode::none : ErrorCode::policy_violation});
    }
    return plan;
  }
  TopicMaker maker{in};
  std::map<std::string, ErrorCode> done;
  for (const auto& name : names) {
    if (const auto before = done.find(name); before != done.end()) {
      plan.response.push_back({name, before->second});
      continue;
    }
    auto error = ErrorCode::none;
    const bool offsets = name == kOffsetsTopic;
    const auto partitions = offsets ? in.settings.offsets_topic_partitions : in.settings.num_partitions;
    auto refusal = maker.refuse_name(name);
    refusal = refusal ? std::move(refusal) : maker.refuse_room(partitions);
    if (!refusal && !offsets) {
      refusal = refuse_replication(in.settings.default_replication_factor);
    }
    if (refusal) {
      error = refusal->error == ErrorCode::topic_already_exists ? ErrorCode::none : refusal->error;
    } else if ((is_internal_topic(name) && !offsets) || name == kClusterMetadataTopic) {
      error = ErrorCode::unknown_topic_or_partition;  // their coordinators make them, with their own settings
    } else {
      ConfigOverrides overrides;
      if (offsets) {
        overrides = internal_topic_configs(name, in.settings.offsets_topic_segment_bytes);
      }
      settle_storage(name, overrides, *in.settings.broker());
      maker.make(plan.records, name, partitions, overrides);
    }
    done[name] = error;
    plan.response.push_back({name, error});
  }
  return plan;
}

// --- deleting -------------------------------------------------------------------------------------------------------

Plan<protocol::DeleteTopicsResponse> plan_delete_topics(const PlanInput& in,
                                                        const protocol::DeleteTopicsRequest& request) {
  Plan<protocol::DeleteTopicsResponse> plan;
  struct Wanted {
    std::optional<std::string> name;
    Uuid id;
  };
  std::vector<Wanted> wanted;
  for (const auto& name : request.topic_names) {
    wanted.push_back({name.str(), {}});
  }
  for (const auto& topic : request.topics) {
    wanted.push_back({topic.name ? std::optional{topic.name->str()} : std::nullopt, topic.topic_id});
  }
  std::map<std::string, int> names;
  std::map<Uuid, int> ids;  // a topic named by name and by id is a duplicate too
  for (const auto& topic : wanted) {
    if (topic.name && !topic.id.is_zero()) {
      continue;  // refused by itself
    }
    if (topic.name) {
      ++names[*topic.name];
    }
    const auto known = topic.name ? in.image.find_topic(*topic.name) : nullptr;
    if (const auto id = known ? known->id : topic.id; !id.is_zero()) {
      ++ids[id];
    }
  }
  std::set<std::pair<std::optional<std::string>, Uuid>> answered;
  for (const auto& topic : wanted) {
    auto& result = plan.response.responses.emplace_back();
    result.name = topic.name ? std::optional<protocol::Text>{*topic.name} : std::nullopt;
    result.topic_id = topic.id;
    const auto found = topic.name ? in.image.find_topic(*topic.name) : in.image.find_topic(topic.id);
    if (!in.settings.delete_topic_enable) {
      refuse(result, {ErrorCode::topic_deletion_disabled, "Topics cannot be deleted: delete.topic.enable is false."});
    } else if (topic.name.has_value() == !topic.id.is_zero()) {
      refuse(result, {ErrorCode::invalid_request, "A topic to delete is given by its name or by its id, not " +
                                                      std::string{topic.name ? "by both." : "by neither."}});
    } else if ((topic.name && names[*topic.name] > 1) || (found && ids[found->id] > 1) ||
               (!topic.name && ids[topic.id] > 1)) {
      if (!answered.insert({topic.name, topic.id}).second) {
        plan.response.responses.pop_back();
        continue;
      }
      refuse(result, {ErrorCode::invalid_request, "The request names this topic more than once."});
    } else if (found == nullptr) {
      refuse(result, topic.name ? Refusal{ErrorCode::unknown_topic_or_partition, "There is no topic of this name."}
                                : Refusal{ErrorCode::unknown_topic_id, "There is no topic with this id."});
    } else if (is_internal_topic(found->name)) {
      // The groups' own memory: deleting it would lose all committed offsets in one request.
      refuse(result, {ErrorCode::invalid_request, "Internal topics cannot be deleted."});
    } else {
      result.name = protocol::Text{found->name};
      result.topic_id = found->id;
      protocol::RemoveTopicRecord record;
      record.topic_id = found->id;
      plan.records.add(record, 0);
    }
  }
  return plan;
}

// --- more partitions ------------------------------------------------------------------------------------------------

namespace {

using PartitionsTopic = protocol::CreatePartitionsRequest::CreatePartitionsTopic;

std::optional<Refusal> refuse_more_partitions(const PlanInput& in, const TopicMaker& maker, const Topic& topic,
                                              const PartitionsTopic& asked) {
  const auto current = std::ssize(topic.partitions);
  if (asked.count == current) {
    return Refusal{ErrorCode::invalid_partitions,
                   "The topic has " + std::to_string(current) + " partition(s) already."};
  }
  if (asked.count < current) {
    return Refusal{ErrorCode::invalid_partitions,
                   "The topic has " + std::to_string(current) + " partition(s); their number can only grow."};
  }
  const auto added = asked.count - current;
  if (asked.assignments) {
    if (std::ssize(*asked.assignments) != added) {
      return Refusal{ErrorCode::invalid_replica_assignment,
                     "There are " + std::to_string(added) + " new partition(s), but " +
                         std::to_string(asked.assignments->size()) + " assignment(s)."};
    }
    for (const auto& assignment : *asked.assignments) {
      if (auto refusal = refuse_replicas(in, assignment.broker_ids)) {
        return refusal;
      }
    }
  }
  return maker.refuse_room(added);
}

}  // namespace

Plan<protocol::CreatePartitionsResponse> plan_create_partitions(const PlanInput& in,
                                                                const protocol::CreatePartitionsRequest& request) {
  Plan<protocol::CreatePartitionsResponse> plan;
  const auto duplicates =
      duplicate_keys(request.topics, [](const PartitionsTopic& topic) { return topic.name.view(); });
  std::set<std::string_view> answered;
  std::int64_t added = 0;
  TopicMaker maker{in};
  for (const auto& asked : request.topics) {
    if (duplicates.contains(asked.name.view()) && !answered.insert(asked.name.view()).second) {
      continue;
    }
    auto& result = plan.response.results.emplace_back();
    result.name = asked.name;
    const auto& topic = in.image.find_topic(asked.name.view());
    if (duplicates.contains(asked.name.view())) {
      refuse(result, {ErrorCode::invalid_request, "The request names this topic more than once."});
    } else if (topic == nullptr) {
      result.error_code = static_cast<std::int16_t>(ErrorCode::unknown_topic_or_partition);  // the real one has no text
    } else if (auto refusal = refuse_more_partitions(in, maker, *topic, asked)) {
      refuse(result, std::move(*refusal));
    } else if (added += asked.count - std::ssize(topic->partitions); added > kPartitionsPerRequestMax) {
      refuse(result, {ErrorCode::policy_violation,
                      "One request may create at most " + std::to_string(kPartitionsPerRequestMax) + " partitions."});
    } else {
      for (auto i = static_cast<std::int32_t>(topic->partitions.size()); i < asked.count; ++i) {
        add_partition(plan.records, topic->id, i, new_partition(in.identity));
      }
      maker.count_made(asked.count - std::ssize(topic->partitions));
    }
  }
  return plan;
}

}  // namespace weir::metadata
