// GatheredAppends: what the produce requests of one turn of an io loop append goes into the log together, at the end of
// the turn. So the log's role changes hands once, and its writer wakes once and finds all of it: groups grow with the
// load, and an idle broker waits for nothing.
//
// append() belongs to the tasks of its loop. What must hold: a loop's appends reach the log in the order of the calls.
#pragma once

#include <span>
#include <vector>

#include "broker/per_loop.hpp"
#include "log/commit_log.hpp"

namespace weir::broker {

class GatheredAppends {
 public:
  // Both outlive it, and it outlives the loops' tasks.
  GatheredAppends(log::CommitLog& log, const std::vector<IoLoop*>& loops) : log_(log), turns_(loops) {}

  // Moves from `requests`. With kBytesMax together they go at once: from there on the writer has enough to do.
  // Nothing leaves it half done: what is thrown below ends the process.
  void append(const IoLoop& loop, std::span<log::Append> requests) noexcept;

 private:
  static constexpr std::size_t kBytesMax = 64U << 10U;

  struct Turn {
    explicit Turn(IoLoop& owner) : loop(owner) {}
    IoLoop& loop;
    std::vector<log::Append> requests;  // not empty: a task that hands them over is posted
    std::size_t bytes = 0;
  };
  void hand_over(Turn& turn) noexcept;

  log::CommitLog& log_;
  PerLoop<Turn> turns_;
};

}  // namespace weir::broker
