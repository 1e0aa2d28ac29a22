#include "log/writer.hpp"

#include <cerrno>

namespace weir::log {
namespace {
constexpr Millis kRefuseAfterMs = 5'000;  // clients give a request 30 s by default
}  // namespace

void Writer::wake() {
  if (!is_active_.load(std::memory_order_seq_cst) && !is_active_.exchange(true, std::memory_order_seq_cst)) {
    hooks_.post_writer_turn();
  }
}

void Writer::turn() {
  sync_is_wanted_ = std::exchange(sync_is_due_, false) || sync_is_wanted_;
  if (appender_.request_groups(sync_is_wanted_, groups_)) {
    work();
  }
}

void Writer::resumed() {
  if (retry_is_due_) {  // which goes on with them
    std::vector<Group> more;
    appender_.take_groups(more);
    add(more);
    return;
  }
  is_asking_ = false;
  appender_.take_groups(groups_);
  work();
}

void Writer::ask_for_more() {
  if (!std::exchange(is_asking_, true)) {
    if (std::vector<Group> more; appender_.request_groups(false, more)) {
      add(more);
    }
  }
}

void Writer::add(std::vector<Group>& more) {
  is_asking_ = false;
  std::ranges::move(more, std::back_inserter(groups_));
}

void Writer::retry() {
  retry_is_due_ = false;
  work();
}

void Writer::sync_now() {
  if (has_failed_) {
    return;
  }
  if (unsynced_segments_.empty() && keeper_syncs_ == 0) {  // the keeper was faster
    publish_synced();
    announce();
    return;
  }
  sync_is_due_ = true;
  wake();
}

void Writer::work() {
  for (; next_group_ < groups_.size(); ++next_group_) {
    auto& group = groups_[next_group_];
    if (!has_failed_) {
      if (auto written = write_group(group); !written) {
        if (is_shortage(written.error()) && hooks_.wait_out(written.error())) {
          wait();
          return;
        }
        fail(written.error());
      }
    }
    waits_since_.reset();
    if (has_failed_) {
      answer_failed(group.items);
    } else {
      publish_written(group);
    }
  }
  groups_.clear();
  next_group_ = 0;
  announce();        // what needs no sync is visible and answered before the sync begins
  if (is_asking_) {  // since it waited for room: resumed() brings more
    return;
  }
  sync_if_wanted();
  announce();
  go_idle();
}

void Writer::wait() {
  retry_is_due_ = true;
  const auto now = clock_.monotonic_ms();
  if (!waits_since_) {
    waits_since_ = now;
  }
  if (now - *waits_since_ >= kRefuseAfterMs) {
    ask_for_more();  // what went in before the log knew that there is no room
    for (auto number = next_group_; number < groups_.size(); ++number) {
      refuse_who_waits(groups_[number].items);
    }
    refuse_who_waits(waiting_);
  }
  announce();
}

// Producers hear that the disk has failed them (56); what they sent has its place in the log all the same and may turn
// up, as after any time-out. Coordinators go on waiting: their state must be what the log says.
void Writer::refuse_who_waits(std::vector<GroupItem>& items) {
  for (auto& item : items) {
    if (item.is_producers && item.answer.on != nullptr) {
      item.answer.outcome.error = Error{Errc::disk_failed, ENOSPC};  // of such a one nobody knows
      answers_.add(std::exchange(item.answer, {}));
    }
  }
}

void Writer::go_idle() {
  is_active_.store(false, std::memory_order_seq_cst);
  if (appender_.writer_is_needed() || sync_is_due_) {
    wake();
  }
}

Result<void> Writer::write_group(Group& group) {
  if (group.from == group.to) {
    return {};
  }
  const auto end = group.to - group.segment->start();
  WEIR_TRY_VOID(hooks_.admit(*group.segment, group.begins_segment, end));
  if (unsynced_segments_.empty() || unsynced_segments_.back() != group.segment) {
    unsynced_segments_.push_back(group.segment);
  }
  ImageReader image{image_};
  pieces_.clear();
  WEIR_CHECK(image.hold(group.from, static_cast<std::size_t>(group.to - group.from), pieces_));
  parts_.clear();
  for (const auto& piece : pieces_) {
    parts_.push_back(piece.view());
  }
  const auto at = group.from - group.segment->start().value;
  {
    const Doing::Step writing{doing_, "a write to the log"};
    WEIR_TRY_VOID(meter_.write_at(group.segment->writing_file(), at.value, parts_));
  }
  pieces_.clear();
  hooks_.wrote(group.to - group.from);
  return {};
}

void Writer::publish_written(Group& group) {
  if (group.from != group.to) {
    image_.set_written(group.to);
    written_.store(group.to.value, std::memory_order_release);
  }
  sync_is_wanted_ = sync_is_wanted_ || group.needs_sync;
  if (!sync_is_wanted_ && group.sync_within_ms != kNoFlushMs) {
    hooks_.sync_within(group.sync_within_ms);
  }
  for (auto& item : group.items) {
    if (item.partition) {
      auto& partition = *item.partition;
      publish(item);
      if (!partition.writer.is_listed_unsynced && partition.durable_end() < partition.written_end()) {
        partition.writer.is_listed_unsynced = true;
        unsynced_.push_back(item.partition);
      }
      if (partition.follow_high_watermark()) {
        list_moved(item.partition);
      }
    }
    if (item.is_synced_answer) {
      if (item.answer.on != nullptr) {
        waiting_.push_back(std::move(item));
      }
    } else {
      answers_.add(std::move(item.answer));
    }
  }
  if (group.delta) {
    hooks_.write_delta(std::move(group.delta));
  }
  if (group.seal) {
    // What waits for a sync does not wait for the pool: then the few bytes left are synced right here.
    std::erase(unsynced_segments_, group.segment);
    bool is_synced = false;
    if (sync_is_wanted_ && keeper_syncs_ == 0) {
      if (auto synced = sync(*group.segment); !synced) {
        fail(synced.error());
        return;
      }
      is_synced = true;
    } else {
      ++keeper_syncs_;
    }
    hooks_.seal(std::move(group.seal), is_synced);
  }
}

void Writer::publish(const GroupItem& item) {
  auto& partition = *item.partition;
  switch (item.tells) {
    case Tells::log_end: partition.set_written(item.end); return;
    case Tells::truncated: partition.set_truncated(item.end); return;
    case Tells::bound: partition.set_bound(item.end); return;
  }
}

void Writer::sync_if_wanted() {
  if (!sync_is_wanted_ || keeper_syncs_ > 0 || has_failed_) {
    return;
  }
  for (const auto& segment : unsynced_segments_) {
    if (auto synced = sync(*segment); !synced) {
      fail(synced.error());
      return;
    }
  }
  unsynced_segments_.clear();
  publish_synced();
}

Result<void> Writer::sync(Segment& segment) {
  const Doing::Step syncing{doing_, "a sync of the log"};
  return meter_.sync(segment.writing_file());
}

void Writer::publish_synced() {
  sync_is_wanted_ = false;
  hooks_.all_is_synced();
  appender_.set_synced(written());
  for (auto& partition : unsynced_) {
    partition->writer.is_listed_unsynced = false;
    partition->set_durable(partition->written_end());
    if (partition->follow_high_watermark()) {
      list_moved(partition);
    }
  }
  unsynced_.clear();
  for (auto& item : waiting_) {
    answers_.add(std::move(item.answer));
  }
  waiting_.clear();
}

void Writer::segment_synced(const Result<void>& result) {
  --keeper_syncs_;
  if (!result) {
    fail(result.error());
    return;
  }
  if (sync_is_wanted_) {
    wake();
  }
}

void Writer::list_moved(const std::shared_ptr<LogPartition>& partition) {
  if (!partition->writer.is_listed_moved) {
    partition->writer.is_listed_moved = true;
    moved_.push_back(partition);
    moved_marks_.push_back(partition);
  }
}

// Visible first, then answered: who has an answer finds the record below the high watermark.
void Writer::announce() {
  for (const auto& partition : moved_marks_) {
    partition->writer.is_listed_moved = false;
  }
  moved_marks_.clear();
  answers_.post_all();
  if (!moved_.empty()) {
    observer_.advanced(moved_);
    moved_.clear();
  }
}

void Writer::answer_failed(std::vector<GroupItem>& items) {
  for (auto& item : items) {
    item.answer.outcome.error = Error{Errc::disk_failed};
    answers_.add(std::move(item.answer));
  }
  items.clear();
}

void Writer::fail(Error error) {
  if (!has_failed_) {
    has_failed_ = true;
    appender_.set_read_only(is_shortage(error) ? Errc::disk_full : Errc::read_only);
    hooks_.writer_failed(error);
  }
  answer_failed(waiting_);
  answers_.post_all();
  sync_is_wanted_ = false;
}

}  // namespace weir::log
