#include "coordinator/group_shard.hpp"

#include "base/check.hpp"
#include "base/count_of.hpp"
#include "base/utf8.hpp"
#include "coordinator/group_slot.hpp"

namespace weir::group {

GroupShard::GroupShard(const GroupConfig& config, Random random)
    : config_(config), random_(random), reappend_check_at_(config.reappend_dirty_bytes) {}
GroupShard::~GroupShard() = default;

ErrorCode append_error(Errc code) {
  switch (code) {
    case Errc::read_only:
    case Errc::disk_failed:
    case Errc::closed:
    case Errc::not_found: return ErrorCode::not_coordinator;
    case Errc::disk_full:
    case Errc::out_of_resources:
    case Errc::timed_out:
    case Errc::in_use: return ErrorCode::coordinator_not_available;
    case Errc::truncated:
    case Errc::corrupt:
    case Errc::unsupported:
    case Errc::invalid_argument:
    case Errc::too_large:
    case Errc::already_exists:
    case Errc::out_of_range:
    case Errc::out_of_sequence:
    case Errc::stale_epoch: return ErrorCode::unknown_server_error;
  }
  return ErrorCode::unknown_server_error;
}

namespace {
// For ever, if an old client names a retention beyond all times. (In Kafka the sum wraps, and the commit goes at once.)
Millis later_by(Millis wall_ms, Millis retention_ms) {
  constexpr auto kForEver = std::numeric_limits<Millis>::max();
  return retention_ms > kForEver - wall_ms ? kForEver : wall_ms + retention_ms;
}

struct Refuse {
  ErrorCode error;
  void operator()(JoinAnswer& answer) const { answer = JoinAnswer{.error = error}; }
  void operator()(SyncAnswer& answer) const { answer = SyncAnswer{.error = error}; }
  void operator()(LeaveAnswer& answer) const { answer = LeaveAnswer{.error = error}; }
  void operator()(DeleteOffsetsAnswer& answer) const { answer = DeleteOffsetsAnswer{.error = error}; }
  void operator()(DeleteGroupAnswer& answer) const { answer = DeleteGroupAnswer{.error = error}; }
  void operator()(CommitAnswer& answer) const { std::ranges::replace(answer.partitions, ErrorCode::none, error); }
};
}  // namespace

void refuse(Answer& answer, ErrorCode error) {
  std::visit(Refuse{error}, answer.body);
}

GroupShard::Slot* GroupShard::find(const std::string& group_id) const {
  const auto found = slots_.find(group_id);
  return found == slots_.end() ? nullptr : found->second.get();
}

GroupShard::Slot* GroupShard::find_seen(const std::string& group_id) const {
  auto* slot = find(group_id);
  return slot == nullptr || slot->group->state() == GroupState::dead || unseen_.contains(group_id) ? nullptr : slot;
}

GroupShard::Slot& GroupShard::find_or_make(const std::string& group_id, Now now) {
  auto& slot = slots_[group_id];
  if (!slot) {
    slot = std::make_unique<Slot>();
    slot->group.emplace(group_id, config_, random_, now);
  }
  return *slot;
}

void GroupShard::settle(const std::string& group_id) {
  const auto found = slots_.find(group_id);
  if (found == slots_.end()) {
    return;
  }
  auto& slot = *found->second;
  const auto deadline = slot.is_nothing() ? kNever : slot.group->next_deadline();
  if (deadline != slot.filed_deadline) {
    deadlines_.erase({slot.filed_deadline, group_id});
    slot.filed_deadline = deadline;
    if (deadline != kNever) {
      deadlines_.emplace(deadline, group_id);
    }
  }
  if (slot.is_nothing()) {
    unseen_.erase(group_id);
    slots_.erase(found);
  }
}

// --- replay ---

Result<void> GroupShard::replay(Bytes key, std::optional<Bytes> value) {
  log_bytes_ += std::ssize(key) + (value ? std::ssize(*value) : 0);
  WEIR_TRY(auto parsed, parse_record(key, value));
  if (std::holds_alternative<UnknownRecord>(parsed)) {
    has_unknown_records_ = true;
  } else if (auto* offset = std::get_if<OffsetRecord>(&parsed)) {
    auto& slot = find_or_make(offset->key.group, {});
    slot.stays_empty = slot.stays_empty || offset->value.has_value();
    slot.offsets.replay(offset->key.topic, offset->key.partition, std::move(offset->value));
  } else {
    auto& group = std::get<GroupRecord>(parsed);
    auto& slot = find_or_make(group.group_id, {});
    slot.durable_value.reset();
    slot.stays_empty = slot.stays_empty && group.value.has_value();
    if (group.value) {
      slot.durable_value.emplace(value->begin(), value->end());
      slot.group.emplace(group.group_id, config_, random_, *group.value);
    } else {
      slot.group.emplace(group.group_id, config_, random_, Now{});
    }
  }
  return {};
}

void GroupShard::loaded(Now now, Effects& out) {
  std::vector<std::string> ids;
  for (const auto& [id, slot] : slots_) {
    ids.push_back(id);
  }
  for (const auto& id : ids) {
    auto& slot = *slots_.at(id);
    GroupEffects effects;
    slot.group->start_sessions(now, effects);
    apply(slot, std::move(effects), {}, now, out);
    settle(id);
  }
  next_expiry_ms_ = now.monotonic_ms + config_.offsets_retention_check_ms;
}

// --- events ---

void GroupShard::join(JoinRequest request, Ticket ticket, Now now, Effects& out) {
  const auto refuse_with = [&](ErrorCode error) {
    out.answers.push_back({ticket, JoinAnswer{.error = error, .member_id = request.member_id}});
  };
  if (request.group_id.empty()) {
    return refuse_with(ErrorCode::invalid_group_id);
  }
  if (request.session_timeout_ms < config_.session_timeout_min_ms ||
      request.session_timeout_ms > config_.session_timeout_max_ms) {
    return refuse_with(ErrorCode::invalid_session_timeout);
  }
  const auto group_id = request.group_id;
  const bool is_new = find(group_id) == nullptr;
  if (is_new && !request.member_id.empty()) {
    return refuse_with(ErrorCode::unknown_member_id);
  }
  if (is_queue_full()) {
    return refuse_with(ErrorCode::coordinator_not_available);
  }
  auto& slot = find_or_make(group_id, now);
  GroupEffects effects;
  slot.group->join(std::move(request), ticket, now, effects);
  if (is_new) {
    // A group exists from its first record on; who came first hears so when the record is durable. As in Kafka it
    // exists even if that one was not let in, until the next expiry check finds it empty.
    Write write{.kind = Write::Kind::group_created, .group_id = group_id};
    write.records.push_back(group_record(group_id, slot.group->value_when_created()));
    write.answers = std::exchange(effects.answers, {});
    queue(std::move(write), now);
  }
  apply(slot, std::move(effects), {}, now, out);
  settle(group_id);
}

void GroupShard::sync(SyncRequest request, Ticket ticket, Now now, Effects& out) {
  const auto group_id = request.group_id;
  auto* slot = find(group_id);
  if (slot == nullptr) {
    const auto error = group_id.empty() ? ErrorCode::invalid_group_id : ErrorCode::unknown_member_id;
    out.answers.push_back({ticket, SyncAnswer{.error = error}});
    return;
  }
  if (is_queue_full()) {
    out.answers.push_back({ticket, SyncAnswer{.error = ErrorCode::coordinator_not_available}});
    return;
  }
  GroupEffects effects;
  slot->group->sync(std::move(request), ticket, now, effects);
  apply(*slot, std::move(effects), {}, now, out);
  settle(group_id);
}

ErrorCode GroupShard::heartbeat(const std::string& group_id, const Sender& sender, Now now) {
  auto* slot = find(group_id);
  if (slot == nullptr) {
    return group_id.empty() ? ErrorCode::invalid_group_id : ErrorCode::unknown_member_id;
  }
  const auto error = slot->group->heartbeat(sender, now);
  settle(group_id);
  return error;
}

void GroupShard::leave(const LeaveRequest& request, Ticket ticket, Now now, Effects& out) {
  auto* slot = find(request.group_id);
  if (slot == nullptr) {
    LeaveAnswer answer;
    if (request.group_id.empty()) {
      answer.error = ErrorCode::invalid_group_id;
    } else {
      for (const auto& member : request.members) {
        answer.members.push_back({member.member_id, member.instance_id, ErrorCode::unknown_member_id});
      }
    }
    out.answers.push_back({ticket, std::move(answer)});
    return;
  }
  if (is_queue_full()) {
    out.answers.push_back({ticket, LeaveAnswer{.error = ErrorCode::coordinator_not_available}});
    return;
  }
  GroupEffects effects;
  auto answer = slot->group->leave(request.members, now, effects);
  apply(*slot, std::move(effects), Answer{ticket, std::move(answer)}, now, out);
  settle(request.group_id);
}

void GroupShard::commit(CommitRequest request, Ticket ticket, Now now, Effects& out) {
  CommitAnswer answer;
  answer.partitions.resize(request.partitions.size(), ErrorCode::none);
  const auto refuse_with = [&](ErrorCode error) {
    std::ranges::fill(answer.partitions, error);
    out.answers.push_back({ticket, std::move(answer)});
  };
  const bool is_new = find(request.group_id) == nullptr;
  if (is_new && request.sender.generation >= 0) {
    return refuse_with(request.old_unknown_group_error ? ErrorCode::illegal_generation : ErrorCode::group_id_not_found);
  }
  if (is_queue_full()) {
    return refuse_with(ErrorCode::coordinator_not_available);
  }
  auto& slot = find_or_make(request.group_id, now);
  if (const auto error = slot.group->commit(request.sender, now); error != ErrorCode::none) {
    refuse_with(error);
    return settle(request.group_id);
  }
  std::vector<Change> changes;
  for (std::size_t i = 0; i < request.partitions.size(); ++i) {
    auto& part = request.partitions[i];
    if (std::cmp_greater(utf16_length(part.metadata), config_.offset_metadata_units_max)) {
      answer.partitions[i] = ErrorCode::offset_metadata_too_large;
      continue;
    }
    CommittedOffset value{part.offset, part.leader_epoch, std::move(part.metadata), now.wall_ms, {}, part.topic_id};
    if (request.retention_ms) {
      value.expire_ms = later_by(now.wall_ms, *request.retention_ms);
    }
    changes.push_back({{request.group_id, std::move(part.topic), part.partition}, std::move(value)});
  }
  if (!changes.empty()) {
    write_offsets(slot, std::move(changes), {Answer{ticket, std::move(answer)}}, false, now);
  } else {
    if (is_new) {
      slot.stays_empty = true;
      unseen_.insert(request.group_id);
    }
    out.answers.push_back({ticket, std::move(answer)});
  }
  settle(request.group_id);
}

void GroupShard::delete_offsets(const DeleteOffsetsRequest& request, Ticket ticket, Now now, Effects& out) {
  DeleteOffsetsAnswer answer;
  auto* slot = find(request.group_id);
  if (slot == nullptr || slot->group->state() == GroupState::dead) {
    answer.error = ErrorCode::group_id_not_found;
  } else if (slot->group->state() != GroupState::empty && !slot->group->uses_consumer_protocol()) {
    answer.error = ErrorCode::non_empty_group;  // nobody can tell what such a group reads
  } else if (is_queue_full()) {
    answer.error = ErrorCode::coordinator_not_available;
  }
  if (answer.error != ErrorCode::none) {
    out.answers.push_back({ticket, std::move(answer)});
    return;
  }
  std::vector<Change> changes;
  for (const auto& topic : request.topics) {
    const bool subscribed = slot->group->is_subscribed_to(topic.topic);
    auto& errors = answer.topics.emplace_back();
    for (const auto partition : topic.partitions) {
      errors.push_back(subscribed ? ErrorCode::group_subscribed_to_topic : ErrorCode::none);
      if (!subscribed && slot->offsets.newest(topic.topic, partition) != nullptr) {
        changes.push_back({{request.group_id, topic.topic, partition}, {}});
      }
    }
  }
  if (changes.empty()) {
    out.answers.push_back({ticket, std::move(answer)});
    return;
  }
  write_offsets(*slot, std::move(changes), {Answer{ticket, std::move(answer)}}, false, now);
}

void GroupShard::delete_group(const std::string& group_id, Ticket ticket, Now now, Effects& out) {
  auto* slot = find(group_id);
  auto error = ErrorCode::none;
  if (slot == nullptr || slot->group->state() == GroupState::dead) {
    error = ErrorCode::group_id_not_found;
  } else if (slot->group->state() != GroupState::empty) {
    error = ErrorCode::non_empty_group;
  } else if (is_queue_full()) {
    error = ErrorCode::coordinator_not_available;
  }
  if (error != ErrorCode::none) {
    out.answers.push_back({ticket, DeleteGroupAnswer{error}});
    return;
  }
  std::vector<Change> changes;
  slot->offsets.for_each_newest([&](const std::string& topic, std::int32_t partition, const auto&, bool) {
    changes.push_back({{group_id, topic, partition}, {}});
  });
  write_offsets(*slot, std::move(changes), {Answer{ticket, DeleteGroupAnswer{}}}, true, now);
  settle(group_id);
}

void GroupShard::drop_topics(const std::function<bool(const std::string&, const Uuid&)>& is_gone, Now now,
                             Effects& out) {
  for (const auto& [id, slot] : slots_) {
    if (slot->group->state() == GroupState::dead) {
      continue;
    }
    std::vector<Change> changes;
    slot->offsets.for_each_newest(
        [&](const std::string& topic, std::int32_t partition, const CommittedOffset& value, bool) {
          if (is_gone(topic, value.topic_id)) {
            changes.push_back({{id, topic, partition}, {}});
          }
        });
    if (!changes.empty()) {
      out.notes.push_back("group " + id + " loses " + count_of(std::ssize(changes), "offset") + " of deleted topics");
      write_offsets(*slot, std::move(changes), {}, false, now);
    }
  }
}

void GroupShard::tick(Now now, Effects& out) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now.monotonic_ms) {
    const auto group_id = deadlines_.begin()->second;
    auto& slot = *slots_.at(group_id);
    GroupEffects effects;
    slot.group->tick(now, effects);
    apply(slot, std::move(effects), {}, now, out);
    settle(group_id);
  }
  time_out(now, out);
  if (now.monotonic_ms >= next_expiry_ms_) {
    expire_offsets(now, out);
    next_expiry_ms_ = now.monotonic_ms + config_.offsets_retention_check_ms;
  }
}

