// DescribeCluster (key 60): identity and brokers. Controllers are not to be seen from a broker's listener (114).
#include "protocol/gen/describe_cluster.hpp"

#include "broker/advertised.hpp"
#include "broker/handlers/handlers.hpp"
#include "broker/partition_lookup.hpp"

namespace weir::broker {
using protocol::DescribeClusterRequest;
using protocol::DescribeClusterResponse;
using protocol::ErrorCode;

namespace {
constexpr std::int8_t kBrokers = 1;
constexpr std::int8_t kControllers = 2;
}  // namespace

void handle(RequestContext context, DescribeClusterRequest request, Reply<DescribeClusterResponse> reply) {
  DescribeClusterResponse response;
  if (request.endpoint_type != kBrokers) {
    const bool controllers = request.endpoint_type == kControllers;
    response.error_code =
        wire(controllers ? ErrorCode::mismatched_endpoint_type : ErrorCode::unsupported_endpoint_type);
    response.error_message = controllers
                                 ? "This listener is a broker's; ask a controller for controllers."
                                 : "Endpoint type " + std::to_string(request.endpoint_type) + " does not exist.";
    return reply(response);
  }
  const auto& identity = context.services.identity;
  const auto& endpoint = advertised_endpoint(context);
  response.cluster_id = identity.cluster_id;
  response.controller_id = identity.node_id;
  response.brokers.push_back(
      {.broker_id = identity.node_id, .host = endpoint.host, .port = endpoint.port, .rack = rack_of(context)});
  if (request.include_cluster_authorized_operations) {
    response.cluster_authorized_operations = kAllClusterOperations;
  }
  reply(response);
}

}  // namespace weir::broker
