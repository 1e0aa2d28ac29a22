// MemoryTopics: all partitions of memory topics (mq.storage=memory). Their records live in this process only: appended
// to a store of each partition, visible and answered at once whatever acks says, never in the CommitLog. What is in the
// log is how far their offsets may have been given.
//
// What must hold:
// 1. No offset is given to two records, through any end of the process. Before an offset is given, a reservation that
//    covers it is synced; a start begins at the reserved end, empty. The next block is asked for when a quarter of the
//    present one is left; only a partition's first append, and one that outruns the log, wait for it.
// 2. Appends to a partition get offsets in the order in which they came, waiting ones first.
// 3. The batches of all partitions together take at most `bytes_max`, but for the newest batch of each thread that
//    appends just now: beyond it the oldest go, first those of the partition that is appended to, then those of the
//    largest. Each is counted, and the log names a topic at most once in ten seconds. What a reader still sends counts
//    no more.
// 4. Without a log that takes entries (read-only, full) appends go on to the end of the reserved block.
//
// Owner: the engine of CommitLog. append*, reads and move_start on any thread, they never block; granted() on
// Runtime::write; add() and forget() on the controller's executor, retain() and expire_producers() on the pool. Order
// of locks: partitions_, then one MemoryPartition, then what LogPartition has inside. Never two partitions.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "base/clock.hpp"
#include "log/commit_log.hpp"
#include "log/group.hpp"
#include "log/log_partition.hpp"

namespace weir::log {

class MemoryHooks {
 public:
  virtual ~MemoryHooks() = default;
  // Puts into the log that offsets below `end` are given; then granted(). Must not block, nor call back at once.
  virtual void reserve_offsets(std::shared_ptr<LogPartition> partition, Offset end) = 0;
};

class MemoryTopics {
 public:
  MemoryTopics(const CommitLogOptions& options, const Clock& clock, VisibilityObserver& observer, MemoryHooks& hooks);
  ~MemoryTopics();  // who waits is not answered
  MemoryTopics(const MemoryTopics&) = delete;
  MemoryTopics& operator=(const MemoryTopics&) = delete;

  // Makes it a memory partition, empty from its log end on. Before anybody can find it, or any role runs.
  void add(const std::shared_ptr<LogPartition>& partition);
  void forget(const std::shared_ptr<LogPartition>& partition);  // deleted
  void close() { is_closed_.store(true, std::memory_order_release); }

  void append(Append request);
  void append(std::span<Append> requests);
  // The answer to reserve_offsets(): the end, or why not; then those who wait hear it.
  void granted(const std::shared_ptr<LogPartition>& partition, const Result<Offset>& end);

  // As CommitLog has them. Without the disk, and never `needs_disk`.
  Result<ReadOutcome> read(const LogPartition& partition, Offset from, const ReadLimits& limits) const;
  Result<Offset> move_start(LogPartition& partition, Offset start);
  Result<std::optional<TimestampAndOffset>> find_by_time(const LogPartition& partition, Millis timestamp,
                                                         Offset bound) const;
  Result<std::optional<TimestampAndOffset>> find_max_timestamp(const LogPartition& partition, Offset bound) const;
  [[nodiscard]] std::int64_t records_between(const LogPartition& partition, Offset from, Offset to) const;
  [[nodiscard]] std::int64_t size_bytes(const LogPartition& partition) const;

  void retain();  // one pass over all partitions
  void expire_producers(Millis expiration_ms);
  [[nodiscard]] std::int64_t used_bytes() const { return used_.load(std::memory_order_relaxed); }

 private:
  std::vector<std::shared_ptr<LogPartition>> all();
  struct Round;  // what one call has to do once it holds no lock
  void take(Append& request, Round& round);
  bool place(const std::shared_ptr<LogPartition>& partition, Append& request, Round& round);
  void ask_if_due(const std::shared_ptr<LogPartition>& partition, Round& round) const;
  void finish(Round& round);
  void drop_from_largest(const std::shared_ptr<LogPartition>& except, Round& round);
  void account(LogPartition& partition, const MemoryDropped& dropped);
  void tell_dropped(const Round& round);
  [[nodiscard]] bool is_over() const { return used_bytes() > bytes_max_; }

  const std::int64_t bytes_max_;
  const std::int64_t block_;
  const std::function<std::string(const Uuid&)> topic_name_;
  Metrics* const metrics_;
  const Clock& clock_;
  VisibilityObserver& observer_;
  MemoryHooks& hooks_;
  std::atomic<bool> is_closed_{false};
  std::atomic<std::int64_t> used_{0};

  std::mutex mutex_;  // guards partitions_
  std::set<std::shared_ptr<LogPartition>> partitions_;
  std::mutex tell_mutex_;  // guards what follows
  std::int64_t untold_ = 0;
  Millis told_ms_;
};

}  // namespace weir::log
