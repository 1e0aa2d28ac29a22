// CreateTopics (key 19): the controller checks and makes them (coordinator/metadata/plan_topics.cpp).
#include "protocol/gen/create_topics.hpp"

#include "broker/handlers/handlers.hpp"
#include "broker/handlers/held_request.hpp"

namespace weir::broker {
using protocol::CreateTopicsRequest;
using protocol::CreateTopicsResponse;

void handle(RequestContext context, CreateTopicsRequest request, Reply<CreateTopicsResponse> reply) {
  const auto held = hold(std::move(context), std::move(request), std::move(reply));
  auto& controller = held->context.services.controller;
  controller.create_topics(held->request, held->context.loop,
                           [held](const CreateTopicsResponse& response) { held->reply(response); });
}

}  // namespace weir::broker
