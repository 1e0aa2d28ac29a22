// SpaceGuard: whether the volume has room for what producers send. A reserve is never lent to them: it keeps commits,
// deletes, index files and the manifest going when the disk is full, so that a full disk is an error that passes, and
// not the end. How the reserve is kept: each look at the volume gives a limit, the log position up to which producers
// may fill it. So it does not depend on how often somebody looks; only others who write to the volume can use it up.
//
// Files are room too: a file system may have bytes and no inode left, and then no segment, index or snapshot can be
// made.
//
// States: roomy -> short (the file system has less than the reserve, the limit is reached, or something found no room)
// -> roomy (it has the reserve and a quarter more again: no flutter at the edge; and what was not found). While a write
// or a job waits for room it is short whatever the volume says: inodes or a quota may be what is lacking. Beside it:
// what the process lacks, for a file that has to be opened. Owner: the engine of CommitLog. look() blocks for one
// statvfs and is for the write role and the pool; the rest is for any thread.
#pragma once

#include <atomic>
#include <limits>
#include <optional>
#include <string>

#include "base/disk.hpp"
#include "base/ids.hpp"

namespace weir::log {

class SpaceGuard {
 public:
  // The next segment, index files, a snapshot and what replaces the manifest, twice over.
  static constexpr std::int64_t kFilesReserve = 16;

  // A reserve of 0: the smaller of 256 MiB and a 32nd of the volume.
  SpaceGuard(const Disk& disk, std::string folder, std::int64_t reserve_bytes)
      : disk_(disk), folder_(std::move(folder)), wanted_reserve_(reserve_bytes) {}

  // Asks the file system. Where it does not answer nothing changes: writes themselves will tell. `written`: up to where
  // the log is in its files; nullopt where these have their room before (direct mode).
  void look(std::optional<LogPosition> written);
  // Nobody gave us `needed` bytes beyond the reserve (0: not even a few).
  void found_full(std::int64_t needed) {
    needed_.store(needed, std::memory_order_relaxed);
    short_.store(true, std::memory_order_relaxed);
  }
  // A write, or a job of the keeper, waits for room, or goes on.
  enum Waiter : unsigned { write = 1, job = 2 };
  void hold(Waiter waiter) { held_.fetch_or(waiter, std::memory_order_relaxed); }
  void release(Waiter waiter) { held_.fetch_and(~static_cast<unsigned>(waiter), std::memory_order_relaxed); }
  [[nodiscard]] bool is_held_by(Waiter waiter) const { return (held_.load(std::memory_order_relaxed) & waiter) != 0; }
  [[nodiscard]] bool is_short() const {
    return short_.load(std::memory_order_relaxed) || held_.load(std::memory_order_relaxed) != 0;
  }
  // Something waits for room while the volume tells that it has enough.
  [[nodiscard]] bool is_refused_with_room() const {
    return held_.load(std::memory_order_relaxed) != 0 && free_bytes() >= reserve_bytes() + reserve_bytes() / 4;
  }
  // No byte that a producer sends may lie behind it.
  [[nodiscard]] LogPosition limit() const { return {limit_.load(std::memory_order_relaxed)}; }
  [[nodiscard]] std::int64_t free_bytes() const { return free_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t free_files() const { return free_files_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool lacks_files() const { return lacks_files_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t reserve_bytes() const { return reserve_.load(std::memory_order_relaxed); }

  // The errno of descriptors or memory that the next segment, or what is done with a full one, waits for; 0: nothing.
  void set_lack(int number) { lack_.store(number, std::memory_order_relaxed); }
  [[nodiscard]] int lack() const { return lack_.load(std::memory_order_relaxed); }

 private:
  const Disk& disk_;
  const std::string folder_;
  const std::int64_t wanted_reserve_;
  std::atomic<std::int64_t> reserve_{0};
  std::atomic<std::int64_t> free_{0};
  std::atomic<std::int64_t> free_files_{kFilesNotCounted};
  std::atomic<bool> lacks_files_{false};
  std::atomic<std::int64_t> needed_{0};
  std::atomic<std::int64_t> limit_{std::numeric_limits<std::int64_t>::max()};
  std::atomic<bool> short_{false};
  std::atomic<unsigned> held_{0};  // Waiters
  std::atomic<int> lack_{0};
};

}  // namespace weir::log