Millis GroupShard::next_deadline() const {
  const auto of_groups = deadlines_.empty() ? kNever : deadlines_.begin()->first;
  const auto of_answers = waiting_.empty() ? kNever : waiting_.front().until;
  return std::min({next_expiry_ms_, of_groups, of_answers});
}

// --- writes ---

void GroupShard::apply(Slot& slot, GroupEffects effects, std::optional<Answer> last, Now now, Effects& out) {
  std::ranges::move(effects.answers, std::back_inserter(out.answers));
  std::ranges::move(effects.notes, std::back_inserter(out.notes));
  for (auto& asked : effects.writes) {
    Write write{.kind = Write::Kind::group_value, .group_id = slot.group->id(), .token = asked.token};
    write.records.push_back(group_record(slot.group->id(), asked.value));
    if (last) {
      write.answers.push_back(std::move(*last));
      last.reset();
    }
    queue(std::move(write), now);
  }
  if (last) {
    out.answers.push_back(std::move(*last));
  }
}

void GroupShard::write_offsets(Slot& slot, std::vector<Change> changes, std::vector<Answer> answers, bool delete_group,
                               Now now) {
  Write write;
  write.group_id = slot.group->id();
  write.answers = std::move(answers);
  for (auto& [key, value] : changes) {
    write.records.push_back(value ? offset_record(key, *value) : offset_tombstone(key));
    slot.offsets.begin(next_write_, key.topic, key.partition, std::move(value));
    write.keys.push_back(std::move(key));
  }
  if (delete_group) {
    write.kind = Write::Kind::delete_group;
    write.records.push_back(group_tombstone(write.group_id));
    slot.group->die();
  }
  queue(std::move(write), now);
}

