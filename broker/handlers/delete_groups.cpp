// DeleteGroups (key 42): empty groups go, with all their offsets; each is answered when that is durable.
#include "protocol/gen/delete_groups.hpp"

#include <set>

#include "broker/handlers/group_fields.hpp"
#include "broker/handlers/handlers.hpp"

namespace weir::broker {
namespace {
using protocol::DeleteGroupsRequest;
using protocol::DeleteGroupsResponse;

struct Deletion {
  explicit Deletion(Reply<DeleteGroupsResponse> answer_to) : reply(std::move(answer_to)) {}
  Reply<DeleteGroupsResponse> reply;
  DeleteGroupsResponse response;
  std::size_t unanswered = 1;
  void answered() {
    if (--unanswered == 0) {
      reply(response);
    }
  }
};

}  // namespace

void handle(RequestContext context, DeleteGroupsRequest request, Reply<DeleteGroupsResponse> reply) {
  const auto deletion = std::make_shared<Deletion>(std::move(reply));
  std::set<std::string_view> named;
  for (const auto& id : request.groups_names) {
    if (named.insert(id.view()).second) {  // a group that is named twice is answered once
      deletion->response.results.emplace_back().group_id = id;
    }
  }
  for (std::size_t i = 0; i < deletion->response.results.size(); ++i) {
    ++deletion->unanswered;
    context.services.groups.delete_group(deletion->response.results[i].group_id.str(), context.loop,
                                         [deletion, i](const group::DeleteGroupAnswer& answer) {
                                           deletion->response.results[i].error_code = wire(answer.error);
                                           deletion->answered();
                                         });
  }
  deletion->answered();
}

}  // namespace weir::broker
