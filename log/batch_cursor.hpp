// BatchCursor: walks the batches of one partition in offset order, over sealed segments (index files) and the ones that
// are not sealed (indexes in memory). Holds a version of the segment set, so no file vanishes under it. What a
// truncation has taken it does not see; during one that comes meanwhile it goes on in what was before it. One thread;
// may touch index pages that are not in memory.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "log/index_file.hpp"
#include "log/log_partition.hpp"
#include "log/segment.hpp"

namespace weir::log {

class BatchCursor {
 public:
  BatchCursor(const SegmentList& list, const LogPartition& partition);

  // To the batch that holds `offset`, or the next one after it. False: there is none.
  Result<bool> seek(Offset offset);
  Result<bool> next();
  // Data records at the offsets [from, to), as far as indexes know them: what a gap (damage) has swallowed is not
  // counted. A segment without gaps costs one row; where the rows tell of a gap, its entries are walked. Leaves the
  // cursor nowhere.
  Result<std::int64_t> count(Offset from, Offset to);
  // To the first batch at or after the current one whose largest timestamp is at least `timestamp`.
  Result<bool> skip_to_time(Millis timestamp);

  [[nodiscard]] const IndexEntry& entry() const { return entry_; }
  [[nodiscard]] const std::shared_ptr<Segment>& segment() const { return segment_; }
  [[nodiscard]] LogPosition position() const { return segment_->start() + entry_.position; }
  [[nodiscard]] Offset end() const { return entry_.last_offset + 1; }
  [[nodiscard]] const SegmentSet& version() const { return *version_; }
  [[nodiscard]] const TruncationList& truncations() const { return truncations_; }  // of the batches in version()
  [[nodiscard]] bool is_sealed() const { return run_ < sealed_count_; }
  // The row of the current batch's segment; only if is_sealed().
  [[nodiscard]] const IndexRow& row() const { return row_; }
  // All batches that its index file has count: no truncation behind it has taken any. Only if is_sealed().
  [[nodiscard]] bool is_whole() const { return size_ == row_.entry_count; }
  // To the first batch of the next segment that has one.
  Result<bool> next_segment() { return enter(run_ + 1, Offset{-1}); }
  // The append time of the newest batch that the current one's segment has of the partition; -1: unknown.
  [[nodiscard]] Millis newest_append_ms() const;
  // The current batch is entry number number() of its segment. The bytes of the entries [from, number()) there.
  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] std::int64_t bytes_since(std::size_t from) const;

  // What one segment has of the partition, without a look at single batches.
  struct Run {
    SegmentId segment;
    Offset first_offset;
    Offset end;
    std::int64_t batch_bytes = 0;
    Millis max_timestamp = -1;
    Millis newest_append_ms = -1;
    bool is_whole = true;  // no later truncation has taken any of it; else the numbers are too large
  };
  // Of each segment with batches, from the one that holds `offset` on. One row of a sealed segment, no section.
  [[nodiscard]] std::vector<Run> runs_from(Offset offset) const;

 private:
  Result<bool> enter(std::size_t run, Offset offset);
  bool stand_at(std::size_t number);
  [[nodiscard]] std::size_t run_of(Offset offset) const;
  [[nodiscard]] std::optional<IndexRow> row_of(std::size_t run) const;
  [[nodiscard]] Offset end_of_live(const Segment& sealed) const;
  template <class Entries>  // OffsetIndex or IndexSection
  [[nodiscard]] std::size_t count_live(const Entries& entries, std::size_t size, const Segment& of) const;
  Result<std::int64_t> count_sealed(std::size_t run, const IndexRow& row, Offset from, Offset to);

  const LocalPartition local_;
  std::vector<std::shared_ptr<OpenIndex>> open_;  // those whose segment has no index file in version_
  std::shared_ptr<const SegmentSet> version_;
  TruncationList truncations_;
  std::size_t sealed_count_ = 0;  // members [0, sealed_count_) have one

  // Where we stand: runs [0, sealed_count_) are members, the ones behind are open_.
  std::size_t run_ = 0;
  std::size_t number_ = 0;
  std::size_t size_ = 0;  // entries of the run that count, as it was when we came
  IndexRow row_;
  IndexSection section_{Bytes{}};
  IndexEntry entry_;
  std::shared_ptr<Segment> segment_;
};

}  // namespace weir::log
