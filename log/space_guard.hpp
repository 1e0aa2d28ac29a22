// SpaceGuard: whether the volume has room for what producers send. A reserve is never lent to them: it keeps commits,
// deletes, index files and the manifest going when the disk is full, so that a full disk is an error that passes, and
// not the end.
//
// Files are room too: a file system may have bytes and no inode left, and then no segment, index or snapshot can be
// made.
//
// States: roomy -> short (the file system has less than the reserve, or something found no room) -> roomy (it has the
// reserve and a quarter more again: no flutter at the edge; and what was not found). Owner: the engine of CommitLog.
// look() blocks for one statvfs and is for the write role and the pool; the rest is for any thread.
#pragma once

#include <atomic>
#include <string>

#include "base/disk.hpp"

namespace weir::log {

class SpaceGuard {
 public:
  // The next segment, index files, a snapshot and what replaces the manifest, twice over.
  static constexpr std::int64_t kFilesReserve = 16;

  // A reserve of 0: the smaller of 256 MiB and a 32nd of the volume.
  SpaceGuard(const Disk& disk, std::string folder, std::int64_t reserve_bytes)
      : disk_(disk), folder_(std::move(folder)), wanted_reserve_(reserve_bytes) {}

  // Asks the file system. Where it does not answer nothing changes: writes themselves will tell.
  void look();
  // Nobody gave us `needed` bytes beyond the reserve (0: not even a few).
  void found_full(std::int64_t needed) {
    needed_.store(needed, std::memory_order_relaxed);
    short_.store(true, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_short() const { return short_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t free_bytes() const { return free_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t free_files() const { return free_files_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool lacks_files() const { return lacks_files_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t reserve_bytes() const { return reserve_.load(std::memory_order_relaxed); }

 private:
  const Disk& disk_;
  const std::string folder_;
  const std::int64_t wanted_reserve_;
  std::atomic<std::int64_t> reserve_{0};
  std::atomic<std::int64_t> free_{0};
  std::atomic<std::int64_t> free_files_{kFilesNotCounted};
  std::atomic<bool> lacks_files_{false};
  std::atomic<std::int64_t> needed_{0};
  std::atomic<bool> short_{false};
};

}  // namespace weir::log
