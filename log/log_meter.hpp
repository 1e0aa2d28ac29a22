// LogMeter: writes and syncs files of the CommitLog and counts it (weir_log_* in base/metrics.def). Owned by the engine
// of CommitLog; any thread.
#pragma once

#include "base/clock.hpp"
#include "base/disk.hpp"
#include "base/metrics.hpp"

namespace weir::log {

class LogMeter {
 public:
  // Without metrics nothing is counted.
  LogMeter(Metrics* metrics, const Clock& clock) : metrics_(metrics), clock_(clock) {}

  Result<void> write_at(File& file, std::int64_t position, std::span<const Bytes> parts) const {
    if (metrics_ != nullptr) {
      metrics_->log_writes.add();
      for (const auto& part : parts) {
        metrics_->log_written_bytes.add(part.size());
      }
    }
    return file.write_at(position, parts);
  }
  Result<void> sync(File& file, Caller caller = Caller::current()) const {
    const auto begin = clock_.monotonic_ns();
    auto result = file.sync(caller);
    if (metrics_ != nullptr) {
      metrics_->log_syncs.add();
      metrics_->log_sync_duration.observe_ns(clock_.monotonic_ns() - begin);
    }
    return result;
  }

 private:
  Metrics* metrics_;
  const Clock& clock_;
};

}  // namespace weir::log
