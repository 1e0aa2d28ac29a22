// Retention: moves the start offsets of the partitions that their rules let forget (log/retention_scan), then drops the
// segments in which no partition has anything left to keep. Runs on Runtime::pool, one pass at a time; a pass asked for
// while one runs drops what can go by then, for the other may wait for room on the disk to move a start; it is answered
// when that one ends.
//
// Steps: move starts (logged, durable), some at a time, so that producers do not wait behind thousands -> find segments
// -> the keeper's removal edit -> files go with their last reader. What has expired is unreadable after the first step,
// in the open segment too; a file goes only when every start that lets it go is durable, and no file goes in a pass
// that could not move a start. A compacted partition, or one without bounds, keeps every segment that holds a batch of
// it until the merger comes. The newest sealed segment always stays: its index file holds the state that a torn
// successor would need.
//
// The open segment is ended before it is full for room only: when half of a segment's size in it can no longer be read,
// at most once in kRollEveryMs, whatever the topics ask.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "log/log_reader.hpp"
#include "log/segment_keeper.hpp"

namespace weir::log {

class Retention {
 public:
  static constexpr Millis kRollEveryMs = 60'000;
  static constexpr std::size_t kMovesMax = 256;  // under way at once

  using Partitions = std::vector<std::shared_ptr<LogPartition>>;
  // What a pass asks of its surroundings, on the pool.
  struct Surroundings {
    std::function<Partitions()> partitions;  // those that there are when it is called: more than once in a pass
    std::function<void(std::shared_ptr<LogPartition>, Offset start, UniqueFunction<void(Result<Offset>)> moved)>
        move_start;
    std::function<void(SegmentId)> roll;  // ends the segment, if it is still the open one
  };

  Retention(SegmentList& segments, SegmentKeeper& keeper, const Clock& clock, std::int64_t segment_bytes)
      : segments_(segments), keeper_(keeper), clock_(clock), roll_bytes_(segment_bytes / 2) {}

  // `reader` and what `surroundings` need outlive the pass.
  void run(Surroundings surroundings, const LogReader& reader, Task done);

 private:
  struct Pass;
  void begin(const std::shared_ptr<Pass>& pass);
  void move_some(const std::shared_ptr<Pass>& pass);
  void drop(const Surroundings& around, Task done);
  void roll_if_worth(Pass& pass);
  // Some partition that needs the segment: it is looked for anew only when the one found last does not any more.
  struct Pin {
    std::shared_ptr<LogPartition> partition;
    Offset end;  // of what it has there
    [[nodiscard]] bool holds() const { return !partition->deleted() && end > partition->durable_start(); }
  };
  class Alive;
  static std::optional<Pin> find_pin(const IndexFile& index, Alive& alive);
  std::vector<SegmentId> find_unneeded(const Surroundings& around);
  void finish();

  SegmentList& segments_;
  SegmentKeeper& keeper_;
  const Clock& clock_;
  const std::int64_t roll_bytes_;

  std::optional<Millis> rolled_ms_;  // the pass: monotonic
  std::mutex drop_mutex_;            // guards pins_ and removing_
  std::unordered_map<SegmentId, Pin> pins_;
  std::set<SegmentId> removing_;  // asked of the keeper, which has not answered

  std::mutex mutex_;  // guards what follows
  bool is_running_ = false;
  std::vector<Task> done_;
};

}  // namespace weir::log
