// Group: the rebalance itself. PreparingRebalance gathers joins, CompletingRebalance waits for the leader's
// assignments, Stable begins when their record is durable.
#include "base/check.hpp"
#include "base/count_of.hpp"
#include "coordinator/group.hpp"

namespace weir::group {

void Group::rebalance_or_complete(const std::string& reason, Now now, GroupEffects& out) {
  if (state_ == GroupState::preparing_rebalance) {
    return complete_join_if_all_there(now, out);
  }
  prepare_rebalance(reason, now, out);
}

void Group::prepare_rebalance(const std::string& reason, Now now, GroupEffects& out) {
  out.notes.push_back("group " + id_ + " rebalances after generation " + std::to_string(generation_) + ": " + reason);
  if (rebalances_.size() == kRebalancesKept) {
    rebalances_.pop_front();
  }
  rebalances_.push_back({now.monotonic_ms, reason.substr(0, kReasonBytesMax)});
  if (state_ == GroupState::completing_rebalance) {
    for (auto& [id, member] : members_) {
      member.assignment = {};
    }
    answer_waiting_syncs(ErrorCode::rebalance_in_progress, now, out);
  }
  sync_deadline_ = kNever;
  initial_delay_ = state_ == GroupState::empty;
  go(GroupState::preparing_rebalance, now);
  if (initial_delay_) {
    // A new group: its other members are probably about to come.
    delay_ms_ = config_.initial_rebalance_delay_ms;
    delay_left_ms_ = std::max<Millis>(rebalance_timeout_ms() - delay_ms_, 0);
    new_member_added_ = false;
    join_deadline_ = now.monotonic_ms + delay_ms_;
    return;
  }
  if (all_joined()) {
    return complete_join(now, out);
  }
  join_deadline_ = now.monotonic_ms + rebalance_timeout_ms();
}

void Group::initial_delay_over(Now now, GroupEffects& out) {
  if (!new_member_added_ || delay_left_ms_ == 0) {
    return complete_join(now, out);
  }
  new_member_added_ = false;
  const auto next = std::min(config_.initial_rebalance_delay_ms, delay_left_ms_);
  delay_left_ms_ = std::max<Millis>(delay_left_ms_ - delay_ms_, 0);
  delay_ms_ = next;
  join_deadline_ = now.monotonic_ms + next;
}

void Group::complete_join_if_all_there(Now now, GroupEffects& out) {
  // The first rebalance of a group ends with its pause, not with the first who came.
  if (state_ == GroupState::preparing_rebalance && previous_state_ != GroupState::empty && all_joined()) {
    complete_join(now, out);
  }
}

void Group::complete_join(Now now, GroupEffects& out) {
  WEIR_CHECK(state_ == GroupState::preparing_rebalance);
  join_deadline_ = kNever;
  initial_delay_ = false;
  std::vector<std::string> absent;
  for (const auto& [id, member] : members_) {
    if (!member.join_ticket && !member.instance_id) {
      absent.push_back(id);
    }
  }
  for (const auto& id : absent) {
    out.notes.push_back("group " + id_ + " goes on without " + id + ", which did not join in time");
    remove_member(id, "it did not join again in time", now, out);
  }
  if (!members_.empty() && !elect_leader_who_joined()) {
    // Only static members are left and none is here: their sessions decide when the group is empty.
    join_deadline_ = now.monotonic_ms + rebalance_timeout_ms();
    return;
  }
  next_generation(now);
  if (members_.empty()) {
    out.notes.push_back("group " + id_ + " is empty in generation " + std::to_string(generation_));
    out.writes.push_back({next_token_++, value_with({})});
    return;
  }
  out.notes.push_back("group " + id_ + " has " + count_of(std::ssize(members_), "member") + " in generation " +
                      std::to_string(generation_) + ", protocol " + protocol_name_.value_or(""));
  for (auto& [id, member] : members_) {
    answer_join(member, current_generation_for(member), out);
    keep_alive(member, now);
    member.is_new = false;
    pending_sync_.insert(id);
  }
  sync_deadline_ = now.monotonic_ms + rebalance_timeout_ms();
}

bool Group::elect_leader_who_joined() {
  if (leader_ && members_.contains(*leader_) && members_.at(*leader_).join_ticket) {
    return true;
  }
  for (const auto& [id, member] : members_) {
    if (member.join_ticket) {
      leader_ = id;
      return true;
    }
  }
  return false;
}

void Group::next_generation(Now now) {
  ++generation_;
  pending_sync_.clear();
  if (members_.empty()) {
    protocol_name_.reset();
    go(GroupState::empty, now);
  } else {
    protocol_name_ = select_protocol();
    go(GroupState::completing_rebalance, now);
  }
  subscribed_ = read_subscriptions();
}

std::string Group::select_protocol() const {
  WEIR_CHECK(!members_.empty());
  // Each member votes for the first of its protocols that all others have too. A tie goes to the first name.
  std::map<std::string, std::int64_t> votes;
  for (const auto& [id, member] : members_) {
    for (const auto& protocol : member.protocols) {
      if (protocol_support_.at(protocol.name) == std::ssize(members_)) {
        ++votes[protocol.name];
        break;
      }
    }
  }
  WEIR_CHECK(!votes.empty());  // JoinGroup lets nobody in who shares no protocol with all
  return std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; })->first;
}

