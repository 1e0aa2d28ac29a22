// DescribeConfigs (key 32): what topics, this broker, its loggers and groups are configured with, and where each value
// comes from.
#include "coordinator/metadata/describe_configs.hpp"

#include "broker/handlers/handlers.hpp"
#include "protocol/gen/describe_configs.hpp"

namespace weir::broker {
using protocol::DescribeConfigsRequest;
using protocol::DescribeConfigsResponse;

void handle(RequestContext context, DescribeConfigsRequest request, Reply<DescribeConfigsResponse> reply) {
  // Ten thousand topics have half a million configs: not on an io loop.
  context.services.runtime.pool.post(
      [context = std::move(context), request = std::move(request), reply = std::move(reply)]() mutable {
        const auto& services = context.services;
        auto response = metadata::describe_configs(*services.controller.image(), *services.effective.current(),
                                                   services.identity, request);
        auto& loop = context.loop;
        loop.post([context = std::move(context), response = std::move(response), reply = std::move(reply)]() mutable {
          reply(response);
        });
      });
}

}  // namespace weir::broker
