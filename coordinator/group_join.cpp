// Group: JoinGroup. Who is let in, under which id, and whether the group must rebalance for it.
#include "base/check.hpp"
#include "coordinator/group.hpp"

namespace weir::group {
namespace {

constexpr std::size_t kMemberIdPrefixMax = 32'000;

// The form of Java's UUID.toString: clients and tools have seen no other.
std::string uuid_text(const Uuid& id) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      text += '-';
    }
    const auto byte = std::to_integer<unsigned>(id.bytes[i]);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

bool equal(const std::vector<JoinProtocol>& a, const std::vector<JoinProtocol>& b) {
  return std::ranges::equal(a, b, [](const JoinProtocol& x, const JoinProtocol& y) {
    return x.name == y.name && std::ranges::equal(x.metadata.view(), y.metadata.view());
  });
}

void drop_repeated(std::vector<JoinProtocol>& protocols) {
  std::set<std::string> seen;
  std::erase_if(protocols, [&](const JoinProtocol& protocol) { return !seen.insert(protocol.name).second; });
}

std::string because(const JoinRequest& request) {
  return request.reason.empty() ? "" : " (" + request.reason + ")";
}

}  // namespace

void Group::join(JoinRequest request, Ticket ticket, Now now, GroupEffects& out) {
  drop_repeated(request.protocols);
  const auto refuse = [&](ErrorCode error, const std::string& member_id) {
    out.answers.push_back({ticket, JoinAnswer{.error = error, .member_id = member_id}});
  };
  if (state_ == GroupState::dead) {
    return refuse(ErrorCode::coordinator_not_available, request.member_id);
  }
  if (!accepts_size_with(request.member_id)) {
    remove_member(request.member_id, "the group is larger than group.max.size", now, out);
    refuse(ErrorCode::group_max_size_reached, "");
    return complete_join_if_all_there(now, out);
  }
  if (!supports(request)) {
    return refuse(ErrorCode::inconsistent_group_protocol, request.member_id);
  }
  request.member_id.empty() ? join_new(std::move(request), ticket, now, out)
                            : join_known(std::move(request), ticket, now, out);
}

bool Group::accepts_size_with(const std::string& member_id) const {
  const auto member = members_.find(member_id);
  switch (state_) {
    case GroupState::empty:
    case GroupState::dead: return true;
    case GroupState::preparing_rebalance:
      // Those who wait count, not those who are members: so a group over a smaller limit loses who comes back last.
      return (member != members_.end() && member->second.join_ticket) ||
             std::cmp_less(awaiting_join_, config_.group_size_max);
    case GroupState::completing_rebalance:
    case GroupState::stable: return member != members_.end() || std::cmp_less(members_.size(), config_.group_size_max);
  }
  return false;
}

bool Group::supports(const JoinRequest& request) const {
  if (state_ == GroupState::empty) {
    return !request.protocol_type.empty() && !request.protocols.empty();
  }
  return request.protocol_type == protocol_type_ && std::ranges::any_of(request.protocols, [&](const auto& protocol) {
           const auto support = protocol_support_.find(protocol.name);
           const auto count = support == protocol_support_.end() ? 0 : support->second;
           return count == std::ssize(members_);
         });
}

void Group::join_new(JoinRequest request, Ticket ticket, Now now, GroupEffects& out) {
  // Strings of the protocol end at 32,767 bytes: a client id of that length still makes a legal member id.
  auto member_id = (request.instance_id ? *request.instance_id : request.client_id).substr(0, kMemberIdPrefixMax) +
                   "-" + uuid_text(random_.uuid());
  if (request.instance_id) {
    const auto known = static_members_.find(*request.instance_id);
    if (known == static_members_.end()) {
      return add_member(std::move(request), ticket, std::move(member_id), now, out);
    }
    const auto old_id = known->second;
    return rejoin_static(std::move(request), ticket, old_id, std::move(member_id), now, out);
  }
  if (!request.member_id_required) {
    return add_member(std::move(request), ticket, std::move(member_id), now, out);
  }
  auto& pending = pending_[member_id];
  pending.session_deadline = pending.queued_deadline = now.monotonic_ms + request.session_timeout_ms;
  queue_deadline(pending.queued_deadline, member_id);
  out.answers.push_back({ticket, JoinAnswer{.error = ErrorCode::member_id_required, .member_id = member_id}});
}