std::optional<std::set<std::string>> Group::read_subscriptions() const {
  if (members_.empty()) {
    return std::set<std::string>{};
  }
  if (!uses_consumer_protocol() || !protocol_name_) {
    return std::nullopt;
  }
  std::set<std::string> all;
  for (const auto& [id, member] : members_) {
    for (const auto& protocol : member.protocols) {
      if (protocol.name != protocol_name_) {
        continue;
      }
      const auto topics = subscribed_topics(protocol.metadata.view());
      if (!topics) {
        return std::nullopt;
      }
      all.insert(topics->begin(), topics->end());
    }
  }
  return all;
}

Millis Group::rebalance_timeout_ms() const {
  Millis most = 1;  // a client may say 0 or less; a timer must lie ahead
  for (const auto& [id, member] : members_) {
    most = std::max<Millis>(most, member.rebalance_timeout_ms);
  }
  return most;
}

void Group::sync(SyncRequest request, Ticket ticket, Now now, GroupEffects& out) {
  const auto refuse = [&](ErrorCode error) { out.answers.push_back({ticket, SyncAnswer{.error = error}}); };
  if (state_ == GroupState::dead) {
    return refuse(ErrorCode::coordinator_not_available);
  }
  if (const auto error = check_member(request.member_id, request.instance_id); error != ErrorCode::none) {
    return refuse(error);
  }
  if (request.generation != generation_) {
    return refuse(ErrorCode::illegal_generation);
  }
  if ((request.protocol_type && *request.protocol_type != protocol_type_) ||
      (request.protocol_name && protocol_name_ && *request.protocol_name != *protocol_name_)) {
    return refuse(ErrorCode::inconsistent_group_protocol);
  }
  auto& member = members_.at(request.member_id);
  member.heard_ms = now.monotonic_ms;
  switch (state_) {
    case GroupState::empty:
    case GroupState::dead: return refuse(ErrorCode::unknown_member_id);
    case GroupState::preparing_rebalance: return refuse(ErrorCode::rebalance_in_progress);
    case GroupState::stable:
      pending_sync_.erase(member.member_id);
      out.answers.push_back({ticket, SyncAnswer{.protocol_type = protocol_type_,
                                                .protocol_name = protocol_name_,
                                                .assignment = member.assignment}});
      return;
    case GroupState::completing_rebalance: break;
  }
  // The same member on another connection: the older request is answered, so that it does not wait for ever.
  answer_sync(member, {.error = ErrorCode::rebalance_in_progress}, out);
  member.sync_ticket = ticket;
  pending_sync_.erase(member.member_id);
  if (!is_leader(member.member_id) || (assignment_write_ && assignment_write_->generation == generation_)) {
    return;
  }
  AssignmentWrite write;
  write.token = next_token_++;
  write.generation = generation_;
  for (const auto& [id, one] : members_) {
    write.assignments[id] = {};  // whom the leader forgot gets an empty assignment
  }
  for (auto& given : request.assignments) {
    if (const auto known = write.assignments.find(given.member_id); known != write.assignments.end()) {
      known->second = std::move(given.assignment);
    }
  }
  out.writes.push_back({write.token, value_with(write.assignments)});
  assignment_write_ = std::move(write);
}

