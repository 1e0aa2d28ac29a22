#include "coordinator/group.hpp"

#include "base/check.hpp"

namespace weir::group {

std::string_view to_string(GroupState state) {
  switch (state) {
    case GroupState::empty: return "Empty";
    case GroupState::preparing_rebalance: return "PreparingRebalance";
    case GroupState::completing_rebalance: return "CompletingRebalance";
    case GroupState::stable: return "Stable";
    case GroupState::dead: return "Dead";
  }
  return "Dead";
}

Group::Group(std::string id, const GroupConfig& config, Random& random, Now now)
    : id_(std::move(id)), config_(config), random_(random), state_since_ms_(now.wall_ms) {}

Group::Group(std::string id, const GroupConfig& config, Random& random, const GroupValue& value)
    : id_(std::move(id)),
      config_(config),
      random_(random),
      state_(value.members.empty() ? GroupState::empty : GroupState::stable),
      previous_state_(state_),
      state_since_ms_(value.state_since_ms),
      generation_(value.generation),
      protocol_type_(value.protocol_type),
      protocol_name_(value.protocol),
      leader_(value.leader) {
  for (const auto& said : value.members) {
    Member member;
    member.member_id = said.member_id;
    member.instance_id = said.instance_id;
    member.client_id = said.client_id;
    member.client_host = said.client_host;
    member.session_timeout_ms = said.session_timeout_ms;
    // Records of the oldest version name no rebalance timeout.
    member.rebalance_timeout_ms = said.rebalance_timeout_ms < 0 ? said.session_timeout_ms : said.rebalance_timeout_ms;
    member.protocols.push_back({value.protocol.value_or(""), said.subscription});
    member.assignment = said.assignment;
    if (member.instance_id) {
      static_members_[*member.instance_id] = member.member_id;
    }
    count_protocols(member, 1);
    members_.insert_or_assign(said.member_id, std::move(member));
  }
  subscribed_ = read_subscriptions();
}

void Group::start_sessions(Now now, GroupEffects& out) {
  for (auto& [id, member] : members_) {
    keep_alive(member, now);
  }
  if (std::ssize(members_) > config_.group_size_max) {
    prepare_rebalance("it was loaded with more members than group.max.size allows", now, out);
  }
}

ErrorCode Group::check_member(const std::string& member_id, const std::optional<std::string>& instance_id) const {
  if (instance_id) {
    const auto known = static_members_.find(*instance_id);
    if (known == static_members_.end()) {
      return ErrorCode::unknown_member_id;
    }
    if (known->second != member_id) {
      return ErrorCode::fenced_instance_id;
    }
  }
  return members_.contains(member_id) ? ErrorCode::none : ErrorCode::unknown_member_id;
}

ErrorCode Group::heartbeat(const Sender& sender, Now now) {
  if (state_ == GroupState::dead) {
    return ErrorCode::coordinator_not_available;
  }
  if (const auto error = check_member(sender.member_id, sender.instance_id); error != ErrorCode::none) {
    return error;
  }
  if (sender.generation != generation_) {
    return ErrorCode::illegal_generation;
  }
  if (state_ == GroupState::empty) {
    return ErrorCode::unknown_member_id;
  }
  auto& member = members_.at(sender.member_id);
  member.heard_ms = now.monotonic_ms;
  keep_alive(member, now);
  return state_ == GroupState::preparing_rebalance ? ErrorCode::rebalance_in_progress : ErrorCode::none;
}

ErrorCode Group::commit(const Sender& sender, Now now) {
  if (state_ == GroupState::dead) {
    return ErrorCode::coordinator_not_available;
  }
  if (sender.generation < 0 && state_ == GroupState::empty) {
    return ErrorCode::none;  // an admin, or a consumer that only stores its offsets here
  }
  if (sender.generation < 0 && sender.member_id.empty() && !sender.instance_id) {
    return ErrorCode::unknown_member_id;
  }
  if (const auto error = check_member(sender.member_id, sender.instance_id); error != ErrorCode::none) {
    return error;
  }
  if (sender.generation != generation_) {
    return ErrorCode::illegal_generation;
  }
  if (state_ == GroupState::completing_rebalance) {
    return ErrorCode::rebalance_in_progress;
  }
  auto& member = members_.at(sender.member_id);
  member.heard_ms = now.monotonic_ms;
  keep_alive(member, now);
  return ErrorCode::none;
}

LeaveAnswer Group::leave(const std::vector<LeavingMember>& leaving, Now now, GroupEffects& out) {
  if (state_ == GroupState::dead) {
    return {.error = ErrorCode::coordinator_not_available};
  }
  LeaveAnswer answer;
  std::string gone;
  for (const auto& one : leaving) {
    auto error = ErrorCode::none;
    auto member_id = one.member_id;
    if (member_id.empty()) {  // an administrator names the instance only
      const auto known = one.instance_id ? static_members_.find(*one.instance_id) : static_members_.end();
      if (known == static_members_.end()) {
        error = ErrorCode::unknown_member_id;
      } else {
        member_id = known->second;
      }
    } else if (!pending_.contains(member_id)) {
      error = check_member(member_id, one.instance_id);
    }
    if (error == ErrorCode::none) {
      remove_member(member_id, one.reason.empty() ? "it said goodbye" : "it said goodbye: " + one.reason, now, out);
      gone += (gone.empty() ? "" : ", ") + member_id + (one.reason.empty() ? "" : " (" + one.reason + ")");
    }
    answer.members.push_back({one.member_id, one.instance_id, error});
  }
  if (!gone.empty()) {
    after_removal("left: " + gone, now, out);
  }
  return answer;
}

void Group::remove_member(const std::string& member_id, const std::string& reason, Now now, GroupEffects& out) {
  pending_.erase(member_id);
  pending_sync_.erase(member_id);
  const auto found = members_.find(member_id);
  if (found == members_.end()) {
    return;
  }
  auto& member = found->second;
  // A member that still waits is told to begin again, should it be alive after all.
  answer_join(member, {.error = ErrorCode::unknown_member_id, .member_id = member_id}, out);
  answer_sync(member, {.error = ErrorCode::unknown_member_id}, out);
  count_protocols(member, -1);
  if (member.instance_id) {
    static_members_.erase(*member.instance_id);
  }
  last_departure_ = {now.monotonic_ms, member_id, reason.substr(0, kReasonBytesMax)};
  const bool was_leader = is_leader(member_id);
  members_.erase(found);
  if (was_leader) {
    leader_ = members_.empty() ? std::nullopt : std::optional{members_.begin()->first};
  }
}

void Group::after_removal(const std::string& reason, Now now, GroupEffects& out) {
  switch (state_) {
    case GroupState::stable:
    case GroupState::completing_rebalance: return prepare_rebalance(reason, now, out);
    case GroupState::preparing_rebalance: return complete_join_if_all_there(now, out);
    case GroupState::empty:
    case GroupState::dead: return;
  }
}

void Group::session_over(const std::string& member_id, Now now, GroupEffects& out) {
  if (pending_.contains(member_id)) {
    pending_.erase(member_id);
    if (state_ == GroupState::preparing_rebalance) {
      complete_join_if_all_there(now, out);
    }
    return;
  }
  auto& member = members_.at(member_id);
  if (!member.is_new && (member.join_ticket || member.sync_ticket)) {
    member.session_deadline = kNever;  // it waits for us: its session starts again with the answer
    return;
  }
  remove_member(member_id, "it did not heartbeat in its session timeout", now, out);
  after_removal("member " + member_id + " did not heartbeat in its session timeout", now, out);
}

void Group::tick(Now now, GroupEffects& out) {
  while (true) {
    const auto session = session_queue_.empty() ? kNever : session_queue_.begin()->first;
    const auto due = std::min({join_deadline_, sync_deadline_, session});
    if (due > now.monotonic_ms || due == kNever) {
      return;
    }
    if (due == join_deadline_) {
      join_deadline_ = kNever;
      initial_delay_ ? initial_delay_over(now, out) : complete_join(now, out);
    } else if (due == sync_deadline_) {
      sync_deadline_ = kNever;
      sync_time_over(now, out);
    } else {
      const auto member_id = session_queue_.begin()->second;
      session_queue_.erase(session_queue_.begin());
      auto* deadline = static_cast<Millis*>(nullptr);
      auto* queued = static_cast<Millis*>(nullptr);
      if (const auto pending = pending_.find(member_id); pending != pending_.end()) {
        deadline = &pending->second.session_deadline;
        queued = &pending->second.queued_deadline;
      } else if (const auto member = members_.find(member_id); member != members_.end()) {
        deadline = &member->second.session_deadline;
        queued = &member->second.queued_deadline;
      }
      if (queued == nullptr || *queued != due) {
        continue;  // an entry that no longer counts
      }
      *queued = kNever;
      if (*deadline <= now.monotonic_ms) {
        session_over(member_id, now, out);
      } else if (*deadline != kNever) {  // it has heartbeat meanwhile
        *queued = *deadline;
        queue_deadline(*deadline, member_id);
      }
    }
  }
}

Millis Group::next_deadline() const {
  const auto session = session_queue_.empty() ? kNever : session_queue_.begin()->first;
  return std::min({join_deadline_, sync_deadline_, session});
}

void Group::set_session_deadline(Member& member, Millis deadline) {
  member.session_deadline = deadline;
  if (deadline < member.queued_deadline) {
    member.queued_deadline = deadline;
    queue_deadline(deadline, member.member_id);
  }
}

void Group::queue_deadline(Millis deadline, const std::string& member_id) {
  session_queue_.emplace(deadline, member_id);
}

void Group::answer_join(Member& member, JoinAnswer answer, GroupEffects& out) {
  if (!member.join_ticket) {
    return;
  }
  out.answers.push_back({*member.join_ticket, std::move(answer)});
  member.join_ticket.reset();
  WEIR_CHECK(awaiting_join_ > 0);
  --awaiting_join_;
}

void Group::answer_sync(Member& member, SyncAnswer answer, GroupEffects& out) {
  if (!member.sync_ticket) {
    return;
  }
  out.answers.push_back({*member.sync_ticket, std::move(answer)});
  member.sync_ticket.reset();
}

void Group::count_protocols(const Member& member, int step) {
  for (const auto& protocol : member.protocols) {
    auto& count = protocol_support_[protocol.name];
    count += step;
    if (count == 0) {
      protocol_support_.erase(protocol.name);
    }
  }
}

void Group::go(GroupState next, Now now) {
  previous_state_ = state_;
  state_ = next;
  state_since_ms_ = now.wall_ms;
}

void Group::die() {
  WEIR_CHECK(state_ == GroupState::empty);
  pending_.clear();
  state_ = GroupState::dead;
}

void Group::revive() {
  WEIR_CHECK(state_ == GroupState::dead);
  state_ = GroupState::empty;
}

void Group::refuse_all(ErrorCode error, GroupEffects& out) {
  for (auto& [id, member] : members_) {
    answer_join(member, {.error = error}, out);
    answer_sync(member, {.error = error}, out);
  }
  members_.clear();
  pending_.clear();
  static_members_.clear();
  protocol_support_.clear();
  pending_sync_.clear();
  session_queue_.clear();
  leader_.reset();
  join_deadline_ = sync_deadline_ = kNever;
  state_ = previous_state_ = GroupState::empty;
}

bool Group::is_subscribed_to(const std::string& topic) const {
  return subscribed_ ? subscribed_->contains(topic) : uses_consumer_protocol() && !members_.empty();
}

GroupFacts Group::facts() const {
  GroupFacts facts;
  facts.found = true;
  facts.state = state_;
  facts.protocol_type = protocol_type_;
  const bool stable = state_ == GroupState::stable;
  if (stable) {
    facts.protocol_name = protocol_name_.value_or("");
  }
  for (const auto& [id, member] : members_) {
    MemberFacts one{
        .member_id = id,
        .instance_id = member.instance_id,
        .client_id = member.client_id,
        .client_host = member.client_host,
        .metadata = {},
        .assignment = member.assignment,
        .subscription = member.protocols.empty() ? SharedBytes{} : member.protocols.front().metadata,
        .heard_ms = member.heard_ms,
        .session_timeout_ms = member.session_timeout_ms,
        .session_end_ms = member.session_deadline,
        .waits_in_join = member.join_ticket.has_value(),
        .waits_in_sync = member.sync_ticket.has_value(),
    };
    for (const auto& protocol : member.protocols) {
      if (protocol.name == protocol_name_) {
        one.subscription = protocol.metadata;
        one.metadata = stable ? protocol.metadata : SharedBytes{};
      }
    }
    facts.members.push_back(std::move(one));
  }
  facts.generation = generation_;
  facts.state_since_ms = state_since_ms_;
  facts.deadline_ms = std::min(join_deadline_, sync_deadline_);
  facts.in_initial_delay = initial_delay_;
  facts.leader = leader_.value_or("");
  facts.writes_assignments = assignment_write_ && assignment_write_->generation == generation_;
  facts.pending_members = static_cast<std::int32_t>(pending_.size());
  facts.rebalances = {rebalances_.begin(), rebalances_.end()};
  facts.last_departure = last_departure_;
  return facts;
}

GroupValue Group::value_when_created() const {
  GroupValue value;
  value.state_since_ms = state_since_ms_;
  return value;
}

}  // namespace weir::group
