#include "base/timer_queue.hpp"

namespace weir {

TimerQueue::TimerId TimerQueue::schedule(Millis deadline_ms, Task task) {
  const auto id = next_id_++;
  due_.emplace(std::pair{deadline_ms, id}, std::move(task));
  deadlines_.emplace(id, deadline_ms);
  return id;
}

bool TimerQueue::cancel(TimerId id) {
  const auto found = deadlines_.find(id);
  if (found == deadlines_.end()) {
    return false;
  }
  due_.erase({found->second, id});
  deadlines_.erase(found);
  return true;
}

std::optional<Millis> TimerQueue::next_deadline() const {
  if (due_.empty()) {
    return std::nullopt;
  }
  return due_.begin()->first.first;
}

void TimerQueue::advance(Millis now_ms) {
  while (!due_.empty() && due_.begin()->first.first <= now_ms) {
    auto node = due_.extract(due_.begin());
    deadlines_.erase(node.key().second);
    node.mapped()();
  }
}

}  // namespace weir
