// CommitLog: the one ordered log of this node and everything that reads it. Owns the tail, the segments and the
// partitions.
//
// Partitions of memory topics (PartitionRules::memory) are told by the same calls: log/memory_topics.hpp.
//
// Threads. append(), find() and read(..., memory_only) may be called on any thread and never block. The log role
// (offset assignment, image, index) is held by whoever brings it work; the write role (writes, syncs, ends,
// completions) runs on Runtime::write only; read(..., may_block), retention and index deltas run on Runtime::pool.
// create / remove / set_rules are called by the controller executor only. Rules: docs/LOG_FORMAT.md and
// docs/ARCHITECTURE.md, "The log".
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/metrics.hpp"
#include "base/result.hpp"
#include "base/runtime.hpp"
#include "log/partition.hpp"
#include "log/segment_header.hpp"
#include "protocol/valid_batch.hpp"

namespace weir::log {

// When an append is answered. `all` on a partition with FlushMode::async, and `leader` always, wait for the write only.
enum class Acks : std::uint8_t {
  none,
  leader,
  all,
  internal /* group, transaction, metadata records: always synced */
};

struct AppendOutcome {
  std::optional<Error> error;  // out_of_sequence, stale_epoch, too_large, read_only, disk_full, not_found (deleted) ...
  Offset base_offset{-1};
  Millis log_append_time = -1;  // the batch's max timestamp where LogAppendTime or a duplicate says so, else -1
  Offset log_start{-1};
  bool duplicate = false;  // idempotent producer: already in the log at base_offset
};

struct Append {
  std::shared_ptr<Partition> partition;
  protocol::ValidBatch batch;  // with base offset 0, unless it is a follower's; kept alive until it is in the image
  Acks acks = Acks::all;
  Executor* reply_on = nullptr;  // where `done` runs; null with Acks::none
  UniqueFunction<void(const AppendOutcome&)> done;
};

enum class ReadFrom : std::uint8_t { memory_only, may_block };

struct ReadLimits {
  std::size_t bytes_max = 0;
  bool first_batch_whole = false;  // deliver the first batch even when it is larger than bytes_max
  Offset bound{0};                 // batches that end beyond it are not delivered: high watermark or last stable offset
  bool in_memory = false;          // no file runs: the caller looks at the bytes itself
};

struct ReadOutcome {
  BufferChain batches;  // whole batches, the first holds the asked offset (or is the next one after a gap)
  std::size_t batch_count = 0;
  bool needs_disk = false;  // memory_only could not serve it: read again with may_block on the pool
};

struct TimestampAndOffset {
  Millis timestamp = -1;
  Offset offset{-1};
  LeaderEpoch leader_epoch{-1};
};

struct EpochEnd {
  LeaderEpoch epoch{-1};
  Offset end_offset{-1};
};

// Called after the high watermark of these partitions moved (or they were deleted): by the write role, and for memory
// topics by whoever appended, on several threads at once. Must not block.
class VisibilityObserver {
 public:
  virtual ~VisibilityObserver() = default;
  virtual void advanced(std::span<const std::shared_ptr<Partition>> partitions) = 0;
};

// A partition that the metadata image knows at start. What the log has beyond these is deleted, what it lacks is
// created.
struct KnownPartition {
  PartitionKey key;
  PartitionRules rules;
  LeaderEpoch leader_epoch;
};

struct CommitLogOptions {
  std::string folder;                          // the data folder; holds commitlog/, manifest, pool/
  IoMode io = IoMode::buffered;                // direct becomes buffered where the file system has no direct writes
  std::int64_t segment_bytes = 1LL << 30;      // at least 1 MiB
  std::int64_t image_bytes = 64LL << 20;       // ring of 1 MiB blocks, taken when first filled
  std::int64_t batch_bytes_max = 0;            // larger ones may be refused; those up to half of the image never are
  std::int64_t read_cache_bytes = 64LL << 20;  // of blocks of 128 KiB, taken when first filled
  std::int64_t delta_bytes = 64LL << 20;       // index deltas: a scan after a crash reads at most about twice this
  Millis retention_check_ms = 300'000;
  // Producers that appended nothing for `producer_expiration_ms` are forgotten when the log opens and this often.
  Millis producer_check_ms = 0;  // 0: never
  Millis producer_expiration_ms = 86'400'000;
  std::int64_t disk_reserve_bytes = 0;  // never lent to producers; 0: the smaller of 256 MiB and a 32nd of the volume
  Millis space_check_ms = 0;            // how often the volume is asked for its free bytes; 0: only while writing
  Millis zero_ahead_ms = 0;             // direct mode: how long nothing must have come before zeroing begins; 0: never
  std::int64_t scrub_bytes_per_second = 0;  // how fast sealed segments are read and checked; 0: never
  Millis scrub_interval_ms = 604'800'000;   // between two passes of that
  // Memory topics: of all their batches together, and how many offsets are reserved at a time.
  std::int64_t memory_bytes = 256LL << 20;
  std::int64_t memory_offsets_block = 1LL << 20;
  Millis slow_after_ms = 0;  // a write, sync or job that takes longer is logged; 0: nobody looks
  std::function<std::string(const Uuid&)> topic_name;  // for the log; null: its id is told. Any thread
  Uuid boot_id;  // differs after the machine restarted; zero where that is not known
  // What the last process's stop() told (clean-shutdown file): the log ends there, all of it is synced. Believed only
  // if the manifest says the same. nullopt: it did not stop, or not cleanly.
  std::optional<LogPosition> clean_end;
  Metrics* metrics = nullptr;  // outlives the log; null: nobody counts
  // The machine restarted without a clean stop, or files of the log are gone: these partitions may have lost records
  // that somebody has seen, for they are async or were. Called inside open() before the log writes anything: to give
  // each a higher leader_epoch, durably.
  std::function<Result<void>(std::span<KnownPartition* const>)> raise_epochs;
};

struct LogStatistics {
  LogPosition appended, written, synced;
  std::int64_t segments = 0;
  std::int64_t disk_bytes = 0;
  std::int64_t image_bytes_used = 0;
  std::int64_t read_cache_bytes_used = 0;
  std::int64_t memory_topic_bytes_used = 0;
  bool read_only = false;
  bool short_of_space = false;  // producers are refused (disk_full) until the volume has its reserve again
  std::int64_t free_bytes = 0;  // of the volume, when it was asked last
  IoMode io = IoMode::buffered;
  std::int64_t pool_bytes = 0;  // files of removed segments, kept to be written again; not in disk_bytes
  // What the start found.
  std::int64_t recovery_scanned_bytes = 0;
  std::int64_t recovery_cut_bytes = 0;       // a torn tail: behind the end of the log
  std::int64_t recovery_damaged_ranges = 0;  // inside it, stepped over
};

class CommitLog {
 public:
  // Opens or creates, recovers, seals what an unclean stop left, and starts the roles. Blocks. `observer` outlives the
  // log.
  static Result<std::unique_ptr<CommitLog>> open(CommitLogOptions options, Runtime& runtime,
                                                 std::span<const KnownPartition> known, VisibilityObserver& observer);
  // stop() must have finished, or the executors run no task any more (a killed process in the simulator).
  ~CommitLog();

