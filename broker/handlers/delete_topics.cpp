// DeleteTopics (key 20): by name, from version 6 by id too; the controller removes them.
#include "protocol/gen/delete_topics.hpp"

#include "broker/handlers/handlers.hpp"
#include "broker/handlers/held_request.hpp"
#include "broker/partition_lookup.hpp"

namespace weir::broker {
using protocol::DeleteTopicsRequest;
using protocol::DeleteTopicsResponse;
using protocol::ErrorCode;

namespace {
constexpr std::int16_t kFirstWithDeletionDisabled = 3;  // older clients do not know error 73
}

void handle(RequestContext context, DeleteTopicsRequest request, Reply<DeleteTopicsResponse> reply) {
  const auto held = hold(std::move(context), std::move(request), std::move(reply));
  auto& controller = held->context.services.controller;
  controller.delete_topics(held->request, held->context.loop, [held](DeleteTopicsResponse response) {
    for (auto& topic : response.responses) {
      if (topic.error_code == wire(ErrorCode::topic_deletion_disabled) &&
          held->context.api_version < kFirstWithDeletionDisabled) {
        topic.error_code = wire(ErrorCode::invalid_request);
      }
    }
    held->reply(response);
  });
}

}  // namespace weir::broker
