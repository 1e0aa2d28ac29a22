// GroupShard: what it does unasked. Offsets expire; the live state is written again so that a replay stays short.
#include "base/check.hpp"
#include "base/count_of.hpp"
#include "coordinator/group_slot.hpp"

namespace weir::group {
namespace {

constexpr std::int64_t kRetryReappendAfterBytes = 1 << 20;

// From when on does the retention of this offset count? nullopt: it does not expire now.
std::optional<Millis> retention_base(const Group& group, const CommittedOffset& value) {
  if (group.protocol_type().empty()) {
    return value.commit_ms;  // nobody ever joined: it only stores offsets here
  }
  if (group.state() == GroupState::empty) {
    return group.state_since_ms() == -1 ? value.commit_ms : group.state_since_ms();
  }
  if (group.state() == GroupState::stable && group.uses_consumer_protocol() && group.knows_subscriptions()) {
    return value.commit_ms;  // of a topic that the group reads no more
  }
  return std::nullopt;
}

bool is_expired(const Group& group, const CommittedOffset& value, Millis wall_ms, Millis retention_ms) {
  const auto base = retention_base(group, value);
  if (!base) {
    return false;
  }
  return value.expire_ms ? wall_ms >= *value.expire_ms : wall_ms - *base >= retention_ms;
}

}  // namespace

void GroupShard::expire_offsets(Now now, Effects& out) {
  for (const auto& [id, slot] : slots_) {
    const auto& group = *slot->group;
    if (group.state() == GroupState::dead) {
      continue;
    }
    std::vector<Change> changes;
    bool keeps_some = false;
    slot->offsets.for_each_newest(
        [&](const std::string& topic, std::int32_t partition, const CommittedOffset& value, bool under_way) {
          if (!under_way && !group.is_subscribed_to(topic) &&
              is_expired(group, value, now.wall_ms, config_.offsets_retention_ms)) {
            changes.push_back({{id, topic, partition}, {}});
          } else {
            keeps_some = true;
          }
        });
    const bool delete_group =
        !keeps_some && slot->writes == 0 && group.state() == GroupState::empty && !group.has_pending_members();
    if (changes.empty() && !delete_group) {
      continue;
    }
    out.notes.push_back("group " + id + ": " + count_of(std::ssize(changes), "offset") + " expired" +
                        (delete_group ? ", nothing is left of it" : ""));
    write_offsets(*slot, std::move(changes), {}, delete_group, now);
  }
}

std::int64_t GroupShard::live_bytes() const {
  std::int64_t sum = 0;
  for_each_live_record([&](const LogRecord& record) { sum += static_cast<std::int64_t>(record.size()); });
  return sum;
}

void GroupShard::plan_reappend() {
  if (!reappend_.empty() || log_bytes_ < reappend_check_at_ || has_unknown_records_) {
    return;
  }
  // Worth it when what is dead outweighs both the live state and the floor: then a replay reads at most twice the live
  // state, and each byte of it is written again at most once for every dead one.
  const auto live = live_bytes();
  const auto dirty_max = std::max(live, config_.reappend_dirty_bytes);
  if (log_bytes_ - live < dirty_max) {
    reappend_check_at_ = live + dirty_max;
    return;
  }
  for_each_live_record([&](LogRecord record) { reappend_.push_back(std::move(record)); });
  reappend_start_.reset();
  reappended_bytes_ = 0;
  if (reappend_.empty()) {  // all is dead: the log may start with whatever is appended next
    start_at_next_append_ = true;
    reappend_check_at_ = log_bytes_ + kRetryReappendAfterBytes;
  }
}

void GroupShard::reappend_done(Result<Offset> outcome, Effects& out) {
  reappending_ = false;
  if (!outcome) {
    // Nothing is lost: the old records are still there. Not again before the log has grown some more.
    reappend_.clear();
    reappend_check_at_ = log_bytes_ + kRetryReappendAfterBytes;
    out.notes.push_back("live group state could not be written again: " + to_string(outcome.error()));
    return;
  }
  if (!reappend_start_) {
    reappend_start_ = *outcome;
  }
  if (!reappend_.empty()) {
    return;
  }
  out.move_start = reappend_start_;
  log_bytes_ = reappended_bytes_;
  reappend_check_at_ = log_bytes_ + std::max(log_bytes_, config_.reappend_dirty_bytes);
}

}  // namespace weir::group
