// Partition: the state of one partition that many threads read. The ends are atomics with one writer each (named
// below); everything else belongs to the log role. Held by shared_ptr: a deleted partition lives until its last user
// lets go.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "base/ids.hpp"

namespace weir::log {

struct PartitionKey {
  Uuid topic_id;
  std::int32_t index = 0;
  friend auto operator<=>(const PartitionKey&, const PartitionKey&) = default;
};

enum class FlushMode : std::uint8_t { sync, async };
inline constexpr Millis kNoFlushMs = std::numeric_limits<Millis>::max();

// What the topic's config asks of the log. Replaced as a whole by CommitLog::set_rules.
struct PartitionRules {
  FlushMode flush = FlushMode::sync;
  Millis flush_ms = kNoFlushMs;       // async: nothing stays written and not synced for longer
  bool delete_old = true;             // cleanup.policy has delete
  bool compact = false;               // cleanup.policy has compact: pins segments until the merger comes
  Millis retention_ms = 604'800'000;  // -1: no bound
  std::int64_t retention_bytes = -1;  // -1: no bound
  bool memory = false;                // fixed when the partition is made; see log/memory_topics.hpp
  // It has replicas elsewhere: its high watermark also waits for CommitLog::bound_high_watermark, and it may append as
  // a follower and be truncated. Fixed when the partition is made or the log is opened; not for memory topics.
  bool replicated = false;
  friend bool operator==(const PartitionRules&, const PartitionRules&) = default;
};

// The offsets that readers may see. written, durable and visible are moved by the write role, log_end and log_start by
// the log role; of a memory topic's partition all are moved by log/memory_topics, and all but log_start are the same.
// log_start <= high_watermark <= min(durable_end or written_end by flush mode) <= log_end; after a truncation the
// written and durable ends are above log_end until its entry is written.
class PartitionEnds {
 public:
  [[nodiscard]] Offset log_start() const { return {log_start_.load(std::memory_order_acquire)}; }
  [[nodiscard]] Offset log_end() const { return {log_end_.load(std::memory_order_acquire)}; }
  [[nodiscard]] Offset written_end() const { return {written_end_.load(std::memory_order_acquire)}; }
  [[nodiscard]] Offset durable_end() const { return {durable_end_.load(std::memory_order_acquire)}; }
  [[nodiscard]] Offset high_watermark() const { return {high_watermark_.load(std::memory_order_seq_cst)}; }
  // No transactions yet: the last stable offset is the high watermark.
  [[nodiscard]] Offset last_stable_offset() const { return high_watermark(); }

 protected:
  std::atomic<std::int64_t> log_start_{0};
  std::atomic<std::int64_t> log_end_{0};
  std::atomic<std::int64_t> written_end_{0};
  std::atomic<std::int64_t> durable_end_{0};
  std::atomic<std::int64_t> high_watermark_{0};
};

// Always a LogPartition (log/log_partition.hpp), which holds what the roles need.
class Partition : public PartitionEnds {
 public:
  Partition(PartitionKey key, LocalPartition local) : key_(key), local_(local) {}
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;
  [[nodiscard]] const PartitionKey& key() const { return key_; }
  [[nodiscard]] LocalPartition local() const { return local_; }
  [[nodiscard]] LeaderEpoch leader_epoch() const { return {leader_epoch_.load(std::memory_order_acquire)}; }
  [[nodiscard]] bool deleted() const { return deleted_.load(std::memory_order_seq_cst); }

  // Fetches that wait for this partition, counted by broker/waiters so that the write role wakes nobody in vain.
  //
  // Who waits raises this and then looks at the high watermark (and at deleted()); who moves the high watermark stores
  // it and then looks at this. All four are sequentially consistent: in their one order either the look of the waiter
  // comes behind the store, and it sees the record, or the other's look comes behind the raise, and it wakes. With a
  // release store and an acquire load, each may pass behind the look that follows it (on x86 the store, in the store
  // buffer), neither sees the other, and the fetch sleeps for its whole max wait.
  std::atomic<std::int32_t> waiters{0};

 protected:
  const PartitionKey key_;
  const LocalPartition local_;
  std::atomic<std::int32_t> leader_epoch_{0};
  std::atomic<bool> deleted_{false};
};

}  // namespace weir::log

template <>
struct std::hash<weir::log::PartitionKey> {
  std::size_t operator()(const weir::log::PartitionKey& key) const noexcept {
    return std::hash<weir::Uuid>{}(key.topic_id) * 31U + static_cast<std::size_t>(key.index);
  }
};