void Group::join_known(JoinRequest request, Ticket ticket, Now now, GroupEffects& out) {
  const auto member_id = request.member_id;
  if (pending_.contains(member_id) && !request.instance_id) {
    return add_member(std::move(request), ticket, member_id, now, out);
  }
  const auto error = check_member(member_id, request.instance_id);
  if (error != ErrorCode::none || state_ == GroupState::empty) {
    out.answers.push_back({ticket, JoinAnswer{.error = error == ErrorCode::none ? ErrorCode::unknown_member_id : error,
                                              .member_id = member_id}});
    return;
  }
  auto& member = members_.at(member_id);
  member.heard_ms = now.monotonic_ms;
  const bool unchanged = equal(member.protocols, request.protocols);
  const bool told_again = (state_ == GroupState::completing_rebalance && unchanged) ||
                          (state_ == GroupState::stable && unchanged && !is_leader(member_id));
  if (told_again) {
    // It did not see our answer, or wants its assignment once more: it gets this generation's facts.
    auto answer = current_generation_for(member);
    if (state_ == GroupState::stable) {
      answer.members.clear();
    }
    out.answers.push_back({ticket, std::move(answer)});
    return;
  }
  const auto reason = state_ == GroupState::stable && is_leader(member_id)
                          ? "leader " + member_id + " joined again" + because(request)
                          : "member " + member_id + " joined again" + because(request);
  update_member(member, std::move(request.protocols), request.session_timeout_ms, request.rebalance_timeout_ms, ticket,
                out);
  rebalance_or_complete(reason, now, out);
}

void Group::add_member(JoinRequest request, Ticket ticket, std::string member_id, Now now, GroupEffects& out) {
  pending_.erase(member_id);
  if (members_.empty()) {
    protocol_type_ = request.protocol_type;
  }
  if (state_ == GroupState::preparing_rebalance && previous_state_ == GroupState::empty) {
    new_member_added_ = true;  // the pause before the first rebalance is worth prolonging
  }
  const auto reason = "new member " + member_id + because(request);
  auto& member = members_[member_id];
  member.member_id = member_id;
  member.instance_id = std::move(request.instance_id);
  member.client_id = std::move(request.client_id);
  member.client_host = std::move(request.client_host);
  member.session_timeout_ms = request.session_timeout_ms;
  member.rebalance_timeout_ms = request.rebalance_timeout_ms;
  member.protocols = std::move(request.protocols);
  member.is_new = true;
  member.heard_ms = now.monotonic_ms;
  member.join_ticket = ticket;
  ++awaiting_join_;
  count_protocols(member, 1);
  if (member.instance_id) {
    static_members_[*member.instance_id] = member_id;
  }
  if (!leader_) {
    leader_ = member_id;
  }
  // It does not know its id, so it cannot heartbeat while it waits; and its client may be gone and have asked again.
  set_session_deadline(member, now.monotonic_ms + config_.new_member_join_timeout_ms);
  rebalance_or_complete(reason, now, out);
}

void Group::update_member(Member& member, std::vector<JoinProtocol> protocols, std::int32_t session_timeout_ms,
                          std::int32_t rebalance_timeout_ms, std::optional<Ticket> ticket, GroupEffects& out) {
  count_protocols(member, -1);
  member.protocols = std::move(protocols);
  count_protocols(member, 1);
  member.session_timeout_ms = session_timeout_ms;
  member.rebalance_timeout_ms = rebalance_timeout_ms;
  // An older request of the same member, on a connection that it has left: nobody reads this, but it must be answered.
  answer_join(member, {.error = ErrorCode::rebalance_in_progress, .member_id = member.member_id}, out);
  if (ticket) {
    member.join_ticket = ticket;
    ++awaiting_join_;
  }
}

