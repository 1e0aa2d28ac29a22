// Plans that change configs. Facts: IncrementalAlterConfigs and AlterConfigs of a real Kafka 4.4 node, in our own
// words.
#include <algorithm>
#include <set>

#include "base/topic_config.hpp"
#include "coordinator/metadata/config_operation.hpp"
#include "coordinator/metadata/config_target.hpp"
#include "coordinator/metadata/logger_configs.hpp"
#include "coordinator/metadata/plan.hpp"
#include "coordinator/metadata/plan_parts.hpp"
#include "protocol/gen/config_record.hpp"

namespace weir::metadata {

using protocol::ErrorCode;

void add_config(RecordList& records, const ConfigResource& resource, const std::string& name,
                const std::optional<std::string>& value) {
  protocol::ConfigRecord record;
  record.resource_type = static_cast<std::int8_t>(resource.type);
  record.resource_name = resource.name;
  record.name = name;
  record.value = value ? std::optional<protocol::Text>{*value} : std::nullopt;
  records.add(record, 0);
}

std::optional<std::string> refuse_overrides(const ConfigOverrides& overrides, const Config& broker) {
  for (const auto& [name, value] : overrides) {
    if (auto why = check_topic_config(name, value)) {
      return why;
    }
  }
  const TopicConfig effective{overrides, broker};
  if (effective.min_compaction_lag_ms > effective.max_compaction_lag_ms) {
    return "min.compaction.lag.ms (" + std::to_string(effective.min_compaction_lag_ms) +
           ") is larger than max.compaction.lag.ms (" + std::to_string(effective.max_compaction_lag_ms) + ").";
  }
  if (effective.in_memory() && effective.compacts()) {
    return "mq.storage=memory does not go with cleanup.policy=compact: the records of a memory topic end with the "
           "process.";
  }
  if (effective.remote_storage_enable) {
    return "remote.storage.enable cannot be true: this broker has no remote storage.";
  }
  return std::nullopt;
}

void settle_storage(const std::string& topic, ConfigOverrides& overrides, const Config& broker) {
  const bool may_be_memory = !is_internal_topic(topic) && !TopicConfig{overrides, broker}.compacts();
  if (!overrides.contains(kStorageKey) && broker.mq_storage == kStorageMemory && may_be_memory) {
    overrides[std::string{kStorageKey}] = kStorageMemory;
  }
}

namespace {

// What `operation` makes of a list that reads `before`.
std::string changed_list(ConfigOperation operation, std::string_view before, std::string_view value) {
  auto items = split_list(before);
  for (const auto& item : split_list(value)) {
    const auto found = std::find(items.begin(), items.end(), item);
    if (operation == ConfigOperation::append && found == items.end()) {
      items.push_back(item);
    } else if (operation == ConfigOperation::subtract && found != items.end()) {
      items.erase(found);
    }
  }
  return joined_list(items);
}

// Records for what differs between two states of one resource's overrides.
void add_differences(RecordList& records, const ConfigResource& resource, const ConfigOverrides& before,
                     const ConfigOverrides& after) {
  for (const auto& [name, value] : after) {
    const auto old = before.find(name);
    if (old == before.end() || old->second != value) {
      add_config(records, resource, name, value);
    }
  }
  for (const auto& [name, value] : before) {
    if (!after.contains(name)) {
      add_config(records, resource, name, std::nullopt);
    }
  }
}

using IncrementalResource = protocol::IncrementalAlterConfigsRequest::AlterConfigsResource;

std::optional<Refusal> apply_operation(const PlanInput& in, const ConfigTarget& target, std::int8_t code,
                                       const std::string& name, const std::optional<protocol::Text>& value,
                                       ConfigOverrides& overrides) {
  const auto operation = static_cast<ConfigOperation>(code);
  if (code < 0 || operation > ConfigOperation::subtract) {
    return Refusal{ErrorCode::invalid_request, "There is no config operation " + std::to_string(code) + "."};
  }
  if (operation == ConfigOperation::remove) {
    overrides.erase(name);
    return std::nullopt;
  }
  auto text = value->str();
  if (operation != ConfigOperation::set) {
    const auto* row = row_of(target, name);
    if (row == nullptr || row->type != ConfigType::list) {
      return Refusal{ErrorCode::invalid_config, "Config " + name + " is not a list; it can only be set or removed."};
    }
    const auto now = overrides.find(name);
    const auto before = now != overrides.end() ? now->second : inherited_list(in, target, *row);
    if (operation == ConfigOperation::append && text.empty() && !before.empty()) {
      return Refusal{ErrorCode::invalid_config, "Config " + name + " cannot have an empty item."};
    }
    text = changed_list(operation, before, text);
  }
  overrides[name] = std::move(text);
  return std::nullopt;
}

// The new overrides of one resource, or why not.
std::optional<Refusal> change(const PlanInput& in, const ConfigTarget& target, const IncrementalResource& resource,
                              ConfigOverrides& overrides) {
  for (const auto& config : resource.configs) {
    if (auto refusal =
            apply_operation(in, target, config.config_operation, config.name.str(), config.value, overrides)) {
      return refusal;
    }
  }
  return std::nullopt;
}

// AlterConfigs: what is named is all there is from now on, but for where a topic's records live.
std::optional<Refusal> change(const PlanInput& /*in*/, const ConfigTarget& target,
                              const protocol::AlterConfigsRequest::AlterConfigsResource& resource,
                              ConfigOverrides& overrides) {
  overrides.clear();
  for (const auto& config : resource.configs) {
    overrides[config.name.str()] = config.value->str();
  }
  if (const auto storage = target.before->find(kStorageKey);
      target.resource.type == ResourceType::topic && storage != target.before->end()) {
    overrides.insert(*storage);
  }
  return std::nullopt;
}

bool needs_value(const protocol::IncrementalAlterConfigsRequest::AlterableConfig& config) {
  return config.config_operation != static_cast<std::int8_t>(ConfigOperation::remove);
}
bool needs_value(const protocol::AlterConfigsRequest::AlterableConfig& /*config*/) {
  return true;
}

// Of any kind of resource, before anything else is looked at: keys named twice, values that are missing.
template <class Resource>
std::optional<Refusal> refuse_shape(const Resource& resource) {
  const auto twice = duplicate_keys(resource.configs, [](const auto& config) { return config.name.view(); });
  if (!twice.empty()) {
    return Refusal{ErrorCode::invalid_request, "Config " + std::string{*twice.begin()} + " is named more than once."};
  }
  for (const auto& config : resource.configs) {
    if (needs_value(config) && !config.value) {
      return Refusal{ErrorCode::invalid_request, "Config " + config.name.str() + " has no value."};
    }
  }
  return std::nullopt;
}

// A logger's level is no metadata: what is asked is only checked here, and the handler sets it.
std::optional<Refusal> refuse_logger(const PlanInput& in, const IncrementalResource& resource) {
  return refuse_logger_change(in.identity, resource);
}
std::optional<Refusal> refuse_logger(const PlanInput& /*in*/,
                                     const protocol::AlterConfigsRequest::AlterConfigsResource& /*resource*/) {
  return Refusal{ErrorCode::invalid_request, "The levels of loggers are changed by IncrementalAlterConfigs only."};
}

template <class Resource>
std::optional<Refusal> plan_one(const PlanInput& in, const Resource& resource, RecordList& records) {
  if (auto refusal = refuse_shape(resource)) {
    return refusal;
  }
  if (resource.resource_type == static_cast<std::int8_t>(ResourceType::broker_logger)) {
    return refuse_logger(in, resource);
  }
  ConfigTarget target;
  if (auto refusal = find_target(in, resource.resource_type, resource.resource_name.view(), target)) {
    return refusal;
  }
  auto after = *target.before;
  if (auto refusal = change(in, target, resource, after)) {
    return refusal;
  }
  if (auto refusal = refuse_name(target)) {
    return refusal;
  }
  if (auto refusal = refuse_result(in, target, after)) {
    return refusal;
  }
  if (auto refusal = refuse_absent(in, target)) {
    return refusal;
  }
  add_differences(records, target.resource, *target.before, after);
  return std::nullopt;
}

template <class Response, class Request>
Plan<Response> plan_alter(const PlanInput& in, const Request& request) {
  Plan<Response> plan;
  const auto duplicates = duplicate_keys(request.resources, [](const auto& resource) {
    return std::pair{resource.resource_type, resource.resource_name.view()};
  });
  for (const auto& resource : request.resources) {
    auto& result = plan.response.responses.emplace_back();
    result.resource_type = resource.resource_type;
    result.resource_name = resource.resource_name;
    result.error_message.reset();
    if (duplicates.contains({resource.resource_type, resource.resource_name.view()})) {
      refuse(result, {ErrorCode::invalid_request, "The request names this resource more than once."});
    } else if (auto refusal = plan_one(in, resource, plan.records)) {
      refuse(result, std::move(*refusal));
    }
  }
  return plan;
}

}  // namespace

Plan<protocol::AlterConfigsResponse> plan_alter_configs(const PlanInput& in,
                                                        const protocol::AlterConfigsRequest& request) {
  return plan_alter<protocol::AlterConfigsResponse>(in, request);
}

Plan<protocol::IncrementalAlterConfigsResponse> plan_incremental_alter_configs(
    const PlanInput& in, const protocol::IncrementalAlterConfigsRequest& request) {
  return plan_alter<protocol::IncrementalAlterConfigsResponse>(in, request);
}

}  // namespace weir::metadata
