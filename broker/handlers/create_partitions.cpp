// CreatePartitions (key 37): the controller adds them (coordinator/metadata/plan_topics.cpp).
#include "protocol/gen/create_partitions.hpp"

#include "broker/handlers/handlers.hpp"
#include "broker/handlers/held_request.hpp"

namespace weir::broker {
using protocol::CreatePartitionsRequest;
using protocol::CreatePartitionsResponse;

void handle(RequestContext context, CreatePartitionsRequest request, Reply<CreatePartitionsResponse> reply) {
  const auto held = hold(std::move(context), std::move(request), std::move(reply));
  auto& controller = held->context.services.controller;
  controller.create_partitions(held->request, held->context.loop,
                               [held](const CreatePartitionsResponse& response) { held->reply(response); });
}

}  // namespace weir::broker
