// The faults of lives_sim_test: which one a life gets, and what those that were met say about the disk.
#pragma once

#include <array>
#include <cerrno>
#include <cstdio>
#include <set>

#include "sim/seams/sim_disk.hpp"

namespace weir::log {

// After these the disk is not to be trusted; the others pass, and say that nothing was done.
inline bool is_verdict(const sim::MetFault& met) {
  using sim::DiskOperation;
  if (met.error == EINTR || met.operation == DiskOperation::read || met.operation == DiskOperation::map ||
      met.operation == DiskOperation::list || met.operation == DiskOperation::ask_room) {
    return false;
  }
  const bool passes = met.error == EMFILE || met.error == ENFILE || met.error == ENOMEM || met.error == EAGAIN ||
                      met.error == ENOSPC || met.error == EDQUOT;
  return !passes || met.operation == DiskOperation::sync || met.operation == DiskOperation::sync_directory;
}

// Follows what a disk meets. Owned by the test, beside the disk.
class FaultWatch {
 public:
  FaultWatch(sim::SimDisk& disk, bool tells) : disk_(disk), tells_(tells) {
    disk_.set_fault_hook([this](sim::DiskOperation operation, const std::string& path) -> std::optional<Error> {
      if (operation == sim::DiskOperation::sync && path.ends_with(".log") && failed_syncs_.contains(path)) {
        repeated_sync_ = path;
      }
      return std::nullopt;
    });
  }
  FaultWatch(const FaultWatch&) = delete;
  FaultWatch& operator=(const FaultWatch&) = delete;

  void begin_process() {
    failed_syncs_.clear();
    repeated_sync_.clear();
    has_failed_sync = log_sync_failed = false;
    met_in_life = 0;
  }
  // At what was met since the last look. "" or what the process must not have done.
  std::string look() {
    const auto met = disk_.faults_met();
    for (; looked_at_ < met.size(); ++looked_at_) {
      const auto& one = met[looked_at_];
      if (tells_) {
        std::printf("  met %s\n", sim::to_string(one).c_str());
      }
      has_verdict = has_verdict || is_verdict(one);
      ++met_in_life;
      if (one.operation == sim::DiskOperation::sync && one.error != EINTR) {
        has_failed_sync = true;
        log_sync_failed = log_sync_failed || one.path.ends_with(".log");
        failed_syncs_.insert(one.path);
      }
    }
    return repeated_sync_.empty() ? "" : "a sync that failed was asked for again: " + repeated_sync_;
  }

  bool has_verdict = false;      // since somebody took it back
  bool has_failed_sync = false;  // of this process
  bool log_sync_failed = false;  // of a segment
  std::size_t met_in_life = 0;

 private:
  sim::SimDisk& disk_;
  const bool tells_;
  std::size_t looked_at_ = 0;
  std::set<std::string> failed_syncs_;
  std::string repeated_sync_;
};

}  // namespace weir::log
