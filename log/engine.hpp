// CommitLog::Engine: wires the parts of the log to each other and to the runtime's executors; owns them all. Its hooks
// are called by the roles (see log/appender.hpp, log/writer.hpp, log/segment_keeper.hpp) and only post or pass on.
// Tasks that it posts keep it alive and do nothing once the CommitLog is gone.
#pragma once

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "log/appender.hpp"
#include "log/commit_log.hpp"
#include "log/flush_timer.hpp"
#include "log/image.hpp"
#include "log/log_reader.hpp"
#include "log/memory_topics.hpp"
#include "log/recovery.hpp"
#include "log/retention.hpp"
#include "log/scrub.hpp"
#include "log/segment_keeper.hpp"
#include "log/space_guard.hpp"
#include "log/writer.hpp"

namespace weir::log {

class CommitLog::Engine final : public AppenderHooks,
                                public WriterHooks,
                                public KeeperHooks,
                                public MemoryHooks,
                                public std::enable_shared_from_this<CommitLog::Engine> {
 public:
  Engine(CommitLogOptions options, Runtime& runtime, VisibilityObserver& observer);

  Result<void> start(std::span<const KnownPartition> known);
  void stop(Stopped done);
  void stop_waiting();
  void refuse_writes() { give_up_writes(Errc::read_only); }
  [[nodiscard]] std::string waits_for() const;
  void abandon() { is_abandoned_.store(true, std::memory_order_release); }

  std::shared_ptr<Partition> create(const PartitionKey& key, const PartitionRules& rules, LeaderEpoch epoch);
  void remove(const PartitionKey& key);
  void set_rules(const PartitionKey& key, const PartitionRules& rules);
  [[nodiscard]] std::shared_ptr<LogPartition> find(const PartitionKey& key) const;
  [[nodiscard]] std::vector<std::shared_ptr<LogPartition>> partitions() const;
  void move_start(std::shared_ptr<LogPartition> partition, Offset start, Executor& reply_on,
                  UniqueFunction<void(Result<Offset>)> done);
  void truncate(std::shared_ptr<LogPartition> partition, const TruncatedPayload& to, Answer answer);
  void bound_high_watermark(std::shared_ptr<LogPartition> partition, Offset bound);
  [[nodiscard]] LogStatistics statistics() const;
  void run_retention(Task done);
  void set_producer_expiration(Millis expiration_ms) { producer_expiration_ms_.store(expiration_ms); }

  void append(Append request);
  void append(std::span<Append> requests);
  void append_as_follower(Append request);
  [[nodiscard]] const MemoryTopics& memory() const { return memory_; }
  [[nodiscard]] const LogReader& reader() const { return reader_; }
  // What a reader returned. A damaged index file is made again behind its back; the caller's client comes again.
  template <class T>
  Result<T> watched(Result<T> result) {
    if (!result && result.error().code == Errc::corrupt) {
      keeper_.mend_indexes();
    }
    return result;
  }

  // AppenderHooks: in the log role, on any thread.
  void wake_writer() override { writer_.wake(); }
  void group_is_ready() override { post_writer_resumed(); }
  void want_segment() override { keeper_.prepare(); }
  void continue_log_role() override;
  void limit_reached() override;
  SegmentHeader segment_begins(const std::shared_ptr<Segment>& segment) override;
  [[nodiscard]] LogPosition begin_of_oldest_segment() const override;

  // WriterHooks: on Runtime::write.
  void wrote(std::int64_t bytes) override;
  bool wait_out(const Error& why) override;
  void post_writer_turn() override;
  void post_writer_resumed() override;
  Result<void> admit(Segment& segment, bool begins, std::int64_t end) override {
    return keeper_.admit(segment, begins, end);
  }
  void seal(std::unique_ptr<SegmentSnapshot> snapshot, bool is_synced) override {
    keeper_.seal(std::move(snapshot), is_synced);
  }
  void write_delta(std::unique_ptr<SegmentSnapshot> snapshot) override { keeper_.write_delta(std::move(snapshot)); }
  void sync_within(Millis ms) override;
  void all_is_synced() override { flush_timer_.all_is_synced(); }
  void writer_failed(Error error) override;

  // KeeperHooks: on Runtime::pool.
  void run_on_pool(Task job) override { post(runtime_.pool, std::move(job)); }
  void segment_prepared(std::shared_ptr<Segment> segment) override;
  void segment_synced(Result<void> result) override;
  bool is_log_idle() override;
  bool wait_out(const Error& why, const char* job, Task again) override;
  void keeper_failed(Error error) override;

  // MemoryHooks: any thread.
  void reserve_offsets(std::shared_ptr<LogPartition> partition, Offset end) override;

 private:
  void post(Executor& on, Task task);
  static void reply(Answer answer);
  void finish_stop(bool is_whole, LocalPartition next_local, Stopped done);
  static std::vector<std::shared_ptr<LogPartition>> take_epochs_of(
      std::span<const KnownPartition> known, const std::map<PartitionKey, std::shared_ptr<LogPartition>>& in_log);
  void give_up_clean_end(const Error& why);
  void give_up_writes(Errc why);
  // Runs `job` every `period_ms`, until the log stops.
  void repeat(Millis period_ms, void (Engine::*job)());
  void sync_at(std::optional<Millis> deadline);
  void sync_if_due();
  // Runs `task` on `on` in a while, unless the log is gone by then.
  void post_later(Executor& on, Task task);
  void look_for_room();
  void tell_room();
  void try_again_later(Executor& on, std::atomic<int>& waiting, Task again);
  void note_shortage(const Error& why, std::int64_t needed, const char* job);
  [[nodiscard]] std::optional<LogPosition> written_if_it_takes_room() const;
  [[nodiscard]] std::string way_out() const;      // of read-only, for the one who reads the log
  [[nodiscard]] std::int64_t file_bytes() const;  // that a new segment takes at once
  void begin_retention();
  void begin_expiring_producers();
  void begin_looking();
  void look_for_slow_disk();
  void begin_zeroing();
  void begin_scrubbing();

  const CommitLogOptions options_;
  Runtime& runtime_;
  VisibilityObserver& observer_;
  std::atomic<bool> is_abandoned_{false};
  std::atomic<bool> is_stopping_{false};
  std::atomic<std::int64_t> idle_at_{-1};  // the appended end when is_log_idle() was asked last

  const LogMeter meter_;
  SpaceGuard space_;
  FlushTimer flush_timer_;              // write role
  std::int64_t wrote_ = 0;              // write role: since it looked for room
  std::atomic<int> waiting_writes_{0};  // that met a shortage and come again in a while
  std::atomic<int> waiting_jobs_{0};
  std::atomic<bool> told_short_{false};  // what the operator was told last
  std::atomic<bool> told_lack_{false};
  // The io loop alone: what look_for_slow_disk() saw last, and whether it has logged it.
  std::uint64_t seen_of_writer_ = 0;
  std::uint64_t seen_of_keeper_ = 0;
  bool told_slow_ = false;
  SegmentList segments_;
  Image image_;
  Appender appender_;
  Writer writer_;
  SegmentKeeper keeper_;
  ReadCache read_cache_;
  DamageReport damage_;
  LogReader reader_;
  Retention retention_;
  Scrub scrub_;                            // pool
  std::atomic<bool> is_scrubbing_{false};  // a turn is on its way
  std::atomic<Millis> producer_expiration_ms_{options_.producer_expiration_ms};
  std::atomic<bool> is_expiring_producers_{false};  // a pass is on its way
  MemoryTopics memory_;

  mutable std::mutex table_mutex_;  // guards table_; held for one look-up
  std::unordered_map<PartitionKey, std::shared_ptr<LogPartition>> table_;
  LocalPartition next_local_{1};  // controller executor
  LogStatistics at_start_;        // set before the roles start
};

}  // namespace weir::log
