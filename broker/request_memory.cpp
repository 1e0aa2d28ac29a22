#include "broker/request_memory.hpp"

#include <vector>

namespace weir::broker {

bool RequestMemory::acquire(std::size_t bytes, IoLoop& loop, Task granted) {
  const std::lock_guard lock{mutex_};
  if (waiters_.empty() && used_ + capped(bytes) <= budget_) {
    used_ += capped(bytes);
    return true;
  }
  waiters_.push_back({capped(bytes), &loop, std::move(granted)});
  return false;
}

void RequestMemory::release(std::size_t bytes) {
  std::vector<Waiter> ready;
  {
    const std::lock_guard lock{mutex_};
    WEIR_CHECK(used_ >= capped(bytes));
    used_ -= capped(bytes);
    while (!waiters_.empty() && used_ + waiters_.front().bytes <= budget_) {
      used_ += waiters_.front().bytes;
      ready.push_back(std::move(waiters_.front()));
      waiters_.pop_front();
    }
  }
  for (auto& waiter : ready) {
    waiter.loop->post(std::move(waiter.granted));
  }
}

std::size_t RequestMemory::in_use() const {
  const std::lock_guard lock{mutex_};
  return used_;
}

bool RequestMemory::contended() const {
  const std::lock_guard lock{mutex_};
  return !waiters_.empty();
}

}  // namespace weir::broker