void GroupShard::queue(Write write, Now now) {
  write.id = next_write_++;
  if (!write.answers.empty() || write.kind == Write::Kind::group_value) {
    waiting_.push_back({now.monotonic_ms + config_.write_timeout_ms, write.id});
  }
  ++slots_.at(write.group_id)->writes;
  queued_bytes_ += write.size();
  queued_.push_back(std::move(write));
}

std::vector<LogRecord> GroupShard::take_append() {
  std::vector<LogRecord> records;
  if (!under_way_.empty() || reappending_) {
    return records;
  }
  plan_reappend();
  std::size_t bytes = 0;
  while (!reappend_.empty() && bytes < config_.append_bytes_max) {
    reappending_ = true;
    bytes += reappend_.front().size();
    records.push_back(std::move(reappend_.front()));
    reappend_.pop_front();
  }
  if (reappending_) {
    reappended_bytes_ += static_cast<std::int64_t>(bytes);
  }
  while (!reappending_ && !queued_.empty()) {
    const auto size = queued_.front().size();
    if (!under_way_.empty() && bytes + size > config_.append_bytes_max) {
      break;
    }
    bytes += size;
    queued_bytes_ -= size;
    records.insert(records.end(), queued_.front().records.begin(), queued_.front().records.end());
    under_way_.push_back(std::move(queued_.front()));
    queued_.pop_front();
  }
  under_way_bytes_ = static_cast<std::int64_t>(bytes);
  log_bytes_ += under_way_bytes_;
  return records;
}

