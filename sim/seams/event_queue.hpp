// The one queue of a simulation: tasks that are ready, in lanes, and timers on virtual time. step() runs one task of a
// lane that the seed picks; tasks of one ordered lane stay first in, first out, as those of a thread do. When nothing
// is ready, the clock jumps to the next deadline. One thread; owned by the test or the world, outlives all executors on
// it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "base/executor.hpp"
#include "base/random.hpp"
#include "sim/seams/sim_clock.hpp"

namespace weir::sim {

class EventQueue {
 public:
  explicit EventQueue(std::uint64_t seed) : random_(seed) {}
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  // One executor's tasks and, for a loop, its timers.
  struct Lane : std::enable_shared_from_this<Lane> {
    explicit Lane(bool is_ordered) : ordered(is_ordered) {}
    bool ordered;  // false: a pool, whose tasks may overtake each other
    bool dead = false;
    std::deque<Task> tasks;
    TimerQueue timers;
    Millis busy_until = 0;
    std::size_t held_back = 0;  // posted while it was busy
  };
  std::shared_ptr<Lane> add_lane(bool ordered);
  // Drops the lane's tasks and timers without running them; later posts to it are dropped too. A process has died.
  void kill(Lane& lane);
  void post(Lane& lane, Task task);
  // What is posted to the lane from now on begins `for_ms` later at the earliest: its thread waits for a slow disk.
  void stall(Lane& lane, Millis for_ms);
  // Runs `task` once virtual time is `delay_ms` later, on no executor: the world's own events (a packet arrives).
  void after(Millis delay_ms, Task task);

  SimClock& clock() { return clock_; }

  // Runs one ready task; if none is ready, jumps to the next deadline first. False when nothing is left to do.
  bool step();
  // Runs what is ready, and what that makes ready, without moving the clock.
  void run_until_idle();
  // Runs for `duration_ms` of virtual time, timers included.
  void run_for(Millis duration_ms);
  // Steps until `done` holds or the next step would pass the deadline (monotonic virtual ms). True if `done` holds.
  template <class Predicate>
  bool run_until(Predicate done, Millis deadline_ms) {
    while (!done()) {
      if (ready_ == 0 && next_deadline().value_or(deadline_ms + 1) > deadline_ms) {
        return done();
      }
      step();
    }
    return true;
  }

  [[nodiscard]] std::size_t ready() const { return ready_; }
  [[nodiscard]] std::optional<Millis> next_deadline();
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  // Changes with every choice that was made: two runs with equal traces made the same choices.
  [[nodiscard]] std::uint64_t trace() const { return trace_; }

 private:
  void enqueue(Lane& lane, Task task);
  void run_one_ready();
  void jump_to(Millis deadline_ms);
  Task take(Lane& lane);

  SimClock clock_;
  Random random_;
  std::vector<std::weak_ptr<Lane>> lanes_;
  std::shared_ptr<Lane> world_ = add_lane(false);
  std::size_t ready_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t trace_ = 0;
};

// An executor on a lane of the queue. Its end kills the lane.
class SimExecutor final : public Executor {
 public:
  enum class Kind : std::uint8_t { thread, pool };
  explicit SimExecutor(EventQueue& queue, Kind kind = Kind::thread)
      : queue_(queue), lane_(queue.add_lane(kind == Kind::thread)) {}
  ~SimExecutor() override { kill(); }
  SimExecutor(const SimExecutor&) = delete;
  SimExecutor& operator=(const SimExecutor&) = delete;
  void post(Task task) override { queue_.post(*lane_, std::move(task)); }
  void kill() { queue_.kill(*lane_); }
  void stall(Millis for_ms) { queue_.stall(*lane_, for_ms); }

 private:
  EventQueue& queue_;
  std::shared_ptr<EventQueue::Lane> lane_;
};

// The same with timers. They may be set from outside tasks too, as all runs on one thread.
class SimLoop final : public IoLoop {
 public:
  explicit SimLoop(EventQueue& queue) : queue_(queue), lane_(queue.add_lane(true)) {}
  ~SimLoop() override { kill(); }
  SimLoop(const SimLoop&) = delete;
  SimLoop& operator=(const SimLoop&) = delete;
  void post(Task task) override { queue_.post(*lane_, std::move(task)); }
  TimerQueue& timers() override { return lane_->timers; }
  void kill() { queue_.kill(*lane_); }

 private:
  EventQueue& queue_;
  std::shared_ptr<EventQueue::Lane> lane_;
};

}  // namespace weir::sim