  // Drains, syncs, seals the open state and then calls `done` on Runtime::write, with where the log ends if it is
  // clean: everything that was taken is synced, the manifest has that end, and nothing goes into the log afterwards.
  // nullopt: the log is read-only, or something that the stop needs is short (room, descriptors): the next start scans.
  // Appends after it get `closed`; partitions made after it are made again by the next start.
  using Stopped = UniqueFunction<void(std::optional<LogPosition> clean_end)>;
  void stop(Stopped done);
  // Before a stop, once no more than what is under way is to come: from now on nothing waits for a shortage, so that
  // whoever must hear of its append before it lets the log be stopped does hear. Any thread.
  void stop_waiting();
  // Until this log is closed appends get error `read_only`; what came before is carried out. Not noted for the next
  // start. For a broker whose metadata cannot be trusted. Any thread.
  void refuse_writes();
  // What a stop waits for just now, for the operator: a write, a sync, a job of the pool; empty: nothing. Any thread.
  [[nodiscard]] std::string waits_for() const;

  std::shared_ptr<Partition> create(const PartitionKey& key, const PartitionRules& rules, LeaderEpoch epoch);
  void remove(const PartitionKey& key);
  // What the old rules let be unsynced for longer than the new ones is synced soon behind it. From then on a partition
  // that is FlushMode::sync now shows nothing that a power cut could take; until then a power cut raises its epoch.
  void set_rules(const PartitionKey& key, const PartitionRules& rules);
  void set_producer_expiration(Millis expiration_ms);  // any thread; counts from the next check on
  [[nodiscard]] std::shared_ptr<Partition> find(const PartitionKey& key) const;  // null if there is none
  [[nodiscard]] std::vector<std::shared_ptr<Partition>> partitions() const;

