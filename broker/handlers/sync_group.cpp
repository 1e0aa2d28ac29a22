// SyncGroup (key 14): the leader brings the assignments; everybody gets his own when their record is durable.
#include "protocol/gen/sync_group.hpp"

#include "broker/handlers/group_fields.hpp"
#include "broker/handlers/handlers.hpp"

namespace weir::broker {
namespace {
using protocol::SyncGroupRequest;
using protocol::SyncGroupResponse;

constexpr std::int16_t kFirstWithProtocol = 5;
}  // namespace

void handle(RequestContext context, SyncGroupRequest request, Reply<SyncGroupResponse> reply) {
  if (context.api_version >= kFirstWithProtocol && (!request.protocol_type || !request.protocol_name)) {
    return reply({.error_code = wire(protocol::ErrorCode::inconsistent_group_protocol)});
  }
  group::SyncRequest event;
  event.group_id = request.group_id.str();
  event.member_id = request.member_id.str();
  event.instance_id = string_of(request.group_instance_id);
  event.generation = request.generation_id;
  event.protocol_type = string_of(request.protocol_type);
  event.protocol_name = string_of(request.protocol_name);
  for (const auto& one : request.assignments) {
    event.assignments.push_back({one.member_id.str(), bytes_of(one.assignment)});
  }
  reply.return_memory();  // the event is a copy, and the answer waits for the leader's
  context.services.groups.sync(std::move(event), context.loop,
                               [reply = std::move(reply)](const group::SyncAnswer& answer) mutable {
                                 SyncGroupResponse response;
                                 response.error_code = wire(answer.error);
                                 response.protocol_type = text_of(answer.protocol_type);
                                 response.protocol_name = text_of(answer.protocol_name);
                                 response.assignment = protocol::Blob::borrow(answer.assignment.view());
                                 reply(response);
                               });
}

}  // namespace weir::broker