void Group::written(WriteToken token, ErrorCode error, Now now, GroupEffects& out) {
  if (assignment_write_ && assignment_write_->token == token) {
    const auto write = std::move(*assignment_write_);
    assignment_write_.reset();
    return assignment_written(write, error, now, out);
  }
  if (const auto found = rejoin_writes_.find(token); found != rejoin_writes_.end()) {
    const auto write = std::move(found->second);
    rejoin_writes_.erase(found);
    rejoin_written(write, error, now, out);
  }
  // The value of an empty generation: nobody waits. If it is lost, an older generation comes back after a restart, and
  // its members, long gone, expire.
}

void Group::assignment_written(const AssignmentWrite& write, ErrorCode error, Now now, GroupEffects& out) {
  if (state_ != GroupState::completing_rebalance || write.generation != generation_) {
    return;  // the group has moved on and told the members so
  }
  for (auto& [id, member] : members_) {
    const auto given = write.assignments.find(id);
    member.assignment = error == ErrorCode::none && given != write.assignments.end() ? given->second : SharedBytes{};
  }
  if (error != ErrorCode::none) {
    answer_waiting_syncs(error, now, out);
    return prepare_rebalance("its assignments could not be stored", now, out);
  }
  go(GroupState::stable, now);
  answer_waiting_syncs(ErrorCode::none, now, out);
}

void Group::answer_waiting_syncs(ErrorCode error, Now now, GroupEffects& out) {
  for (auto& [id, member] : members_) {
    if (!member.sync_ticket) {
      continue;
    }
    SyncAnswer answer{.error = error};
    if (error == ErrorCode::none) {
      answer.protocol_type = protocol_type_;
      answer.protocol_name = protocol_name_;
      answer.assignment = member.assignment;
    }
    answer_sync(member, std::move(answer), out);
    keep_alive(member, now);
  }
}

void Group::sync_time_over(Now now, GroupEffects& out) {
  if (state_ != GroupState::completing_rebalance && state_ != GroupState::stable) {
    return;
  }
  if (pending_sync_.empty()) {
    return;
  }
  std::string late;
  for (const auto& id : std::set<std::string>(pending_sync_)) {
    late += (late.empty() ? "" : ", ") + id;
    remove_member(id, "it did not ask for its assignment in time", now, out);
  }
  prepare_rebalance("no SyncGroup came in time from " + late, now, out);
}

GroupValue Group::value_with(const std::map<std::string, SharedBytes>& assignments) const {
  GroupValue value;
  value.protocol_type = protocol_type_;
  value.generation = generation_;
  value.protocol = protocol_name_;
  value.leader = leader_;
  value.state_since_ms = state_since_ms_;
  for (const auto& [id, member] : members_) {
    MemberValue one;
    one.member_id = id;
    one.instance_id = member.instance_id;
    one.client_id = member.client_id;
    one.client_host = member.client_host;
    one.rebalance_timeout_ms = member.rebalance_timeout_ms;
    one.session_timeout_ms = member.session_timeout_ms;
    for (const auto& protocol : member.protocols) {
      if (protocol.name == protocol_name_) {
        one.subscription = protocol.metadata;
      }
    }
    if (const auto given = assignments.find(id); given != assignments.end()) {
      one.assignment = given->second;
    }
    value.members.push_back(std::move(one));
  }
  return value;
}

}  // namespace weir::group
