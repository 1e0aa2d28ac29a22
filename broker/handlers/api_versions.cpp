// ApiVersions (key 18): what this broker serves. The one API that answers a version it does not know: body version 0,
// error 35, and the range of ApiVersions itself, so that the client asks again.
#include "protocol/gen/api_versions.hpp"

#include "broker/dispatch.hpp"
#include "broker/handlers/handlers.hpp"
#include "broker/partition_lookup.hpp"

namespace weir::broker {
using protocol::ApiVersionsRequest;
using protocol::ApiVersionsResponse;
using protocol::ErrorCode;

namespace {
constexpr std::int16_t kFirstWithSoftware = 3;
constexpr std::int16_t kFirstWithIdentity = 5;
constexpr std::int32_t kNoNode = -1;
constexpr std::int16_t kFirstWithZeroFeatures = 4;  // version 3 cannot say a minimum of 0

// Letters, digits, '.' and '-', beginning and ending with a letter or digit (KIP-511).
bool software_text_ok(std::string_view text) {
  const auto alphanumeric = [](char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); };
  return !text.empty() && alphanumeric(text.front()) && alphanumeric(text.back()) &&
         std::ranges::all_of(text, [&](char c) { return alphanumeric(c) || c == '.' || c == '-'; });
}

ErrorCode check(const RequestContext& context, const ApiVersionsRequest& request) {
  if (context.api_version >= kFirstWithSoftware &&
      (!software_text_ok(request.client_software_name) || !software_text_ok(request.client_software_version))) {
    return ErrorCode::invalid_request;
  }
  if (context.api_version < kFirstWithIdentity) {
    return ErrorCode::none;
  }
  const auto& identity = context.services.identity;
  // Cluster and node are named together or not at all.
  if (request.cluster_id.has_value() != (request.node_id != kNoNode)) {
    return ErrorCode::invalid_request;
  }
  const bool is_meant =
      !request.cluster_id || (request.cluster_id->view() == identity.cluster_id && request.node_id == identity.node_id);
  return is_meant ? ErrorCode::none : ErrorCode::rebootstrap_required;
}

void add_features(ApiVersionsResponse& response, const metadata::MetadataImage& image, const RequestContext& context) {
  const auto broker = image.brokers().find(context.services.identity.node_id);
  if (broker != image.brokers().end()) {
    for (const auto& [name, range] : broker->second.features) {
      if (range.min == 0 && context.api_version < kFirstWithZeroFeatures) {
        continue;
      }
      response.supported_features.push_back({.name = name, .min_version = range.min, .max_version = range.max});
    }
  }
  response.finalized_features_epoch = image.end_offset().value - 1;
  for (const auto& [name, level] : image.features()) {
    response.finalized_features.push_back({.name = name, .max_version_level = level, .min_version_level = level});
  }
}
}  // namespace

void handle(RequestContext context, ApiVersionsRequest request, Reply<ApiVersionsResponse> reply) {
  ApiVersionsResponse response;
  if (context.api_version < ApiVersionsRequest::kMinVersion || context.api_version > ApiVersionsRequest::kMaxVersion) {
    response.error_code = wire(ErrorCode::unsupported_version);
    response.api_keys.push_back(
        {ApiVersionsRequest::kApiKey, ApiVersionsRequest::kMinVersion, ApiVersionsRequest::kMaxVersion, {}});
    return reply.in_version(response, 0);
  }
  if (const auto code = check(context, request); code != ErrorCode::none) {
    response.error_code = wire(code);
    return reply(response);
  }
  for (const auto& api : served_apis()) {
    response.api_keys.push_back({api.key, api.advertised_min, api.version_max, {}});
  }
  add_features(response, *context.services.controller.image(), context);
  reply(response);
}

}  // namespace weir::broker
