// Retention: drops whole segments in which no partition has anything left to keep, after it has moved the start offsets
// of the partitions that its rules let forget: by time (age by append time where the stamp lies in the future) and by
// size. Runs on Runtime::pool, one pass at a time; a pass asked for while one runs is answered when that one ends.
//
// Steps: move starts (logged, durable) -> find segments -> the keeper's removal edit -> files go with their last
// reader. A compacted partition, or one without bounds, keeps every segment that holds a batch of it until the merger
// comes. The newest sealed segment always stays: its index file holds the state that a torn successor would need.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "log/log_reader.hpp"
#include "log/segment_keeper.hpp"

namespace weir::log {

class Retention {
 public:
  using MoveStart =
      std::function<void(std::shared_ptr<LogPartition>, Offset start, UniqueFunction<void(Result<Offset>)> moved)>;

  Retention(SegmentList& segments, SegmentKeeper& keeper, const Clock& clock)
      : segments_(segments), keeper_(keeper), clock_(clock) {}

  // `partitions` lists those that there are when it is called: more than once in a pass.
  using Partitions = std::function<std::vector<std::shared_ptr<LogPartition>>()>;
  void run(Partitions partitions, const LogReader& reader, const MoveStart& move_start, Task done);

 private:
  [[nodiscard]] Offset wanted_start(const LogPartition& partition, const LogReader& reader) const;
  void drop(const Partitions& partitions);
  void finish();

  SegmentList& segments_;
  SegmentKeeper& keeper_;
  const Clock& clock_;
  std::mutex mutex_;  // guards what follows
  bool is_running_ = false;
  std::vector<Task> done_;
};

}  // namespace weir::log