void GroupShard::appended(Result<Offset> outcome, Now now, Effects& out) {
  if (reappending_) {
    return reappend_done(std::move(outcome), out);
  }
  WEIR_CHECK(!under_way_.empty());
  const auto error = outcome ? ErrorCode::none : append_error(outcome.error().code);
  if (outcome) {
    unseen_.clear();
  }
  const auto refusal = outcome ? std::nullopt : std::optional{outcome.error().code};
  if (const auto logged = std::exchange(logged_refusal_, refusal); !outcome) {
    if (logged != refusal) {
      out.notes.push_back("group records are refused: " + to_string(outcome.error()));
    }
  } else if (std::exchange(start_at_next_append_, false)) {
    out.move_start = *outcome;
    log_bytes_ = under_way_bytes_;
    reappend_check_at_ = log_bytes_ + config_.reappend_dirty_bytes;
  }
  for (auto writes = std::exchange(under_way_, {}); auto& write : writes) {
    finish(write, error, now, out);
  }
}

// Writes are numbered in their order, and leave each queue at its front.
GroupShard::Write& GroupShard::write_of(WriteId id) {
  auto& holder = !under_way_.empty() && id <= under_way_.back().id ? under_way_ : queued_;
  return holder.at(static_cast<std::size_t>(id - holder.front().id));
}

