// Timers on monotonic milliseconds. Owned by one IoLoop; only tasks of that loop may touch it. Real loops arm one
// steady timer at next_deadline(); the simulator jumps its clock there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/ids.hpp"
#include "base/unique_function.hpp"

namespace weir {

class TimerQueue {
 public:
  using TimerId = std::uint64_t;  // never 0, never reused

  // `task` runs in the first advance() whose time is >= deadline_ms (monotonic).
  TimerId schedule(Millis deadline_ms, Task task);
  // True if the timer had not fired. Unknown or fired ids are fine.
  bool cancel(TimerId id);
  [[nodiscard]] std::optional<Millis> next_deadline() const;
  // Runs all that is due, in order of deadline, then of scheduling. A task may schedule and cancel.
  void advance(Millis now_ms);
  [[nodiscard]] std::size_t size() const { return due_.size(); }

 private:
  std::map<std::pair<Millis, TimerId>, Task> due_;
  std::unordered_map<TimerId, Millis> deadlines_;
  TimerId next_id_ = 1;
};

}  // namespace weir
