// LeaveGroup (key 13): one member up to version 2, a list from version 3 on (an admin may name static members only).
#include "protocol/gen/leave_group.hpp"

#include "broker/handlers/group_fields.hpp"
#include "broker/handlers/handlers.hpp"

namespace weir::broker {
namespace {
using protocol::LeaveGroupRequest;
using protocol::LeaveGroupResponse;

constexpr std::int16_t kFirstWithList = 3;

LeaveGroupResponse to_response(const group::LeaveAnswer& answer, std::int16_t version) {
  LeaveGroupResponse response;
  response.error_code = wire(answer.error);
  for (const auto& member : answer.members) {
    if (version < kFirstWithList) {
      response.error_code = wire(member.error);
      break;
    }
    response.members.push_back({.member_id = member.member_id,
                                .group_instance_id = text_of(member.instance_id),
                                .error_code = wire(member.error)});
  }
  return response;
}

}  // namespace

void handle(RequestContext context, LeaveGroupRequest request, Reply<LeaveGroupResponse> reply) {
  group::LeaveRequest event;
  event.group_id = request.group_id.str();
  if (context.api_version < kFirstWithList) {
    event.members.push_back({request.member_id.str(), {}, ""});
  }
  for (const auto& member : request.members) {
    event.members.push_back(
        {member.member_id.str(), string_of(member.group_instance_id), member.reason ? member.reason->str() : ""});
  }
  context.services.groups.leave(std::move(event), context.loop,
                                [reply = std::move(reply), version = context.api_version](
                                    const group::LeaveAnswer& answer) mutable { reply(to_response(answer, version)); });
}

}  // namespace weir::broker