// Answers requests that have timed out with coordinator_not_available, SyncGroup included. Their writes stay queued and
// may become durable.
void GroupShard::time_out(Now now, Effects& out) {
  while (!waiting_.empty() && waiting_.front().until <= now.monotonic_ms) {
    auto& write = write_of(waiting_.front().write);
    waiting_.pop_front();
    const auto error = append_error(Errc::timed_out);
    for (auto answers = std::exchange(write.answers, {}); auto& answer : answers) {
      refuse(answer, error);
      out.answers.push_back(std::move(answer));
    }
    if (write.kind == Write::Kind::group_value) {
      const auto group_id = write.group_id;
      auto& slot = *slots_.at(group_id);
      GroupEffects effects;
      slot.group->written(write.token, error, now, effects);
      apply(slot, std::move(effects), {}, now, out);
      settle(group_id);
    }
  }
}

void GroupShard::finish(Write& write, ErrorCode error, Now now, Effects& out) {
  if (!waiting_.empty() && waiting_.front().write == write.id) {
    waiting_.pop_front();
  }
  auto& slot = *slots_.at(write.group_id);
  --slot.writes;
  for (const auto& key : write.keys) {
    slot.offsets.end(write.id, key.topic, key.partition, error == ErrorCode::none);
  }
  GroupEffects effects;
  switch (write.kind) {
    case Write::Kind::offsets: slot.stays_empty = slot.stays_empty || error == ErrorCode::none; break;
    case Write::Kind::delete_group:
      if (error == ErrorCode::none) {
        slot.durable_value.reset();
        slot.stays_empty = false;
      } else {
        slot.group->revive();
      }
      break;
    case Write::Kind::group_created:
      if (error == ErrorCode::none) {
        slot.durable_value = std::move(write.records.front().value);
      } else if (!slot.durable_value && slot.writes == 0) {
        slot.group->refuse_all(error, effects);  // with a later record on its way the group still comes into being
      }
      break;
    case Write::Kind::group_value:
      if (error == ErrorCode::none) {
        slot.durable_value = std::move(write.records.front().value);
      }
      slot.group->written(write.token, error, now, effects);
      break;
  }
  for (auto& answer : write.answers) {
    if (error != ErrorCode::none) {
      refuse(answer, error);
    }
    out.answers.push_back(std::move(answer));
  }
  apply(slot, std::move(effects), {}, now, out);
  settle(write.group_id);
}

