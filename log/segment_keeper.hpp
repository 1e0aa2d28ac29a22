// SegmentKeeper: the slow part of a segment's life, on Runtime::pool: prepares the next file, writes deltas, seals full
// segments, removes dropped ones; and owns the manifest.
//
// Owner: the engine of CommitLog. prepare(), zero_ahead(), seal(), write_delta(), remove() and when_idle() on any
// thread: they queue a job; jobs run one at a time, in order. admit() and note_clean() block and are for the write
// role. edit() and prepare_now() are for recovery, before the roles start.
//
// Failure: every job syncs something, and after a failed sync nothing is known. So a failed job makes the log
// read-only (KeeperHooks::keeper_failed) and no further job is run. Except for a shortage (is_shortage: room,
// descriptors, memory): then the job is run again in a while, and those that make room (remove) go first. The sync of a
// full segment never stands behind a job that waits, for producers wait for it. While the log stops nothing waits: the
// job and all behind it are dropped, and the next start does their work.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/runtime.hpp"
#include "log/doing.hpp"
#include "log/group.hpp"
#include "log/log_meter.hpp"
#include "log/manifest.hpp"
#include "log/segment.hpp"
#include "log/segment_files.hpp"

namespace weir::log {

class KeeperHooks {
 public:
  virtual ~KeeperHooks() = default;
  virtual void run_on_pool(Task job) = 0;  // unless the log is gone by then
  virtual void segment_prepared(std::shared_ptr<Segment> segment) = 0;
  virtual void segment_synced(Result<void> result) = 0;
  [[nodiscard]] virtual bool is_log_idle() = 0;  // nothing came since it was asked last
  // A job met a shortage. True: `again` will run on the pool in a while. False: the log stops.
  virtual bool wait_out(const Error& why, const char* job, Task again) = 0;
  // A shortage: only because the log stops, or behind a segment_synced() that told a failure.
  virtual void keeper_failed(Error error) = 0;
};

class SegmentKeeper {
 public:
  SegmentKeeper(Disk& disk, Executor& pool, std::string folder, IoMode io, std::int64_t file_bytes, std::uint64_t seed,
                SegmentList& list, const LogMeter& meter, KeeperHooks& hooks)
      : disk_(disk),
        pool_(pool),
        folder_(folder),
        files_(std::make_shared<SegmentFiles>(disk, std::move(folder), io, file_bytes)),
        random_(seed),
        list_(list),
        meter_(meter),
        hooks_(hooks) {}

  // Folders and manifest; one that is missing or damaged is made again from the files (log/manifest_rebuild.hpp).
  // Blocks.
  Result<void> open();
  [[nodiscard]] const ManifestState& manifest() const { return manifest_->state(); }
  // Recovery's own edits, one atomic change.
  Result<void> edit(std::span<const ManifestEdit> edits);
  [[nodiscard]] SegmentFiles& files() const { return *files_; }

  Result<std::shared_ptr<Segment>> prepare_now();
  void prepare();
  // Direct mode: while the log is idle and no other job waits, writes zeros over what was never written of the open
  // segment and the next one. Nothing new if that is asked for already.
  void zero_ahead();
  // Writes the index file of a full or cut segment and opens it; its bytes are synced already. No manifest edit.
  Result<std::shared_ptr<const IndexFile>> write_index(const SegmentSnapshot& snapshot);
  void seal(std::unique_ptr<SegmentSnapshot> snapshot, bool is_synced);
  void write_delta(std::unique_ptr<SegmentSnapshot> snapshot);
  void remove(std::vector<SegmentId> segments, Task done);
  // Makes index files again that are_damaged(), from their segments. Cheap if there are none.
  void mend_indexes();
  // `done` runs on the pool when no job is left.
  void when_idle(Task done);
  [[nodiscard]] const Doing& doing() const { return doing_; }

  // Before the first byte of a segment (begins) or the first one at or above its reserved end is written.
  Result<void> admit(Segment& segment, bool begins, std::int64_t end);
  Result<void> note_clean(LogPosition position, LocalPartition next_local);
  // A write or sync failed: the next start has to know, if the disk still takes it. Blocks; any thread.
  void note_failure(const Error& error);
  void note_failure_again();  // if the manifest did not take it

 private:
  Result<void> open_manifest();
  Result<void> rebuild_manifest(const std::string& path, const std::string& why, const ManifestState& known);

  struct Job {
    const char* name = "";
    UniqueFunction<Result<void>()> run;  // may be called again after a shortage
  };
  [[nodiscard]] bool is_named(SegmentId id);
  bool wait_out(const Error& why, Job& job);
  void add_job(Job job, bool goes_first = false);
  void run_job();
  Result<void> sync_full_segments();
  void sync_while_a_job_waits();
  std::deque<Job> take_all_jobs();  // with jobs_mutex_; no further one is run
  Result<void> seal_job(const SegmentSnapshot& snapshot);
  Result<void> delta_job(const SegmentSnapshot& snapshot);
  Result<void> remove_job(const std::vector<SegmentId>& segments);
  Result<void> zero_job();
  [[nodiscard]] bool has_waiting_jobs();
  Result<void> mend_job();

  Disk& disk_;
  Executor& pool_;
  const std::string folder_;
  const std::shared_ptr<SegmentFiles> files_;  // shared with removed segments that somebody still reads
  Random random_;                              // jobs
  SegmentList& list_;
  const LogMeter& meter_;
  KeeperHooks& hooks_;

  std::mutex manifest_mutex_;       // guards manifest_ once the roles run
  std::int32_t unnoted_cause_ = 0;  // of a failure that the manifest does not have; under manifest_mutex_
  std::unique_ptr<Manifest> manifest_;
  SegmentId next_id_{1};  // jobs

  std::shared_ptr<Segment> next_;           // jobs: the one that was prepared last
  AlignedBlock zeros_;                      // jobs
  std::optional<IndexDeltaWriter> deltas_;  // jobs: of the segment that is being filled
  SegmentId deltas_of_{0};

  Doing doing_;
  std::atomic<bool> is_zeroing_{false};  // a job that zeroes waits or runs
  std::mutex sync_mutex_;                // held while a full segment is synced; guards the next one
  std::optional<Error> sync_failure_;
  std::mutex jobs_mutex_;  // guards what follows
  std::deque<Job> jobs_;
  std::deque<std::shared_ptr<Segment>> unsynced_;  // full ones, oldest first; each has its sealing among the jobs
  bool is_running_ = false;
  bool is_waiting_ = false;  // the first job waits for a shortage to pass
  bool has_failed_ = false;
  std::vector<Task> when_idle_;
};

}  // namespace weir::log
