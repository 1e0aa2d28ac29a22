#include "coordinator/metadata/config_target.hpp"

#include <charconv>

#include "base/dynamic_config.hpp"
#include "base/group_config.hpp"
#include "base/topic_config.hpp"
#include "coordinator/metadata/topic_name.hpp"

namespace weir::metadata {

using protocol::ErrorCode;

namespace {

Refusal invalid(std::string text) {
  return {ErrorCode::invalid_request, std::move(text)};
}

std::optional<Refusal> refuse_dynamic_result(const PlanInput& in, const ConfigTarget& target,
                                             const ConfigOverrides& after) {
  const bool all = target.resource.name.empty();
  const auto own = std::to_string(in.identity.node_id);
  const auto other = in.image.overrides(ResourceType::broker, all ? own : "");
  const auto now = in.settings.broker();
  auto why = refuse_dynamic({.fixed = in.settings.fixed(),
                             .now = *now,
                             .for_all = all ? after : *other,
                             .for_this = all ? *other : after,
                             .scope = all ? DynamicScope::all_brokers : DynamicScope::this_broker});
  return why ? std::optional(invalid(std::move(*why))) : std::nullopt;
}

std::optional<std::string> refuse_other_storage(const Config& broker, const ConfigOverrides& before,
                                                const ConfigOverrides& after) {
  const TopicConfig now{before, broker};
  if (TopicConfig{after, broker}.in_memory() == now.in_memory()) {
    return std::nullopt;
  }
  return "mq.storage of a topic cannot change: it is " + now.mq_storage + " since the topic was made.";
}

}  // namespace

std::optional<std::string> refuse_node(const Identity& identity, std::string_view name) {
  std::int32_t id = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (error != std::errc{} || end != name.data() + name.size()) {
    return "A broker is named by its id, a number; '" + std::string{name} + "' is none.";
  }
  if (id != identity.node_id) {
    return "This is broker " + std::to_string(identity.node_id) + "; it has no configs of broker " +
           std::to_string(id) + ".";
  }
  return std::nullopt;
}

std::optional<Refusal> find_target(const PlanInput& in, std::int8_t type, std::string_view name, ConfigTarget& target) {
  target.resource = {static_cast<ResourceType>(type), std::string{name}};
  switch (target.resource.type) {
    case ResourceType::topic:
    case ResourceType::group:
    case ResourceType::client_metrics: break;
    case ResourceType::broker:
      if (!name.empty()) {
        if (auto why = refuse_node(in.identity, name)) {
          return invalid(std::move(*why));
        }
        target.resource.name = std::to_string(in.identity.node_id);  // "01" is broker 1 too
      }
      break;
    case ResourceType::broker_logger:
    default: return invalid("Configs of resource type " + std::to_string(type) + " cannot be changed this way.");
  }
  target.before = in.image.overrides(target.resource.type, target.resource.name);
  return std::nullopt;
}

std::optional<Refusal> refuse_name(const ConfigTarget& target) {
  const auto& [type, name] = target.resource;
  switch (type) {
    case ResourceType::topic:
      if (name.empty()) {
        return invalid("The name of a topic is not empty.");
      }
      if (auto why = refuse_topic_name(name)) {
        return Refusal{ErrorCode::invalid_topic_exception, std::move(*why)};
      }
      return std::nullopt;
    case ResourceType::group:
      return name.empty() ? std::optional(invalid("A group has a name; there are no configs of all groups."))
                          : std::nullopt;
    case ResourceType::client_metrics: return invalid("This broker collects no metrics of clients.");
    case ResourceType::broker:
    case ResourceType::broker_logger: break;
  }
  return std::nullopt;
}

std::optional<Refusal> refuse_absent(const PlanInput& in, const ConfigTarget& target) {
  if (target.resource.type == ResourceType::topic && in.image.find_topic(target.resource.name) == nullptr) {
    return Refusal{ErrorCode::unknown_topic_or_partition, "There is no topic of this name."};
  }
  return std::nullopt;
}

const ConfigRow* row_of(const ConfigTarget& target, std::string_view name) {
  switch (target.resource.type) {
    case ResourceType::topic: return find_topic_config_row(name);
    case ResourceType::broker: return find_dynamic_row(name).row;
    case ResourceType::group: return find_group_config_row(name);
    case ResourceType::broker_logger:
    case ResourceType::client_metrics: return nullptr;
  }
  return nullptr;
}

std::string inherited_list(const PlanInput& in, const ConfigTarget& target, const ConfigRow& row) {
  switch (target.resource.type) {
    case ResourceType::topic: return inherited_topic_value(row, *in.settings.broker());
    case ResourceType::broker: return in.settings.fixed().value(row.name).value_or("");
    case ResourceType::group: return inherited_group_value(*find_group_config_row(row.name), *in.settings.broker());
    case ResourceType::broker_logger:
    case ResourceType::client_metrics: return {};
  }
  return {};
}

std::optional<Refusal> refuse_result(const PlanInput& in, const ConfigTarget& target, const ConfigOverrides& after) {
  std::optional<std::string> why;
  switch (target.resource.type) {
    case ResourceType::topic:
      why = refuse_overrides(after, *in.settings.broker());
      why = why ? std::move(why) : refuse_other_storage(*in.settings.broker(), *target.before, after);
      break;
    case ResourceType::broker: return refuse_dynamic_result(in, target, after);
    case ResourceType::group: why = refuse_group_overrides(after, *in.settings.broker()); break;
    case ResourceType::broker_logger:
    case ResourceType::client_metrics: break;
  }
  return why ? std::optional(Refusal{ErrorCode::invalid_config, std::move(*why)}) : std::nullopt;
}

}  // namespace weir::metadata
