#include "log/batch_cursor.hpp"

namespace weir::log {
namespace {

std::int64_t overlap(Offset first, Offset end, Offset from, Offset to) {
  return std::max<std::int64_t>(std::min(to, end) - std::max(from, first), 0);
}

template <class Entries>  // OffsetIndex or IndexSection
std::int64_t count_entries(const Entries& entries, std::size_t size, bool has_gaps, Offset from, Offset to) {
  if (size == 0) {
    return 0;
  }
  if (!has_gaps) {
    return overlap(entries.at(0).base_offset, entries.at(size - 1).last_offset + 1, from, to);
  }
  std::int64_t total = 0;
  for (auto number = entries.find(from); number < size; ++number) {
    const auto entry = entries.at(number);
    if (entry.base_offset >= to) {
      break;
    }
    total += overlap(entry.base_offset, entry.last_offset + 1, from, to);
  }
  return total;
}

}  // namespace

// The open indexes first: what the keeper drops from them it has put into the version before. An index that a
// truncation has replaced gets no more batches, so with the truncations as they are afterwards it is what was before
// it.
BatchCursor::BatchCursor(const SegmentList& list, const LogPartition& partition)
    : local_(partition.local()),
      open_(partition.open_indexes()),
      version_(list.current()),
      truncations_(partition.truncations()) {
  // Those behind a segment of the version are made known before it is sealed, and forgotten after it is removed.
  while (partition.was_truncated() && version_ != list.current()) {
    version_ = list.current();
    truncations_ = partition.truncations();
  }
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
  return enter(run_of(offset), offset);
}

std::size_t BatchCursor::run_of(Offset offset) const {
  const auto& members = version_->members;
  const auto sealed_end = members.begin() + static_cast<std::ptrdiff_t>(sealed_count_);
  // Every directory has the log end of every partition that lived then, so the first one beyond the offset is the
  // place. What was truncated later does not count: without it the ends rise.
  const auto found = std::partition_point(members.begin(), sealed_end, [&](const auto& member) {
    const auto row = member.index->find(local_);
    return !row || std::min(row->next_offset, end_of_live(*member.segment)) <= offset;
  });
  return static_cast<std::size_t>(found - members.begin());
}

Offset BatchCursor::end_of_live(const Segment& sealed) const {
  return truncations_.end_behind(sealed.start() + sealed.valid_end());
}

// They are in the order of the offsets and of the log, so what a later truncation has taken is a tail of them.
template <class Entries>
std::size_t BatchCursor::count_live(const Entries& entries, std::size_t size, const Segment& of) const {
  if (truncations_.empty() || size == 0) {
    return size;
  }
  return std::min(size, entries.find(truncations_.end_behind(of.start() + entries.at(size - 1).position)));
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
    size_ = count_live(section_, section_.size(), *segment_);
    if (stand_at(section_.find(offset))) {
      return true;
    }
  }
  for (; run_ < sealed_count_ + open_.size(); ++run_) {
    const auto& index = *open_[run_ - sealed_count_];
    segment_ = index.segment;
    size_ = count_live(index.entries, index.entries.size(), *segment_);
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

Millis BatchCursor::newest_append_ms() const {
  return is_sealed() ? row_.newest_append_ms
                     : open_[run_ - sealed_count_]->newest_append_ms.load(std::memory_order_relaxed);
}

std::int64_t BatchCursor::bytes_since(std::size_t from) const {
  std::int64_t bytes = 0;
  for (; from < number_; ++from) {
    bytes += is_sealed() ? section_.at(from).size : open_[run_ - sealed_count_]->entries.at(from).size;
  }
  return bytes;
}

std::vector<BatchCursor::Run> BatchCursor::runs_from(Offset offset) const {
  std::vector<Run> runs;
  for (auto run = run_of(offset); run < sealed_count_; ++run) {
    const auto& segment = *version_->members[run].segment;
    const auto row = row_of(run);
    const auto end_of_live = this->end_of_live(segment);
    if (row && row->entry_count > 0 && row->first_offset < end_of_live) {
      runs.push_back({segment.id(), row->first_offset, std::min(row->next_offset, end_of_live), row->batch_bytes,
                      row->max_timestamp, row->newest_append_ms, row->next_offset <= end_of_live});
    }
  }
  for (const auto& index : open_) {
    const auto& entries = index->entries;
    const auto size = entries.size();
    const auto live = count_live(entries, size, *index->segment);
    if (live > 0) {
      runs.push_back({index->segment->id(), entries.at(0).base_offset, entries.at(live - 1).last_offset + 1,
                      index->batch_bytes.load(std::memory_order_relaxed), entries.max_timestamp(),
                      index->newest_append_ms.load(std::memory_order_relaxed), live == size});
    }
  }
  return runs;
}

std::optional<IndexRow> BatchCursor::row_of(std::size_t run) const {
  return run < sealed_count_ ? version_->members[run].index->find(local_) : std::nullopt;
}

Result<std::int64_t> BatchCursor::count(Offset from, Offset to) {
  std::int64_t total = 0;
  if (from >= to) {
    return total;
  }
  for (auto run = run_of(from); run < sealed_count_; ++run) {
    const auto row = row_of(run);
    if (!row || row->entry_count == 0 || row->first_offset >= end_of_live(*version_->members[run].segment)) {
      continue;
    }
    if (row->first_offset >= to) {
      return total;
    }
    WEIR_TRY(const auto more, count_sealed(run, *row, from, to));
    total += more;
  }
  for (const auto& index : open_) {
    const auto size = count_live(index->entries, index->entries.size(), *index->segment);  // before has_gaps()
    total += count_entries(index->entries, size, index->entries.has_gaps(), from, to);
  }
  return total;
}

Result<std::int64_t> BatchCursor::count_sealed(std::size_t run, const IndexRow& row, Offset from, Offset to) {
  // The running count rises over a segment by as many as its offsets, or something is missing there or just before. Of
  // the oldest segment, and behind one that was removed, nobody knows where its count began: only a partition that
  // never lacked anything can be told. A truncation begins the count anew, so its segment looks as if something lacked.
  const auto& segment = *version_->members[run].segment;
  auto count_before = row.first_offset.value;
  if (run > 0 && is_next(segment, *version_->members[run - 1].segment)) {
    const auto previous = row_of(run - 1);
    count_before = previous ? previous->record_count : 0;
  }
  const bool is_whole = row.next_offset <= end_of_live(segment);
  if (is_whole && row.record_count - count_before == row.next_offset - row.first_offset) {
    return overlap(row.first_offset, row.next_offset, from, to);
  }
  WEIR_TRY(const auto section, version_->members[run].index->section(row));
  return count_entries(section, count_live(section, section.size(), segment), true, from, to);
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
