#include "log/batch_cursor.hpp"

namespace weir::log {

// The open indexes first: what the keeper drops from them it has put into the version before.
BatchCursor::BatchCursor(const SegmentList& list, const LogPartition& partition)
    : local_(partition.local()), open_(partition.open_indexes()), version_(list.current()) {
  const auto& members = version_->members;
  sealed_count_ = static_cast<std::size_t>(
      std::partition_point(members.begin(), members.end(), [](const auto& member) { return member.index != nullptr; }) -
      members.begin());
  if (sealed_count_ > 0) {
    const auto last_sealed = members[sealed_count_ - 1].segment->id();
    std::erase_if(open_, [&](const auto& index) { return index->segment->id() <= last_sealed; });
  }
}

Result<bool> BatchCursor::seek(Offset offset) {
  const auto& members = version_->members;
  const auto sealed_end = members.begin() + static_cast<std::ptrdiff_t>(sealed_count_);
  // Every directory has the log end of every partition that lived then, so the first one beyond the offset is the
  // place.
  const auto found = std::partition_point(members.begin(), sealed_end, [&](const auto& member) {
    const auto row = member.index->find(local_);
    return !row || row->next_offset <= offset;
  });
  return enter(static_cast<std::size_t>(found - members.begin()), offset);
}

Result<bool> BatchCursor::next() {
  if (stand_at(number_ + 1)) {
    return true;
  }
  return enter(run_ + 1, Offset{-1});
}

Result<bool> BatchCursor::enter(std::size_t run, Offset offset) {
  for (run_ = run; run_ < sealed_count_; ++run_) {
    const auto& member = version_->members[run_];
    const auto row = member.index->find(local_);
    if (!row || row->entry_count == 0) {
      continue;
    }
    row_ = *row;
    segment_ = member.segment;
    WEIR_TRY(section_, member.index->section(row_));
    size_ = section_.size();
    if (stand_at(section_.find(offset))) {
      return true;
    }
  }
  for (; run_ < sealed_count_ + open_.size(); ++run_) {
    const auto& index = *open_[run_ - sealed_count_];
    segment_ = index.segment;
    size_ = index.entries.size();
    if (stand_at(index.entries.find(offset))) {
      return true;
    }
  }
  return false;
}

bool BatchCursor::stand_at(std::size_t number) {
  if (number >= size_) {
    return false;
  }
  number_ = number;
  entry_ = is_sealed() ? section_.at(number) : open_[run_ - sealed_count_]->entries.at(number);
  return true;
}

Result<bool> BatchCursor::skip_to_time(Millis timestamp) {
  for (;;) {
    const bool has_none = is_sealed() && row_.max_timestamp < timestamp;
    if (!has_none) {
      const auto number = is_sealed() ? section_.find_by_time(timestamp, number_)
                                      : open_[run_ - sealed_count_]->entries.find_by_time(timestamp, number_);
      if (stand_at(number)) {
        return true;
      }
    }
    WEIR_TRY(const bool found, next_segment());
    if (!found) {
      return false;
    }
  }
}

}  // namespace weir::log
