// DeleteGroups (key 42): empty groups go, with all their offsets; each is answered when that is durable.
#include "protocol/gen/delete_groups.hpp"

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
  for (const auto& id : request.groups_names) {
    deletion->response.results.emplace_back().group_id = id;
  }
  for (std::size_t i = 0; i < request.groups_names.size(); ++i) {
    ++deletion->unanswered;
    context.services.groups.delete_group(request.groups_names[i].str(), context.loop,
                                         [deletion, i](const group::DeleteGroupAnswer& answer) {
                                           deletion->response.results[i].error_code = wire(answer.error);
                                           deletion->answered();
                                         });
  }
  deletion->answered();
}

}  // namespace weir::broker
