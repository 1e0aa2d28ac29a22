#include "sim/seams/event_queue.hpp"

namespace weir::sim {

std::shared_ptr<EventQueue::Lane> EventQueue::add_lane(bool ordered) {
  std::erase_if(lanes_, [](const auto& lane) { return lane.expired(); });
  auto lane = std::make_shared<Lane>(ordered);
  lanes_.push_back(lane);
  return lane;
}

void EventQueue::kill(Lane& lane) {
  lane.dead = true;
  // What a task or timer captured may post or set timers while it is destroyed, so both are moved out first.
  const auto tasks = std::exchange(lane.tasks, {});
  ready_ -= tasks.size();
  const auto timers = std::exchange(lane.timers, {});
}

void EventQueue::post(Lane& lane, Task task) {
  if (lane.dead) {
    return;
  }
  if (lane.held_back == 0 && lane.busy_until <= clock_.monotonic_ms()) {
    enqueue(lane, std::move(task));
    return;
  }
  ++lane.held_back;
  world_->timers.schedule(std::max(lane.busy_until, clock_.monotonic_ms()),
                          [this, weak = lane.weak_from_this(), task = std::move(task)]() mutable {
                            if (const auto alive = weak.lock(); alive && !alive->dead) {
                              --alive->held_back;
                              enqueue(*alive, std::move(task));
                            }
                          });
}

void EventQueue::enqueue(Lane& lane, Task task) {
  lane.tasks.push_back(std::move(task));
  ++ready_;
}

void EventQueue::stall(Lane& lane, Millis for_ms) {
  lane.busy_until = std::max(lane.busy_until, clock_.monotonic_ms() + for_ms);
}

void EventQueue::after(Millis delay_ms, Task task) {
  if (delay_ms <= 0) {
    post(*world_, std::move(task));
    return;
  }
  world_->timers.schedule(clock_.monotonic_ms() + delay_ms, std::move(task));
}

std::optional<Millis> EventQueue::next_deadline() {
  std::optional<Millis> next;
  for (const auto& weak : lanes_) {
    const auto lane = weak.lock();
    const auto deadline = lane && !lane->dead ? lane->timers.next_deadline() : std::nullopt;
    if (deadline && (!next || *deadline < *next)) {
      next = deadline;
    }
  }
  return next;
}

Task EventQueue::take(Lane& lane) {
  const auto at = lane.ordered ? 0 : random_.below(lane.tasks.size());
  auto task = std::move(lane.tasks[at]);
  lane.tasks.erase(lane.tasks.begin() + static_cast<std::ptrdiff_t>(at));
  --ready_;
  return task;
}

void EventQueue::run_one_ready() {
  std::vector<std::shared_ptr<Lane>> choices;
  for (const auto& weak : lanes_) {
    if (auto lane = weak.lock(); lane && !lane->tasks.empty()) {
      choices.push_back(std::move(lane));
    }
  }
  const auto choice = random_.below(choices.size());
  trace_ = trace_ * 0x100000001b3ULL + choice * 64 + choices.size();
  ++steps_;
  auto task = take(*choices[choice]);
  choices.clear();
  task();
}

void EventQueue::jump_to(Millis deadline_ms) {
  if (deadline_ms > clock_.monotonic_ms()) {
    clock_.advance_to(deadline_ms);
  }
  trace_ = trace_ * 0x100000001b3ULL + static_cast<std::uint64_t>(deadline_ms);
  for (const auto& weak : lanes_) {
    const auto lane = weak.lock();
    if (!lane || lane->dead || lane->timers.next_deadline().value_or(deadline_ms + 1) > clock_.monotonic_ms()) {
      continue;
    }
    // The timers fire in a task of their own lane, so that the seed shuffles them among the lanes like all else.
    post(*lane, [this, weak] {
      if (const auto alive = weak.lock(); alive && !alive->dead) {
        alive->timers.advance(clock_.monotonic_ms());
      }
    });
  }
}

bool EventQueue::step() {
  if (ready_ == 0) {
    const auto deadline = next_deadline();
    if (!deadline) {
      return false;
    }
    jump_to(*deadline);
  }
  run_one_ready();
  return true;
}

void EventQueue::run_until_idle() {
  while (ready_ > 0) {
    run_one_ready();
  }
}

void EventQueue::run_for(Millis duration_ms) {
  const auto end = clock_.monotonic_ms() + duration_ms;
  run_until([] { return false; }, end);
  clock_.advance_to(end);
}

}  // namespace weir::sim
