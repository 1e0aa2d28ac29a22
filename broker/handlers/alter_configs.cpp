// AlterConfigs (key 33): replaces the whole set of overrides of topics, brokers and groups
// (coordinator/metadata/plan_configs.cpp).
#include "protocol/gen/alter_configs.hpp"

#include "broker/handlers/handlers.hpp"
#include "broker/handlers/held_request.hpp"

namespace weir::broker {
using protocol::AlterConfigsRequest;
using protocol::AlterConfigsResponse;

void handle(RequestContext context, AlterConfigsRequest request, Reply<AlterConfigsResponse> reply) {
  const auto held = hold(std::move(context), std::move(request), std::move(reply));
  auto& controller = held->context.services.controller;
  controller.alter_configs(held->request, held->context.loop,
                           [held](const AlterConfigsResponse& response) { held->reply(response); });
}

}  // namespace weir::broker
