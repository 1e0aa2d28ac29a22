// ExplainGroup (key 19014, ours): how far groups have read, and why one does not move.
#include "protocol/gen/explain_group.hpp"

#include "broker/group_lag.hpp"
#include "broker/handlers/group_fields.hpp"
#include "broker/handlers/handlers.hpp"

namespace weir::broker {
namespace {
using protocol::ErrorCode;
using protocol::ExplainGroupRequest;
using protocol::ExplainGroupResponse;
using GroupAnswer = ExplainGroupResponse::ExplainedGroup;

void fill(GroupAnswer& answer, const GroupLag::Explained& explained, Millis wall_ms) {
  answer.error_code = wire(explained.error);
  const auto& facts = explained.standing.facts;
  answer.state = group::to_string(facts.state);
  if (explained.error != ErrorCode::none) {
    return;
  }
  answer.generation = facts.generation;
  answer.state_since_ms = facts.state_since_ms < 0 ? -1 : std::max<Millis>(wall_ms - facts.state_since_ms, 0);
  for (const auto& reason : explained.reasons) {
    answer.reasons.emplace_back(reason);
  }
  for (const auto& topic : explained.standing.topics) {
    auto& told = answer.topics.emplace_back();
    told.topic_name = topic.topic;
    for (const auto& part : topic.partitions) {
      auto& one = told.partitions.emplace_back();
      one.partition_index = part.partition;
      one.lag_state = static_cast<std::int8_t>(part.lag);
      one.committed_offset = part.committed;
      one.log_start_offset = part.log_start;
      one.high_watermark = part.high_watermark;
      one.records_behind = part.behind;
      one.commit_age_ms = part.commit_age_ms;
      one.still_ms = part.still_ms;
      if (part.member >= 0) {
        one.member_id = facts.members[static_cast<std::size_t>(part.member)].member_id;
      }
    }
  }
}

// One group after the other: many of them may not take the pool for themselves.
class Explaining : public std::enable_shared_from_this<Explaining> {
 public:
  Explaining(RequestContext context, ExplainGroupRequest request, Reply<ExplainGroupResponse> reply)
      : context_(std::move(context)), request_(std::move(request)), reply_(std::move(reply)) {}

  void next() {
    const auto at = response_.groups.size();
    if (at == request_.group_ids.size() || !reply_.wanted()) {
      return reply_(response_);
    }
    response_.groups.emplace_back().group_id = request_.group_ids[at];
    context_.services.lag.explain(
        request_.group_ids[at].str(), context_.loop, [self = shared_from_this()](const GroupLag::Explained& explained) {
          fill(self->response_.groups.back(), explained, self->context_.services.runtime.clock.wall_ms());
          self->next();
        });
  }

 private:
  RequestContext context_;
  const ExplainGroupRequest request_;
  Reply<ExplainGroupResponse> reply_;
  ExplainGroupResponse response_;
};

}  // namespace

void handle(RequestContext context, ExplainGroupRequest request, Reply<ExplainGroupResponse> reply) {
  std::make_shared<Explaining>(std::move(context), std::move(request), std::move(reply))->next();
}

}  // namespace weir::broker
