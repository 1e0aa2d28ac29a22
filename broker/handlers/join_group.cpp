// JoinGroup (key 11). The answer waits until the rebalance is over.
#include "protocol/gen/join_group.hpp"

#include "broker/handlers/group_fields.hpp"
#include "broker/handlers/handlers.hpp"

namespace weir::broker {
namespace {
using protocol::JoinGroupRequest;
using protocol::JoinGroupResponse;

constexpr std::int16_t kFirstWithRebalanceTimeout = 1;
constexpr std::int16_t kFirstWithKnownMember = 4;
constexpr std::int16_t kFirstWithNullProtocol = 7;
constexpr std::int16_t kFirstWithSkipAssignment = 9;

group::JoinRequest to_event(const RequestContext& context, const JoinGroupRequest& request) {
  group::JoinRequest event;
  event.group_id = request.group_id.str();
  event.member_id = request.member_id.str();
  event.instance_id = string_of(request.group_instance_id);
  event.client_id = context.client_id.value_or("");
  event.client_host = "/" + context.endpoints->remote.host;  // as Java prints an address
  event.session_timeout_ms = request.session_timeout_ms;
  event.rebalance_timeout_ms =
      context.api_version < kFirstWithRebalanceTimeout ? request.session_timeout_ms : request.rebalance_timeout_ms;
  event.protocol_type = request.protocol_type.str();
  for (const auto& protocol : request.protocols) {
    event.protocols.push_back({protocol.name.str(), bytes_of(protocol.metadata)});
  }
  event.reason = request.reason ? request.reason->str() : "";
  event.member_id_required = context.api_version >= kFirstWithKnownMember;
  event.can_skip_assignment = context.api_version >= kFirstWithSkipAssignment;
  return event;
}

JoinGroupResponse to_response(const group::JoinAnswer& answer, std::int16_t version) {
  JoinGroupResponse response;
  response.error_code = wire(answer.error);
  response.generation_id = answer.generation;
  response.protocol_type = text_of(answer.protocol_type);
  response.protocol_name = text_of(answer.protocol_name);
  if (version < kFirstWithNullProtocol && !response.protocol_name) {
    response.protocol_name = "";
  }
  response.leader = answer.leader;
  response.skip_assignment = version >= kFirstWithSkipAssignment && answer.skip_assignment;
  response.member_id = answer.member_id;
  for (const auto& member : answer.members) {
    response.members.push_back({.member_id = member.member_id,
                                .group_instance_id = text_of(member.instance_id),
                                .metadata = protocol::Blob::borrow(member.metadata.view())});
  }
  return response;
}

}  // namespace

void handle(RequestContext context, JoinGroupRequest request, Reply<JoinGroupResponse> reply) {
  reply.return_memory();  // the event is a copy, and the answer may wait for as long as a rebalance takes
  context.services.groups.join(to_event(context, request), context.loop,
                               [reply = std::move(reply), version = context.api_version](
                                   const group::JoinAnswer& answer) mutable { reply(to_response(answer, version)); });
}

}  // namespace weir::broker
