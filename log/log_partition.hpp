// LogPartition: everything the log holds of one partition. Each member says who may touch it. OpenIndex: where the
// batches of one partition lie in one segment that has no index file yet.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "log/epoch_list.hpp"
#include "log/memory_partition.hpp"
#include "log/offset_index.hpp"
#include "log/partition.hpp"
#include "log/producer_state.hpp"
#include "log/segment.hpp"
#include "log/state_entry.hpp"

namespace weir::log {

// Written by the log role; read by anybody up to the high watermark, and as a whole once the segment is full.
struct OpenIndex {
  explicit OpenIndex(std::shared_ptr<Segment> of) : segment(std::move(of)) {}
  const std::shared_ptr<Segment> segment;
  OffsetIndex entries;
  std::atomic<std::int64_t> batch_bytes{0};
  std::atomic<Millis> newest_append_ms{-1};
  std::size_t in_deltas = 0;  // log role: entries that deltas have taken
};

// What the last pass of retention found, so that the next one need not look where nothing can have expired. Belongs to
// the pass (log/retention_scan).
struct RetentionWatch {
  // As they were then; if one is another now, or the wall clock is before `looked_ms`, it is looked again.
  Offset start{-1};
  Millis retention_ms = -1;
  std::int64_t retention_bytes = -1;
  std::int64_t truncation_count = 0;
  Millis looked_ms = 0;
  // Before that time, and until that many bytes were appended in all, the first batch stays.
  Millis due_ms = 0;
  std::int64_t due_bytes = 0;
  // The first entries of one segment, which lie below the log start, and their bytes: each is counted once.
  SegmentId passed_in{0};
  std::size_t passed = 0;
  std::int64_t passed_bytes = 0;
};

class LogPartition final : public Partition {
 public:
  LogPartition(PartitionKey key, LocalPartition local, const PartitionRules& rules)
      : Partition(key, local),
        is_replicated_(rules.replicated && !rules.memory),
        flush_(rules.flush),
        flush_ms_(rules.flush_ms),
        rules_(rules) {}

  // Of a memory topic: its records. Set before anybody can find the partition; null: they are in the log.
  std::unique_ptr<MemoryPartition> memory;

  // Any thread.
  [[nodiscard]] bool is_replicated() const { return is_replicated_; }
  [[nodiscard]] FlushMode flush() const { return flush_.load(std::memory_order_acquire); }
  [[nodiscard]] Millis flush_ms() const { return flush_ms_.load(std::memory_order_acquire); }
  [[nodiscard]] PartitionRules rules() const {
    const std::scoped_lock lock(mutex_);
    return rules_;
  }
  // True: what it has may not stay unsynced as long as it might have until now.
  bool set_rules(const PartitionRules& rules) {
    const std::scoped_lock lock(mutex_);
    const bool is_stricter =
        rules_.flush == FlushMode::async && (rules.flush == FlushMode::sync || rules.flush_ms < rules_.flush_ms);
    rules_ = rules;
    flush_ms_.store(rules.flush_ms, std::memory_order_release);
    flush_.store(rules.flush, std::memory_order_release);
    return is_stricter;
  }
  // Batch bytes since the process began. A truncation takes none of them back.
  [[nodiscard]] std::int64_t appended_bytes() const { return appended_bytes_.load(std::memory_order_acquire); }
  // The log start that no power cut takes back: log_start(), or where it was before a move that is not synced yet.
  [[nodiscard]] Offset durable_start() const { return {durable_start_.load(std::memory_order_acquire)}; }
  // A move of the start is synced. Never goes back, in whatever order they are told.
  void set_durable_start(Offset start) {
    for (auto known = durable_start_.load(std::memory_order_relaxed);
         known < start.value && !durable_start_.compare_exchange_weak(known, start.value, std::memory_order_release);) {
    }
  }
  // Indexes of the segments that have no index file yet, oldest first. Taken before a version of the segment set, it
  // covers together with that version all visible batches.
  [[nodiscard]] std::vector<std::shared_ptr<OpenIndex>> open_indexes() const {
    const std::scoped_lock lock(mutex_);
    return open_indexes_;
  }
  // Of its batches in segments before their own. Taken after a version of the segment set that is still the current one
  // afterwards, they cover all that version has; see BatchCursor.
  [[nodiscard]] TruncationList truncations() const {
    if (!was_truncated()) {
      return {};
    }
    const std::scoped_lock lock(mutex_);
    return truncations_;
  }
  [[nodiscard]] bool was_truncated() const { return was_truncated_.load(std::memory_order_acquire); }
  // How often since the process began.
  [[nodiscard]] std::int64_t truncation_count() const { return truncation_count_.load(std::memory_order_acquire); }
  [[nodiscard]] EpochStart epoch_end(LeaderEpoch epoch, Offset log_end) const {
    const std::scoped_lock lock(mutex_);
    return epochs_.end_of(epoch, log_end);
  }
  [[nodiscard]] LeaderEpoch epoch_at(Offset offset) const {
    const std::scoped_lock lock(mutex_);
    return epochs_.epoch_at(offset);
  }
  // The segment's index file is in the current version of the segment set.
  void drop_open_index(SegmentId segment) {
    std::shared_ptr<OpenIndex> dropped;
    const std::scoped_lock lock(mutex_);
    const auto found = std::find_if(open_indexes_.begin(), open_indexes_.end(),
                                    [&](const auto& index) { return index->segment->id() == segment; });
    if (found != open_indexes_.end()) {
      dropped = std::move(*found);
      open_indexes_.erase(found);
    }
  }

