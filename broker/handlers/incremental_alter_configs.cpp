// IncrementalAlterConfigs (key 44): changes what it names (coordinator/metadata/plan_configs.cpp), and the levels of
// loggers, which are no metadata.
#include "protocol/gen/incremental_alter_configs.hpp"

#include "broker/handlers/handlers.hpp"
#include "broker/handlers/held_request.hpp"
#include "coordinator/metadata/logger_configs.hpp"

namespace weir::broker {
using protocol::IncrementalAlterConfigsRequest;
using protocol::IncrementalAlterConfigsResponse;

void handle(RequestContext context, IncrementalAlterConfigsRequest request,
            Reply<IncrementalAlterConfigsResponse> reply) {
  const auto held = hold(std::move(context), std::move(request), std::move(reply));
  auto& controller = held->context.services.controller;
  controller.incremental_alter_configs(held->request, held->context.loop,
                                       [held](const IncrementalAlterConfigsResponse& response) {
                                         metadata::set_logger_levels(held->request, response);
                                         held->reply(response);
                                       });
}

}  // namespace weir::broker
