// Executor: where a continuation runs. Real: an io thread, the write thread, a pool. Simulated: one queue that a seed
// shuffles. A task posted from one thread sees all that thread wrote before (release / acquire).
#pragma once

#include "base/ids.hpp"
#include "base/timer_queue.hpp"
#include "base/unique_function.hpp"

namespace weir {

class Executor {
 public:
  virtual ~Executor() = default;
  // Runs `task` later, never inside post(). Tasks of one executor never overlap, except on a pool. Any thread.
  virtual void post(Task task) = 0;
};

// An executor of one thread (or of the simulator's only one) with the timers that fire on it.
class IoLoop : public Executor {
 public:
  // Only from a task of this loop.
  virtual TimerQueue& timers() = 0;
};

}  // namespace weir