  // Log role, and recovery before the roles start.
  struct Role {
    ProducerTable producers;
    OpenIndex* index = nullptr;     // of the segment that is being filled, null if it has no batch there
    std::int64_t record_count = 0;  // data records appended since the last truncation
    Offset bound{0};                // replicated: the high watermark never goes above it; truncations stop there
    Offset reserved_end{-1};        // memory topics: no offset below it is ever given again by a later process
    bool created = false;           // its created entry is in the log
    int created_copies_due = 0;     // with its next batches, each in another block
    std::int64_t created_copy_block = -1;
    bool changed_since_delta = false;
  };
  Role role;
  void count_appended(std::int64_t bytes) {
    appended_bytes_.store(appended_bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
  }
  void set_log_end(Offset end) { log_end_.store(end.value, std::memory_order_release); }
  void set_log_start(Offset start) { log_start_.store(start.value, std::memory_order_release); }
  void assign_epoch(LeaderEpoch epoch, Offset start) {
    const std::scoped_lock lock(mutex_);
    if (epochs_.assign(epoch, start)) {
      leader_epoch_.store(epoch.value, std::memory_order_release);
    }
  }
  // The first one; -1: none is known, the batches of the leader will say it.
  void begin_epochs(LeaderEpoch epoch, Offset start) {
    leader_epoch_.store(epoch.value, std::memory_order_release);
    assign_epoch(epoch, start);
  }
  void forget_epochs_before(Offset start) {
    const std::scoped_lock lock(mutex_);
    epochs_.truncate_before(start);
  }
  void reserve(Offset end);  // as the log tells it: it begins there, and has nothing
  // Memory topics, under the mutex of `memory`.
  void follow_memory() {
    const auto& store = memory->store;
    const auto end = store.log_end().value;
    log_end_.store(end, std::memory_order_release);
    written_end_.store(end, std::memory_order_release);
    durable_end_.store(end, std::memory_order_release);
    high_watermark_.store(end, std::memory_order_seq_cst);
    if (store.log_start() > log_start()) {
      set_log_start(store.log_start());
      forget_epochs_before(store.log_start());
    }
  }
  OpenIndex& begin_index(const std::shared_ptr<Segment>& segment);
  [[nodiscard]] PartitionState state() const;  // as a state item, as of the log end
  void restore(const PartitionState& state);   // the reverse, without the ends of the write role; recovery
  // What state() is once the log ends at `end` by an entry at `at`. truncate() makes it so: restores it and takes what
  // is gone out of the open index. Producers are not touched.
  [[nodiscard]] PartitionState state_truncated(Offset end, LogPosition at) const;
  void truncate(const PartitionState& state);
  void cut_index(Offset end);  // of the segment that is being filled; readers keep the one they have
  void forget_needless_truncations(LogPosition oldest_begin) {
    if (was_truncated()) {
      const std::scoped_lock lock(mutex_);
      truncations_.forget_needless(oldest_begin);
    }
  }

  // Write role, and recovery before it starts.
  struct Ends {
    bool is_listed_unsynced = false;
    bool is_listed_moved = false;
  };
  Ends writer;
  void set_written(Offset end) { raise(written_end_, end); }
  void set_durable(Offset end) { raise(durable_end_, end); }
  void set_truncated(Offset end) {
    lower(written_end_, end);
    lower(durable_end_, end);
  }
  void set_bound(Offset bound) { bound_ = std::max(bound_, bound); }
  // True if it moved.
  bool follow_high_watermark() {
    const auto target = flush() == FlushMode::sync ? durable_end() : written_end();
    return raise(high_watermark_, is_replicated_ ? std::min(target, bound_) : target, std::memory_order_seq_cst);
  }
  // Recovery: as the log tells it.
  void set_known_high_watermark(Offset high_watermark) {
    high_watermark_.store(std::min(high_watermark, log_end()).value, std::memory_order_release);
  }
  // Recovery is over and has synced all there is. Alone it is all visible; of a replica only what was known to be.
  void begin_life(const PartitionRules& rules) {
    is_replicated_ = rules.replicated && !rules.memory;
    set_written(log_end());
    set_durable(log_end());
    set_durable_start(log_start());
    set_known_high_watermark(is_replicated_ ? std::max(high_watermark(), log_start()) : log_end());
    role.bound = bound_ = high_watermark();
  }

  // One pass of retention at a time.
  RetentionWatch watch;

  // Controller executor, once.
  void mark_deleted() { deleted_.store(true, std::memory_order_seq_cst); }

 private:
  // The high watermark in sequentially consistent order, for who waits for it: see Partition::waiters.
  static bool raise(std::atomic<std::int64_t>& end, Offset to, std::memory_order order = std::memory_order_release) {
    if (end.load(std::memory_order_relaxed) >= to.value) {
      return false;
    }
    end.store(to.value, order);
    return true;
  }

  static void lower(std::atomic<std::int64_t>& end, Offset to) {
    if (end.load(std::memory_order_relaxed) > to.value) {
      end.store(to.value, std::memory_order_release);
    }
  }

  bool is_replicated_;  // set before the roles start
  Offset bound_{0};     // write role
  std::atomic<bool> was_truncated_{false};
  std::atomic<std::int64_t> truncation_count_{0};
  std::atomic<FlushMode> flush_;
  std::atomic<Millis> flush_ms_;
  std::atomic<std::int64_t> appended_bytes_{0};
  std::atomic<std::int64_t> durable_start_{0};
  mutable std::mutex mutex_;  // guards what follows
  PartitionRules rules_;
  EpochList epochs_;
  TruncationList truncations_;
  std::vector<std::shared_ptr<OpenIndex>> open_indexes_;
};

}  // namespace weir::log
