// FindCoordinator (key 10): one node coordinates everything. Groups are served; transactions (type 1) and share groups
// (type 2) are not yet, and say so. The first use makes `__consumer_offsets`; until it is there clients hear 15 and ask
// again.
#include "protocol/gen/find_coordinator.hpp"

#include "broker/advertised.hpp"
#include "broker/group_service.hpp"
#include "broker/handlers/handlers.hpp"
#include "protocol/errors.hpp"

namespace weir::broker {
namespace {
using protocol::ErrorCode;
using protocol::FindCoordinatorRequest;
using protocol::FindCoordinatorResponse;
using protocol::wire;
using Coordinator = FindCoordinatorResponse::Coordinator;

constexpr std::int16_t kFirstBatchVersion = 4;
constexpr std::int8_t kGroup = 0;

Coordinator refused(const protocol::Text& key, ErrorCode code, std::string_view message) {
  return {.key = key, .node_id = -1, .port = -1, .error_code = wire(code), .error_message = message};
}

Coordinator find(const RequestContext& context, std::int8_t type, const protocol::Text& key, bool without_topic) {
  if (type != kGroup) {
    return refused(key, ErrorCode::invalid_request,
                   type == 1   ? "transactions are not served yet"
                   : type == 2 ? "share groups are not served yet"
                               : "unknown coordinator type");
  }
  if (without_topic) {
    return refused(key, ErrorCode::coordinator_not_available, "the topic of committed offsets is being made");
  }
  const auto& endpoint = advertised_endpoint(context);
  return {.key = key, .node_id = context.services.identity.node_id, .host = endpoint.host, .port = endpoint.port};
}

// Makes the topic of committed offsets, once for a request however many groups it names. False: it is there already.
bool make_offsets_topic(RequestContext& context) {
  auto& controller = context.services.controller;
  if (controller.image()->find_topic(metadata::kOffsetsTopic)) {
    return false;
  }
  controller.auto_create(
      {std::string{metadata::kOffsetsTopic}}, context.loop,
      [&groups = context.services.groups](const std::vector<metadata::AutoCreateResult>&) {
        groups.start();  // all partitions at once: ListGroups must not find one that nobody asked for
      });
  return true;
}

}  // namespace

void handle(RequestContext context, FindCoordinatorRequest request, Reply<FindCoordinatorResponse> reply) {
  FindCoordinatorResponse response;
  const bool without_topic = request.key_type == kGroup && make_offsets_topic(context);
  if (context.api_version >= kFirstBatchVersion) {
    for (const auto& key : request.coordinator_keys) {
      response.coordinators.push_back(find(context, request.key_type, key, without_topic));
    }
    return reply(response);
  }
  const auto found = find(context, request.key_type, request.key, without_topic);
  response.error_code = found.error_code;
  response.error_message =
      found.error_code == 0 ? "NONE" : found.error_message;  // Kafka's word, in these versions only
  response.node_id = found.node_id;
  response.host = found.host;
  response.port = found.port;
  reply(response);
}

}  // namespace weir::broker