  void append(Append request);
  // Several at once, in this order, one queue operation. Moves from them, and may change their places.
  void append(std::span<Append> requests);

  // Replicated partitions (PartitionRules::replicated); others are `unsupported`. The three calls take effect in the
  // order in which they are made, except that a truncation waits for its `done`: until then no append may be made.
  //
  // A batch as the leader has it: base offset and leader epoch stay, producers are not judged, a gap before it is
  // legal. out_of_range: it begins below the log end; stale_epoch: its leader epoch is below that of the batch before.
  void append_as_follower(Append request);
  // The log ends at `end`; batches that reach beyond it are gone, and so is a leader epoch that began there or later. A
  // batch that holds `end` goes as a whole, as in Kafka; the next one may begin at `end` or behind it. `done` when that
  // is durable, with the log end, which is lower than `end` if there was nothing to cut. `epoch`: of the leader that
  // asks. out_of_range: below the bound of the high watermark; stale_epoch: below the epoch of the newest batch;
  // too_large: too many producers, or truncations.
  void truncate(std::shared_ptr<Partition> partition, Offset end, LeaderEpoch epoch, Executor& reply_on,
                UniqueFunction<void(Result<Offset>)> done);
  // The high watermark may move up to `bound`, and to the log end as it is now; it waits for the log's own end too (by
  // the flush mode). A lower bound than the last one changes nothing. After a start it is where the log last noted it.
  void bound_high_watermark(std::shared_ptr<Partition> partition, Offset bound);

  // out_of_range below the start or above the bound's end. Corrupt bytes are never returned: disk_failed / corrupt.
  Result<ReadOutcome> read(const Partition& partition, Offset from, const ReadLimits& limits, ReadFrom mode) const;

  // Moves the log start (DeleteRecords, retention, coordinators' re-append). `done` when durable. out_of_range above
  // the HW.
  void move_start(std::shared_ptr<Partition> partition, Offset start, Executor& reply_on,
                  UniqueFunction<void(Result<Offset>)> done);

  // First record with timestamp >= `timestamp` below `bound` (timestamp -1 when there is none); largest timestamp.
  // Exact to the record; may read batches, so on the pool when mode says memory_only and the answer is needs_disk.
  Result<std::optional<TimestampAndOffset>> find_by_time(const Partition& partition, Millis timestamp,
                                                         Offset bound) const;
  Result<std::optional<TimestampAndOffset>> find_max_timestamp(const Partition& partition, Offset bound) const;
  // Data records at the offsets [from, to) that can still be read: below the log start, behind the high watermark and
  // in a gap (damage) there are none. From the indexes alone, one row for a whole segment; may touch pages of index
  // files, so on the pool.
  Result<std::int64_t> records_between(const Partition& partition, Offset from, Offset to) const;
  // Of the newest epoch: the high watermark, or the log end if it is replicated.
  [[nodiscard]] EpochEnd epoch_end(const Partition& partition, LeaderEpoch epoch) const;
  // Of the record at `offset`, or the one that a record there would get; -1 below all that is known.
  [[nodiscard]] LeaderEpoch epoch_at(const Partition& partition, Offset offset) const;

  [[nodiscard]] LogStatistics statistics() const;
  [[nodiscard]] std::int64_t size_bytes(const Partition& partition) const;  // batch bytes between start and end
  // One pass of retention now (the log also does it by itself on the pool every retention_check_ms).
  void run_retention(Task done);

 private:
  class Engine;
  explicit CommitLog(std::shared_ptr<Engine> engine);
  std::shared_ptr<Engine> engine_;  // shared with the tasks that it has posted, which do nothing once the log is gone
};

}  // namespace weir::log
