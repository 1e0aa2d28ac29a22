// DiskFaults: which operations of a SimDisk fail, and with which errno, as scripted (the n-th of a kind, of a path) or
// as a seed draws them; and how many files may be open at a time. Owned by the disk, under its lock.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "sim/seams/disk_operation.hpp"

namespace weir::sim {

struct DiskFault {
  static constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();
  std::optional<DiskOperation> operation;  // none: every kind
  std::string path;                        // a part of the paths that are hit; empty: all
  int error = 0;                           // errno; 0: one of those that the operation knows, as the seed picks
  std::uint64_t number = 1;                // the first that is hit of those that match, from now on (1: the next)
  std::uint64_t times = 1;                 // so many from there on, one after the other; kForEver
  std::uint64_t one_in = 0;                // not 0: by chance, each that matches, instead of by number and times
};

struct MetFault {
  DiskOperation operation{};
  std::string path;
  int error = 0;
};
std::string to_string(const MetFault& met);

class DiskFaults {
 public:
  // The errnos that the kernel's call behind an operation may fail with, and that say nothing about a bug of ours.
  static std::span<const int> errnos_of(DiskOperation operation);

  void add(DiskFault fault) { rules_.push_back({std::move(fault), 0}); }
  void clear() { rules_.clear(); }
  // The errno that the operation fails with, or 0. Asked once for each operation.
  int ask(DiskOperation operation, const std::string& path, Random& random);
  void note(MetFault met) { met_.push_back(std::move(met)); }
  // Since the beginning, in order.
  [[nodiscard]] const std::vector<MetFault>& met() const { return met_; }

 private:
  struct Rule {
    DiskFault fault;
    std::uint64_t matched = 0;
  };
  static bool hits(Rule& rule, DiskOperation operation, const std::string& path, Random& random);

  std::vector<Rule> rules_;
  std::vector<MetFault> met_;
};

}  // namespace weir::sim
