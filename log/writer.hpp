// Writer: the write role. Writes groups from the image into the segment file, syncs, moves the written and durable ends
// and the high watermarks, posts answers, tells the VisibilityObserver.
//
// Owner: the engine of CommitLog. wake() and group_is_ready() on any thread; everything else runs as tasks on
// Runtime::write, of which at most one is posted or running at a time.
//
// States: idle -> active (a task is posted, runs, or waits for the log role to hand over a group) -> idle. A write that
// finds no room (is_shortage) is repeated until there is some: active all the while, the appender refuses more, and
// producers who wait for kRefuseAfterMs are told disk_failed, though their records may still be written.
// Failed is for ever: groups that still come are answered with the error and never written. What must hold:
// answers go out in the order write, publish, answer; the synced position is published only after every file with
// unsynced bytes below it was synced, oldest first; a sync that failed is not repeated.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "log/appender.hpp"
#include "log/doing.hpp"
#include "log/group.hpp"
#include "log/image.hpp"
#include "log/log_meter.hpp"

namespace weir::log {

// What the writer asks of its surroundings, on Runtime::write.
class WriterHooks {
 public:
  virtual ~WriterHooks() = default;
  virtual void post_writer_turn() = 0;
  virtual void post_writer_resumed() = 0;  // runs Writer::resumed() on Runtime::write
  // SegmentKeeper::admit(). Blocks.
  virtual Result<void> admit(Segment& segment, bool begins, std::int64_t end) = 0;
  virtual void wrote(std::int64_t bytes) = 0;
  // A write met a shortage. True: retry() will be called in a while. False: the log stops, so it is a failure.
  virtual bool wait_out(const Error& why) = 0;
  // The segment is full and in its file; if it is not synced yet, the keeper syncs it and calls segment_synced().
  virtual void seal(std::unique_ptr<SegmentSnapshot> snapshot, bool is_synced) = 0;
  virtual void write_delta(std::unique_ptr<SegmentSnapshot> snapshot) = 0;
  // What was just written may stay unsynced so long: sync_now() has to come by then, unless all_is_synced() comes
  // first.
  virtual void sync_within(Millis ms) = 0;
  virtual void all_is_synced() = 0;
  virtual void writer_failed(Error error) = 0;  // nothing is written any more; a shortage: only because the log stops
};

class Writer {
 public:
  Writer(Appender& appender, Image& image, const Clock& clock, const LogMeter& meter, VisibilityObserver& observer,
         WriterHooks& hooks)
      : appender_(appender), image_(image), clock_(clock), meter_(meter), observer_(observer), hooks_(hooks) {}

  // Before the roles start: the segment that may have unsynced bytes (none after recovery) and where the log ends.
  void start(LogPosition end) {
    written_.store(end.value, std::memory_order_release);
    appender_.set_synced(end);
  }

  // Any thread.
  void wake();
  [[nodiscard]] LogPosition written() const { return {written_.load(std::memory_order_acquire)}; }
  [[nodiscard]] const Doing& doing() const { return doing_; }

  // Runtime::write.
  void turn();
  void resumed();
  void retry();                                     // after wait_out()
  void sync_now();                                  // all that is written, as soon as the writer is free
  void segment_synced(const Result<void>& result);  // of seal() with is_synced = false
  void fail(Error error);                           // also for failures of the keeper

 private:
  void work();
  void go_idle();
  void wait();
  void ask_for_more();
  void add(std::vector<Group>& more);
  void refuse_who_waits(std::vector<GroupItem>& items);
  Result<void> sync(Segment& segment);
  Result<void> write_group(Group& group);
  void publish_written(Group& group);
  static void publish(const GroupItem& item);
  void sync_if_wanted();
  void publish_synced();
  void list_moved(const std::shared_ptr<LogPartition>& partition);
  void announce();
  void answer_failed(std::vector<GroupItem>& items);

  Appender& appender_;
  Image& image_;
  const Clock& clock_;
  const LogMeter& meter_;
  VisibilityObserver& observer_;
  WriterHooks& hooks_;
  std::atomic<bool> is_active_{false};
  std::atomic<std::int64_t> written_{0};
  Doing doing_;

  // Write role.
  std::vector<Group> groups_;
  std::size_t next_group_ = 0;                               // of groups_; behind it only while the disk is full
  std::vector<std::shared_ptr<Segment>> unsynced_segments_;  // oldest first; at most the one that is being filled
  int keeper_syncs_ = 0;                                     // full segments that the keeper syncs just now
  std::vector<std::shared_ptr<LogPartition>> unsynced_;      // each once: written beyond the durable end
  std::vector<GroupItem> waiting_;                           // answers that wait for a sync
  bool sync_is_wanted_ = false;
  bool sync_is_due_ = false;  // by sync_now(): wanted from the next turn on, whose groups end with a pad for it
  bool has_failed_ = false;
  std::optional<Millis> waits_since_;
  bool retry_is_due_ = false;                      // retry() is still to come and does what there is to do
  bool is_asking_ = false;                         // resumed() is still to come
  std::vector<std::shared_ptr<Partition>> moved_;  // high watermark moved, not yet announced; each once
  std::vector<std::shared_ptr<LogPartition>> moved_marks_;
  Answers answers_;
  std::vector<SharedBytes> pieces_;
  std::vector<Bytes> parts_;
};

}  // namespace weir::log