Group::Member& Group::replace_static(const std::string& old_id, const std::string& new_id, GroupEffects& out) {
  auto moved = members_.extract(old_id);
  WEIR_CHECK(!moved.empty());
  auto& member = moved.mapped();
  answer_join(member, {.error = ErrorCode::fenced_instance_id, .member_id = old_id}, out);
  answer_sync(member, {.error = ErrorCode::fenced_instance_id}, out);
  moved.key() = member.member_id = new_id;
  member.is_new = false;
  member.session_deadline = member.queued_deadline = kNever;
  static_members_[*member.instance_id] = new_id;
  if (is_leader(old_id)) {
    leader_ = new_id;
  }
  if (pending_sync_.erase(old_id) > 0) {
    pending_sync_.insert(new_id);
  }
  return members_.insert(std::move(moved)).position->second;
}

void Group::rejoin_static(JoinRequest request, Ticket ticket, const std::string& old_id, std::string new_id, Now now,
                          GroupEffects& out) {
  RejoinWrite write;
  write.old_leader = leader_.value_or("");
  auto& member = replace_static(old_id, new_id, out);
  write.ticket = ticket;
  write.old_member_id = old_id;
  write.new_member_id = new_id;
  write.old_protocols = member.protocols;
  write.old_session_timeout_ms = member.session_timeout_ms;
  write.old_rebalance_timeout_ms = member.rebalance_timeout_ms;
  write.can_skip_assignment = request.can_skip_assignment;
  const auto reason = "static member " + *member.instance_id + " came back as " + new_id + because(request);
  update_member(member, std::move(request.protocols), request.session_timeout_ms, request.rebalance_timeout_ms, ticket,
                out);
  member.heard_ms = now.monotonic_ms;
  keep_alive(member, now);
  switch (state_) {
    case GroupState::stable:
      if (select_protocol() != protocol_name_) {
        return rebalance_or_complete(reason + " and changes the group's protocol", now, out);
      }
      {
        std::map<std::string, SharedBytes> assignments;
        for (const auto& [id, one] : members_) {
          assignments[id] = one.assignment;
        }
        const auto token = next_token_++;
        rejoin_writes_.emplace(token, std::move(write));
        out.writes.push_back({token, value_with(assignments)});
      }
      return;
    case GroupState::completing_rebalance:
      // The leader may already have the old id in its plan, so the new one would get no assignment.
      return prepare_rebalance(reason, now, out);
    case GroupState::preparing_rebalance: return complete_join_if_all_there(now, out);
    case GroupState::empty:
    case GroupState::dead: WEIR_CHECK(false);
  }
}

void Group::rejoin_written(const RejoinWrite& write, ErrorCode error, Now now, GroupEffects& out) {
  const auto found = members_.find(write.new_member_id);
  if (found == members_.end() || found->second.join_ticket != write.ticket || state_ != GroupState::stable) {
    return;  // a rebalance, or the next process of this instance, has answered it or will
  }
  auto& member = found->second;
  if (error != ErrorCode::none) {
    JoinAnswer answer{.error = error, .generation = generation_, .protocol_name = protocol_name_};
    answer.protocol_type = protocol_type_;
    answer.leader = write.old_leader;
    answer_join(member, std::move(answer), out);
    update_member(member, write.old_protocols, write.old_session_timeout_ms, write.old_rebalance_timeout_ms, {}, out);
    keep_alive(replace_static(write.new_member_id, write.old_member_id, out), now);
    return;
  }
  auto answer = current_generation_for(member);
  if (write.can_skip_assignment) {
    answer.skip_assignment = is_leader(member.member_id);
  } else {
    // An older client would compute assignments if it saw itself as the leader, so it hears the leader it replaced.
    answer.leader = write.old_leader;
    answer.members.clear();
  }
  answer_join(member, std::move(answer), out);
  keep_alive(member, now);
}

JoinAnswer Group::current_generation_for(const Member& member) const {
  JoinAnswer answer;
  answer.generation = generation_;
  answer.protocol_type = protocol_type_;
  answer.protocol_name = protocol_name_;
  answer.leader = leader_.value_or("");
  answer.member_id = member.member_id;
  if (is_leader(member.member_id)) {
    for (const auto& [id, one] : members_) {
      for (const auto& protocol : one.protocols) {
        if (protocol.name == protocol_name_) {
          answer.members.push_back({id, one.instance_id, protocol.metadata});
        }
      }
    }
  }
  return answer;
}

}  // namespace weir::group
