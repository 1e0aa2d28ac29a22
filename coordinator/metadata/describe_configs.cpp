#include "coordinator/metadata/describe_configs.hpp"

#include "base/group_config.hpp"
#include "base/topic_config.hpp"
#include "coordinator/metadata/config_target.hpp"
#include "coordinator/metadata/logger_configs.hpp"
#include "coordinator/metadata/plan_parts.hpp"
#include "coordinator/metadata/topic_name.hpp"

namespace weir::metadata {

using protocol::DescribeConfigsRequest;
using protocol::DescribeConfigsResponse;
using protocol::ErrorCode;

namespace {

using Result = DescribeConfigsResponse::DescribeConfigsResult;

std::optional<protocol::Text> text_of(const std::optional<std::string>& value) {
  return value ? std::optional<protocol::Text>{*value} : std::nullopt;
}

// No keys at all, as null or as an empty list, means every key; a key that does not exist is just absent.
bool is_wanted(const DescribeConfigsRequest::DescribeConfigsResource& resource, std::string_view name) {
  const auto& keys = resource.configuration_keys;
  return !keys || keys->empty() || std::ranges::find(*keys, name, &protocol::Text::view) != keys->end();
}

void add_configs(Result& result, const DescribeConfigsRequest& request,
                 const DescribeConfigsRequest::DescribeConfigsResource& resource,
                 const std::vector<DescribedConfig>& described) {
  for (const auto& config : described) {
    if (!is_wanted(resource, config.name)) {
      continue;
    }
    auto& entry = result.configs.emplace_back();
    entry.name = config.name;
    entry.value = text_of(config.value);
    entry.read_only = config.read_only;
    entry.config_source = static_cast<std::int8_t>(config.source);
    entry.is_sensitive = config.sensitive;
    entry.config_type = static_cast<std::int8_t>(config.type);
    // The real node tells the empty words about a logger to everybody.
    const bool documented = request.include_documentation || config.source == ConfigSource::logger;
    entry.documentation = documented ? std::optional<protocol::Text>{config.doc} : std::nullopt;
    for (const auto& synonym : config.synonyms) {
      if (request.include_synonyms) {
        entry.synonyms.push_back({.name = synonym.name,
                                  .value = text_of(synonym.value),
                                  .source = static_cast<std::int8_t>(synonym.source),
                                  .unknown_tags = {}});
      }
    }
  }
}

Refusal invalid(std::string text) {
  return {ErrorCode::invalid_request, std::move(text)};
}

// Kafka's defaults, which every subscription has that nobody has made. This broker collects no metrics of clients, so
// nobody can make one.
std::vector<DescribedConfig> describe_client_metrics() {
  const auto one = [](std::string name, std::string value, ConfigType type, std::string doc) {
    return DescribedConfig{.name = std::move(name),
                           .value = std::move(value),
                           .source = ConfigSource::default_value,
                           .type = type,
                           .read_only = false,
                           .sensitive = false,
                           .synonyms = {},
                           .doc = std::move(doc)};
  };
  return {one("interval.ms", "300000", ConfigType::int32, "pause between two pushes of a client"),
          one("match", "", ConfigType::list, "which clients push"),
          one("metrics", "", ConfigType::list, "which metrics are pushed, by the beginning of their names")};
}

std::optional<Refusal> describe_one(const MetadataImage& image, const Config& broker, const Identity& identity,
                                    const DescribeConfigsRequest& request,
                                    const DescribeConfigsRequest::DescribeConfigsResource& resource, Result& result) {
  const auto name = resource.resource_name.view();
  switch (static_cast<ResourceType>(resource.resource_type)) {
    case ResourceType::topic: {
      if (auto why = refuse_topic_name(name)) {
        return Refusal{ErrorCode::invalid_topic_exception, std::move(*why)};
      }
      const auto& topic = image.find_topic(name);
      if (topic == nullptr) {
        return Refusal{ErrorCode::unknown_topic_or_partition, "There is no topic of this name."};
      }
      add_configs(result, request, resource, describe_topic_config(*topic->overrides, broker));
      return std::nullopt;
    }
    case ResourceType::broker:
      if (name.empty()) {
        add_configs(result, request, resource, broker.describe_for_all());
        return std::nullopt;
      }
      if (auto why = refuse_node(identity, name)) {
        return invalid(std::move(*why));
      }
      add_configs(result, request, resource, broker.describe());
      return std::nullopt;
    case ResourceType::broker_logger:
      if (auto why = refuse_node(identity, name)) {
        return invalid(std::move(*why));
      }
      add_configs(result, request, resource, describe_loggers());
      return std::nullopt;
    case ResourceType::client_metrics:
      if (name.empty()) {
        return invalid("A subscription to metrics of clients has a name.");
      }
      add_configs(result, request, resource, describe_client_metrics());
      return std::nullopt;
    case ResourceType::group:
      if (name.empty()) {
        return invalid("A group has a name.");
      }
      add_configs(result, request, resource,
                  describe_group_config(*image.overrides(ResourceType::group, name), broker));
      return std::nullopt;
  }
  return invalid("There is no resource type " + std::to_string(resource.resource_type) + ".");
}

}  // namespace

DescribeConfigsResponse describe_configs(const MetadataImage& image, const Config& broker, const Identity& identity,
                                         const DescribeConfigsRequest& request) {
  DescribeConfigsResponse response;
  for (const auto& resource : request.resources) {
    auto& result = response.results.emplace_back();
    result.resource_type = resource.resource_type;
    result.resource_name = resource.resource_name;
    result.error_message = protocol::Text{};  // empty on success, not null, as the real node
    if (auto refusal = describe_one(image, broker, identity, request, resource, result)) {
      refuse(result, std::move(*refusal));
    }
  }
  return response;
}

std::vector<protocol::CreateTopicsResponse::CreatableTopicConfigs> created_topic_configs(
    const ConfigOverrides& overrides, const Config& broker) {
  std::vector<protocol::CreateTopicsResponse::CreatableTopicConfigs> configs;
  for (const auto& config : describe_topic_config(overrides, broker)) {
    configs.push_back({.name = config.name,
                       .value = text_of(config.value),
                       .read_only = config.read_only,
                       .config_source = static_cast<std::int8_t>(config.source),
                       .is_sensitive = config.sensitive,
                       .unknown_tags = {}});
  }
  return configs;
}

}  // namespace weir::metadata
