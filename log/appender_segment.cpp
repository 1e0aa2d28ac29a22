// The part of the appender that ends one segment and begins the next, and that takes snapshots. Log role only.
#include "log/appender.hpp"

namespace weir::log {

bool Appender::segment_is_ready() {
  if ((!segment_ || segment_->valid_end() != 0) && !begin_segment()) {
    return false;
  }
  return pending_state_at_ == pending_state_.size() || put_pending_state();
}

bool Appender::begin_segment() {
  if (!image_.room_for(static_cast<std::int64_t>(kSegmentHeaderSize + kGroupEntrySize))) {
    stalled_on_image_ = true;
    return false;
  }
  {
    const std::scoped_lock lock(next_mutex_);
    segment_ = next_ ? std::move(next_) : segment_;
    next_ = nullptr;
  }
  if (!segment_ || segment_->valid_end() != 0) {
    if (!wants_segment_) {
      wants_segment_ = true;
      hooks_.want_segment();
    }
    return false;
  }
  wants_segment_ = true;  // the next one is prepared while this one fills
  hooks_.want_segment();
  WEIR_CHECK(!group_has_bytes_);
  segment_->begin(image_.tail());
  scratch_.assign(kSegmentHeaderSize, std::byte{0});
  encode(hooks_.segment_begins(segment_), scratch_);
  const auto from = image_.tail();
  image_.put(scratch_);
  begin_bytes();
  group_.from = from;
  group_.begins_segment = true;

  const auto oldest_begin = hooks_.begin_of_oldest_segment();
  for (const auto& [local, partition] : live_) {
    partition->forget_needless_truncations(oldest_begin);
  }
  const auto all = snapshot_of_all();
  StateChunker chunker;
  chunker.add(NodeState{next_local_});
  for (const auto& one : all->partitions) {
    chunker.add(one.state);
    for (const auto& producers : one.producers) {
      chunker.add(ProducersItem{one.state.local, producers});
    }
  }
  pending_state_ = chunker.finish();
  pending_state_at_ = 0;
  segment_entries_ = 0;
  has_entries_ = false;
  delta_from_ = static_cast<std::int64_t>(kSegmentHeaderSize);
  data_from_ = file_position();
  for (const auto& partition : changed_) {
    partition->role.changed_since_delta = false;
  }
  changed_.clear();
  return true;
}

// No append gets in between: the chunks are one state at one position.
bool Appender::put_pending_state() {
  while (pending_state_at_ < pending_state_.size()) {
    const auto& chunk = pending_state_[pending_state_at_];
    const auto size = entry_size(chunk.size());
    if (!image_.room_for(static_cast<std::int64_t>(size) + 3 * 4096)) {
      stalled_on_image_ = true;
      return false;
    }
    begin_bytes();
    const bool is_last = pending_state_at_ + 1 == pending_state_.size();
    scratch_.assign(size, std::byte{0});
    encode_entry(scratch_, segment_->seed(), file_position(), EntryKind::state,
                 is_last ? std::uint8_t{0} : entry_flags::continued, kNoPartition, now_ms_, chunk);
    image_.put(scratch_);
    ++pending_state_at_;
  }
  pending_state_.clear();
  pending_state_at_ = 0;
  data_from_ = file_position();
  return true;
}

// Closes the last group of the segment with a pad; the writer hands the snapshot to the keeper once it is in the file.
void Appender::fill_segment() {
  begin_bytes();
  group_.seal = snapshot_of_all();
  group_.seal->segment = segment_;
  group_.seal->next_local = next_local_;
  for (const auto& [local, partition] : live_) {
    partition->role.index = nullptr;  // the keeper may drop it before the next segment begins
  }
  due_delta_ = nullptr;  // the index file will hold more
  close_group(true);
  segment_->set_valid_end(file_position());
  closed_.back().seal->to = segment_->valid_end();
}

bool Appender::finish() {
  closing_ = true;
  return finish_segment();
}

bool Appender::finish_segment() {
  if (is_read_only()) {
    return true;
  }
  if (!segment_is_ready()) {
    return false;
  }
  if (has_entries_) {
    if (!image_.room_for(3 * 4096 + static_cast<std::int64_t>(kGroupEntrySize))) {
      stalled_on_image_ = true;
      return false;
    }
    fill_segment();
  }
  return segment_is_ready();
}

void Appender::expire_producers(Millis expiration_ms) {
  for (const auto& [local, partition] : live_) {
    partition->role.producers.expire(now_ms_, expiration_ms);
  }
}

bool Appender::roll(SegmentId segment) {
  const bool is_open = segment_ && segment_->id() == segment && segment_->valid_end() == 0;
  return !is_open || closing_ || finish_segment();
}

PartitionSnapshot Appender::snapshot_of(const std::shared_ptr<LogPartition>& partition) const {
  PartitionSnapshot snapshot;
  snapshot.partition = partition;
  snapshot.state = partition->state();
  if (!partition->role.producers.empty()) {
    snapshot.producers = partition->role.producers.encode();
  }
  if (auto* index = partition->role.index) {
    for (auto& open : partition->open_indexes()) {
      if (open.get() == index) {
        snapshot.index = std::move(open);
      }
    }
    snapshot.index_to = index->entries.size();
  }
  return snapshot;
}

std::unique_ptr<SegmentSnapshot> Appender::snapshot_of_all() {
  auto all = std::make_unique<SegmentSnapshot>();
  all->partitions.reserve(live_.size());
  for (const auto& [local, partition] : live_) {
    all->partitions.push_back(snapshot_of(partition));
  }
  return all;
}

void Appender::mark_changed(const std::shared_ptr<LogPartition>& partition) {
  if (!partition->role.changed_since_delta) {
    partition->role.changed_since_delta = true;
    changed_.push_back(partition);
  }
}

void Appender::take_delta_if_due() {
  const auto at = file_position();
  if (at - delta_from_ < limits_.delta_bytes || due_delta_) {
    return;
  }
  auto delta = std::make_unique<SegmentSnapshot>();
  delta->segment = segment_;
  delta->from = delta_from_;
  delta->to = at;
  std::sort(changed_.begin(), changed_.end(), [](const auto& a, const auto& b) { return a->local() < b->local(); });
  for (const auto& partition : changed_) {
    partition->role.changed_since_delta = false;
    if (partition->deleted()) {
      continue;
    }
    auto snapshot = snapshot_of(partition);
    if (snapshot.index) {
      snapshot.index_from = snapshot.index->in_deltas;
      snapshot.index->in_deltas = snapshot.index_to;
    }
    delta->partitions.push_back(std::move(snapshot));
  }
  changed_.clear();
  delta_from_ = at;
  due_delta_ = std::move(delta);
}

}  // namespace weir::log
