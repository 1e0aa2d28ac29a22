// Replay: partitions as the entries of the log tell them, one after the other: ends, epochs, producers and, for the
// segment that is being read, the index of its batches. A start goes through the end of the log with it; the index file
// of one sealed segment is made again with it.
//
// One thread; touches no disk. An entry that contradicts what came before it, or names a partition that damage has
// hidden, is left out.
#pragma once

#include <map>
#include <memory>

#include "log/entry.hpp"
#include "log/group.hpp"
#include "log/index_file.hpp"
#include "log/log_partition.hpp"
#include "log/state_entry.hpp"

namespace weir::log {

// Offsets that were given and are in no batch: damage took them. A log of a leader has no other gaps.
struct OffsetGap {
  PartitionKey key;
  Offset from;
  Offset to;  // the first one that is there again
};

class Replay {
 public:
  Replay() = default;

  // Entries and state items go into no segment's index before this.
  void begin_segment(std::shared_ptr<Segment> segment);
  void apply(const Entry& entry);
  // The next one of the segment; index entries in it are taken too.
  Result<void> apply_delta(const IndexDelta& delta);
  // The state of every partition at the end of a sealed segment.
  Result<void> take_states(const IndexFile& index);
  void forget_all() { live_.clear(); }

  // All partitions, and what they have in the current segment, which ends at file position `end`.
  [[nodiscard]] SegmentSnapshot snapshot(std::int64_t end) const;
  [[nodiscard]] const std::map<LocalPartition, std::shared_ptr<LogPartition>>& live() const { return live_; }
  [[nodiscard]] LocalPartition next_local() const { return next_local_; }  // above every number seen
  void raise_next_local(LocalPartition next) { next_local_ = std::max(next_local_, next); }
  [[nodiscard]] std::int64_t entries() const { return entries_; }  // in the index of the current segment
  [[nodiscard]] const std::vector<OffsetGap>& gaps() const { return gaps_; }

 private:
  struct Items {
    Bytes bytes;
    const IndexDelta* delta = nullptr;  // they are of this one
    bool say_it_all = false;            // also where they say nothing new
  };
  Result<void> apply_items(const Items& items);
  void apply_state(const PartitionState& state, const Items& items);
  void apply_batch(const Entry& entry);
  void apply_truncated(const Entry& entry);
  void add_to_index(LogPartition& partition, const IndexEntry& entry, Millis append_ms);
  LogPartition* find(LocalPartition local);
  LogPartition& get_or_create(LocalPartition local, const PartitionKey& key);

  std::shared_ptr<Segment> segment_;
  std::map<LocalPartition, std::shared_ptr<LogPartition>> live_;
  LocalPartition next_local_{1};
  LocalPartition known_already_{kNoPartition};  // its state was read last, and said nothing new
  std::int64_t entries_ = 0;
  std::int64_t members_end_ = 0;  // of the last whole atomic group in the current segment
  std::vector<OffsetGap> gaps_;
};

}  // namespace weir::log
