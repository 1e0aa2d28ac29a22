// DamageReport: bytes in a file that are not what was written, as readers and the scrub find them. Each batch is named
// once in the log (file, position, partition, offsets) and counted; it is never served, and what lies around it
// is.
//
// Owner: the engine of CommitLog. Any thread.
#pragma once

#include <mutex>
#include <set>

#include "base/metrics.hpp"
#include "log/batch_cursor.hpp"
#include "log/log_partition.hpp"

namespace weir::log {

class DamageReport {
 public:
  explicit DamageReport(Metrics* metrics) : metrics_(metrics) {}
  // The batch at the cursor; or the one that the index of `segment` says is at `entry`.
  void found(const LogPartition& partition, const BatchCursor& cursor) {
    found(partition.key(), *cursor.segment(), cursor.entry());
  }
  void found(const PartitionKey& key, const Segment& segment, const IndexEntry& entry);
  // Bytes [from, to) of its file that belong to no batch: states, marks of the log itself.
  void found_beside(const Segment& segment, std::int64_t from, std::int64_t to);
  [[nodiscard]] std::int64_t count() const;

 private:
  bool is_new(LogPosition position);
  Metrics* metrics_;
  mutable std::mutex mutex_;
  std::set<LogPosition> known_;  // beyond a limit no more are remembered, named or counted
};

}  // namespace weir::log
