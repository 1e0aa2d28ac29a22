// DamageReport: batches whose bytes in a file are not what was written, as readers and the scrub find them. Each is
// named once in the log (file, position, partition, offsets) and counted; it is never served, and what lies around it
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
  // The batch at the cursor.
  void found(const LogPartition& partition, const BatchCursor& cursor);
  [[nodiscard]] std::int64_t count() const;

 private:
  Metrics* metrics_;
  mutable std::mutex mutex_;
  std::set<LogPosition> known_;  // beyond a limit no more are remembered or named, only counted
};

}  // namespace weir::log
