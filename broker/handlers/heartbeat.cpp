// Heartbeat (key 12): keeps a member's session; 27 tells it to join again.
#include "protocol/gen/heartbeat.hpp"

#include "broker/handlers/group_fields.hpp"
#include "broker/handlers/handlers.hpp"

namespace weir::broker {
using protocol::HeartbeatRequest;
using protocol::HeartbeatResponse;

void handle(RequestContext context, HeartbeatRequest request, Reply<HeartbeatResponse> reply) {
  group::Sender sender{request.member_id.str(), string_of(request.group_instance_id), request.generation_id};
  context.services.groups.heartbeat(
      request.group_id.str(), std::move(sender), context.loop,
      [reply = std::move(reply)](protocol::ErrorCode error) mutable { reply({.error_code = wire(error)}); });
}

}  // namespace weir::broker
