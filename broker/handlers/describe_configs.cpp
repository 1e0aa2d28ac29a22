// DescribeConfigs (key 32): what topics and this broker are configured with, and where each value comes from.
#include "coordinator/metadata/describe_configs.hpp"

#include "broker/handlers/handlers.hpp"
#include "protocol/gen/describe_configs.hpp"

namespace weir::broker {
using protocol::DescribeConfigsRequest;
using protocol::DescribeConfigsResponse;

void handle(RequestContext context, DescribeConfigsRequest request, Reply<DescribeConfigsResponse> reply) {
  const auto& services = context.services;
  reply(metadata::describe_configs(*services.controller.image(), services.config, services.identity, request));
}

}  // namespace weir::broker