// --- reads ---

std::vector<FetchedTopic> GroupShard::fetch(const std::string& group_id,
                                            const std::vector<TopicPartitions>& topics) const {
  const auto* slot = find(group_id);
  std::vector<FetchedTopic> found;
  for (const auto& topic : topics) {
    auto& answer = found.emplace_back(FetchedTopic{topic.topic, topic.topic_id, {}});
    for (const auto partition : topic.partitions) {
      FetchedOffset one{.partition = partition};
      const auto* value = slot == nullptr ? nullptr : slot->offsets.durable(topic.topic, partition);
      if (value != nullptr && !is_of_other_topic(*value, topic.topic_id)) {
        one = {partition, value->offset, value->leader_epoch, value->metadata, value->commit_ms};
      }
      answer.partitions.push_back(std::move(one));
    }
  }
  return found;
}

std::vector<FetchedTopic> GroupShard::fetch_all(const std::string& group_id) const {
  std::vector<FetchedTopic> found;
  if (const auto* slot = find(group_id); slot != nullptr) {
    slot->offsets.for_each_durable([&](const std::string& topic, std::int32_t partition, const CommittedOffset& value,
                                       Millis) {
      if (found.empty() || found.back().topic != topic) {
        found.push_back({topic, value.topic_id, {}});
      }
      found.back().partitions.push_back({partition, value.offset, value.leader_epoch, value.metadata, value.commit_ms});
    });
  }
  return found;
}

GroupFacts GroupShard::describe(const std::string& group_id) const {
  const auto* slot = find_seen(group_id);
  return slot == nullptr ? GroupFacts{} : slot->group->facts();
}

InspectedGroup GroupShard::inspect(const std::string& group_id) const {
  InspectedGroup group{group_id, describe(group_id), {}};
  if (!group.facts.found) {
    return group;
  }
  find(group_id)->offsets.for_each_durable(
      [&](const std::string& topic, std::int32_t partition, const CommittedOffset& value, Millis changed_ms) {
        // A topic that was made anew may have left partitions of both ids behind.
        if (group.offsets.empty() || group.offsets.back().topic != topic ||
            group.offsets.back().topic_id != value.topic_id) {
          group.offsets.push_back({topic, value.topic_id, {}});
        }
        group.offsets.back().partitions.push_back(
            {partition, value.offset, value.leader_epoch, {}, value.commit_ms, changed_ms});
      });
  return group;
}

std::vector<InspectedGroup> GroupShard::inspect_some(const std::string& after, std::size_t offsets_max) const {
  std::vector<InspectedGroup> groups;
  std::size_t cost = 0;
  for (auto at = slots_.upper_bound(after); at != slots_.end() && cost < offsets_max; ++at) {
    auto& group = groups.emplace_back(inspect(at->first));
    cost += 1 + group.facts.members.size();
    for (const auto& topic : group.offsets) {
      cost += topic.partitions.size();
    }
  }
  return groups;
}

std::vector<ListedGroup> GroupShard::list() const {
  std::vector<ListedGroup> listed;
  for (const auto& [id, slot] : slots_) {
    if (find_seen(id) != nullptr) {
      listed.push_back({id, slot->group->protocol_type(), slot->group->state()});
    }
  }
  return listed;
}

}  // namespace weir::group
