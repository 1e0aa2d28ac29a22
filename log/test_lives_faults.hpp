// The faults of log/lives_sim_test and sim/broker_lives_sim_test: which one a life gets, and what those that were met
// say about the disk.
#pragma once

#include <array>
#include <cerrno>
#include <cstdio>
#include <set>
#include <span>
#include <string>

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

// What the broker keeps beside its log says nothing about the log.
inline bool is_of_the_log(const std::string& path) {
  return path.find("metadata") == std::string::npos && path.find("meta.properties") == std::string::npos &&
         path.find("clean-shutdown") == std::string::npos && path.find(".lock") == std::string::npos;
}

struct DrawnFault {
  enum class Kind : std::uint8_t { errnos, descriptors, full };
  Kind kind = Kind::errnos;
  sim::DiskFault fault;              // errnos
  std::size_t descriptors_left = 0;  // descriptors
};

// `paths`: parts of paths, of which the fault hits those of one; an empty one is all.
inline DrawnFault draw_fault(Random& random, std::span<const std::string> paths) {
  using sim::DiskFault;
  using sim::DiskOperation;
  DiskFault fault;
  fault.path = paths[random.below(paths.size())];
  switch (random.below(8)) {
    case 7: {  // a thin pool, or a quota: what was written finds no place after all
      fault = {.operation = DiskOperation::sync, .path = ".log", .error = random.chance(2) ? ENOSPC : EDQUOT};
      fault.number = 1 + random.below(4);
      break;
    }
    case 0: {  // one, or a row of them
      constexpr std::array<std::uint64_t, 4> kTimes{1, 1, 4, DiskFault::kForEver};
      fault.operation = static_cast<DiskOperation>(random.below(sim::kDiskOperations));
      fault.number = 1 + random.below(10);
      fault.times = kTimes[random.below(kTimes.size())];
      break;
    }
    case 1: {
      constexpr std::array kOperations{DiskOperation::write, DiskOperation::sync, DiskOperation::create,
                                       DiskOperation::open, DiskOperation::rename};
      constexpr std::array<std::uint64_t, 3> kTimes{1, 1, DiskFault::kForEver};
      fault.operation = kOperations[random.below(kOperations.size())];
      fault.number = 1 + random.below(10);
      fault.times = kTimes[random.below(kTimes.size())];
      break;
    }
    case 2: fault.one_in = 20 + random.below(200); break;
    case 3:
    case 4: return {DrawnFault::Kind::descriptors, {}, random.below(4)};
    default: return {DrawnFault::Kind::full, {}, 0};
  }
  return {DrawnFault::Kind::errnos, fault, 0};
}

inline std::string to_text(const sim::DiskFault& fault) {
  return "fault: " + (fault.operation ? std::string{sim::to_string(*fault.operation)} : std::string{"any"}) + " \"" +
         fault.path + "\" number " + std::to_string(fault.number) + " one in " + std::to_string(fault.one_in);
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
  ~FaultWatch() { disk_.set_fault_hook({}); }
  FaultWatch(const FaultWatch&) = delete;
  FaultWatch& operator=(const FaultWatch&) = delete;

  void begin_process() {
    failed_syncs_.clear();
    repeated_sync_.clear();
    has_failed_sync = log_sync_failed = metadata_met = false;
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
      const bool is_log = is_of_the_log(one.path);
      has_verdict = has_verdict || (is_log && is_verdict(one));
      metadata_met = metadata_met || !is_log || one.path == "data";
      ++met_in_life;
      if (one.operation == sim::DiskOperation::sync && one.error != EINTR) {
        has_failed_sync = has_failed_sync || is_log;
        log_sync_failed = log_sync_failed || (is_log && one.path.ends_with(".log"));
        failed_syncs_.insert(one.path);
      }
    }
    return repeated_sync_.empty() ? "" : "a sync that failed was asked for again: " + repeated_sync_;
  }

  bool has_verdict = false;      // since somebody took it back
  bool has_failed_sync = false;  // of this process
  bool log_sync_failed = false;  // of a segment
  bool metadata_met = false;     // this process met a fault beside the log
  std::size_t met_in_life = 0;

 private:
  sim::SimDisk& disk_;
  const bool tells_;
  std::size_t looked_at_ = 0;
  std::set<std::string> failed_syncs_;
  std::string repeated_sync_;
};

}  // namespace weir::log
