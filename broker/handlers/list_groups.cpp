// ListGroups (key 16): filters are words in any case; a word that names no state or type matches nothing.
#include "protocol/gen/list_groups.hpp"

#include "broker/handlers/group_fields.hpp"
#include "broker/handlers/handlers.hpp"

namespace weir::broker {
namespace {
using protocol::ListGroupsRequest;
using protocol::ListGroupsResponse;

constexpr std::string_view kClassic = "classic";

std::string lower(std::string_view text) {
  std::string made{text};
  std::ranges::transform(made, made.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

bool matches(const std::vector<std::string>& filter, std::string_view word) {
  return filter.empty() || std::ranges::find(filter, word) != filter.end();
}

std::vector<std::string> lowered(const std::vector<protocol::Text>& words) {
  std::vector<std::string> made;
  for (const auto& word : words) {
    made.push_back(lower(word.view()));
  }
  return made;
}

}  // namespace

void handle(RequestContext context, ListGroupsRequest request, Reply<ListGroupsResponse> reply) {
  context.services.groups.list(
      context.loop, [reply = std::move(reply), states = lowered(request.states_filter),
                     types = lowered(request.types_filter)](const GroupService::Listed& listed) mutable {
        ListGroupsResponse response;
        response.error_code = wire(listed.error);
        if (listed.error != group::ErrorCode::none) {
          return reply(response);
        }
        for (const auto& one : listed.groups) {
          if (matches(states, lower(group::to_string(one.state))) && matches(types, kClassic)) {
            response.groups.push_back({.group_id = one.group_id,
                                       .protocol_type = one.protocol_type,
                                       .group_state = group::to_string(one.state),
                                       .group_type = kClassic});
          }
        }
        reply(response);
      });
}

}  // namespace weir::broker
