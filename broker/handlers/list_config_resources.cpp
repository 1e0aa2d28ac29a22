// ListConfigResources (key 74): what DescribeConfigs can be asked about. Version 0, from when it listed subscriptions
// to metrics of clients only, has nothing to list here.
#include "protocol/gen/list_config_resources.hpp"

#include <set>

#include "broker/handlers/handlers.hpp"
#include "broker/partition_lookup.hpp"

namespace weir::broker {
namespace {
using metadata::ResourceType;
using protocol::ErrorCode;
using protocol::ListConfigResourcesRequest;
using protocol::ListConfigResourcesResponse;

constexpr std::int16_t kFirstWithTypes = 1;
// In the order in which a real 4.4.0 node lists them.
constexpr std::array kTypes = {ResourceType::group, ResourceType::client_metrics, ResourceType::broker_logger,
                               ResourceType::broker, ResourceType::topic};

// The types asked for, none being all; nullopt: one of them does not exist.
std::optional<std::set<ResourceType>> wanted_types(const RequestContext& context,
                                                   const ListConfigResourcesRequest& request) {
  if (context.api_version < kFirstWithTypes) {
    return std::set{ResourceType::client_metrics};
  }
  std::set<ResourceType> wanted;
  for (const auto number : request.resource_types) {
    const auto type = static_cast<ResourceType>(number);
    if (std::ranges::find(kTypes, type) == kTypes.end()) {
      return std::nullopt;
    }
    wanted.insert(type);
  }
  return wanted.empty() ? std::set(kTypes.begin(), kTypes.end()) : wanted;
}

// Topics all, groups only with configs of their own.
std::set<std::string> names_of(ResourceType type, const metadata::MetadataImage& image, std::int32_t node_id) {
  std::set<std::string> names;
  switch (type) {
    case ResourceType::topic:
      image.for_each_topic([&](const metadata::Topic& topic) { names.insert(topic.name); });
      break;
    case ResourceType::group:
      image.for_each_override([&](const metadata::ConfigResource& resource, const auto&, const auto&) {
        if (resource.type == ResourceType::group) {
          names.insert(resource.name);
        }
      });
      break;
    case ResourceType::broker:
    case ResourceType::broker_logger: names.insert(std::to_string(node_id)); break;
    case ResourceType::client_metrics: break;  // nobody can make one
  }
  return names;
}
}  // namespace

void handle(RequestContext context, ListConfigResourcesRequest request, Reply<ListConfigResourcesResponse> reply) {
  ListConfigResourcesResponse response;
  const auto wanted = wanted_types(context, request);
  if (!wanted) {
    response.error_code = wire(ErrorCode::unsupported_version);
    return reply(response);
  }
  const auto image = context.services.controller.image();
  for (const auto type : kTypes) {
    if (wanted->contains(type)) {
      for (const auto& name : names_of(type, *image, context.services.identity.node_id)) {
        response.config_resources.push_back({.resource_name = name, .resource_type = static_cast<std::int8_t>(type)});
      }
    }
  }
  reply(response);
}

}  // namespace weir::broker
