// DescribeGroups (key 15): classic groups. An unknown one is Dead, which is an error only from version 6 on.
#include "protocol/gen/describe_groups.hpp"

#include "broker/advertised.hpp"
#include "broker/handlers/group_fields.hpp"
#include "broker/handlers/handlers.hpp"

namespace weir::broker {
namespace {
using protocol::DescribeGroupsRequest;
using protocol::DescribeGroupsResponse;
using protocol::ErrorCode;
using GroupAnswer = DescribeGroupsResponse::DescribedGroup;

constexpr std::int16_t kFirstWithOperations = 3;
constexpr std::int16_t kFirstWithNotFound = 6;

struct Description {
  explicit Description(Reply<DescribeGroupsResponse> answer_to) : reply(std::move(answer_to)) {}
  Reply<DescribeGroupsResponse> reply;
  DescribeGroupsResponse response;
  std::size_t unanswered = 1;
  void answered() {
    if (--unanswered == 0) {
      reply(response);
    }
  }
};

void fill(GroupAnswer& answer, const GroupService::Described& described, std::int16_t version, bool with_operations) {
  answer.error_code = wire(described.error);
  if (described.error != ErrorCode::none) {
    return;
  }
  const auto& facts = described.facts;
  answer.group_state = group::to_string(facts.state);
  if (!facts.found) {
    if (version >= kFirstWithNotFound) {
      answer.error_code = wire(ErrorCode::group_id_not_found);
      answer.error_message = "Group " + answer.group_id.str() + " not found.";
    } else if (with_operations) {
      answer.authorized_operations = kAllGroupOperations;
    }
    return;
  }
  answer.protocol_type = facts.protocol_type;
  answer.protocol_data = facts.protocol_name;
  if (with_operations) {
    answer.authorized_operations = kAllGroupOperations;
  }
  for (const auto& member : facts.members) {
    auto& one = answer.members.emplace_back();
    one.member_id = member.member_id;
    one.group_instance_id = text_of(member.instance_id);
    one.client_id = member.client_id;
    one.client_host = member.client_host;
    one.member_metadata = member.metadata.view();
    one.member_assignment = member.assignment.view();
  }
}

}  // namespace

void handle(RequestContext context, DescribeGroupsRequest request, Reply<DescribeGroupsResponse> reply) {
  const auto description = std::make_shared<Description>(std::move(reply));
  const auto version = context.api_version;
  const bool with_operations = version >= kFirstWithOperations && request.include_authorized_operations;
  for (const auto& id : request.groups) {
    description->response.groups.emplace_back().group_id = id;
  }
  for (std::size_t i = 0; i < request.groups.size(); ++i) {
    ++description->unanswered;
    context.services.groups.describe(
        request.groups[i].str(), context.loop,
        [description, i, version, with_operations](const GroupService::Described& described) {
          fill(description->response.groups[i], described, version, with_operations);
          description->answered();
        });
  }
  description->answered();
}

}  // namespace weir::broker
