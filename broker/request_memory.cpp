#include "broker/request_memory.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace weir::broker {

RequestMemory::~RequestMemory() {
  std::map<Ticket, Waiter> unheard;  // dies outside of the lock
  const std::lock_guard lock{budget_->mutex};
  unheard.swap(budget_->waiters);
}

RequestMemory::Ticket RequestMemory::acquire(std::size_t bytes, IoLoop& loop, Task granted) {
  auto& budget = *budget_;
  const std::lock_guard lock{budget.mutex};
  if (budget.waiters.empty() && budget.used + budget.capped(bytes) <= budget.bytes) {
    budget.used += budget.capped(bytes);
    return kTaken;
  }
  const auto ticket = ++budget.last_ticket;
  budget.waiters.emplace_hint(budget.waiters.end(), ticket, Waiter{budget.capped(bytes), &loop, std::move(granted)});
  return ticket;
}

void RequestMemory::forget(Ticket waiting) {
  decltype(budget_->waiters)::node_type gone;
  std::vector<Waiter> ready;
  {
    const std::lock_guard lock{budget_->mutex};
    gone = budget_->waiters.extract(waiting);
    ready = budget_->take_ready();  // it may have been the first
  }
  grant(std::move(ready));
}

void RequestMemory::Budget::release(std::size_t wanted) {
  std::vector<Waiter> ready;
  {
    const std::lock_guard lock{mutex};
    WEIR_CHECK(used >= capped(wanted));
    used -= capped(wanted);
    ready = take_ready();
  }
  grant(std::move(ready));
}

std::vector<RequestMemory::Waiter> RequestMemory::Budget::take_ready() {
  std::vector<Waiter> ready;
  while (!waiters.empty() && used + waiters.begin()->second.bytes <= bytes) {
    used += waiters.begin()->second.bytes;
    ready.push_back(std::move(waiters.begin()->second));
    waiters.erase(waiters.begin());
  }
  return ready;
}

void RequestMemory::grant(std::vector<Waiter> ready) {
  for (auto& waiter : ready) {
    waiter.loop->post(std::move(waiter.granted));
  }
}

std::size_t RequestMemory::in_use() const {
  const std::lock_guard lock{budget_->mutex};
  return budget_->used;
}

bool RequestMemory::contended() const {
  const std::lock_guard lock{budget_->mutex};
  return !budget_->waiters.empty();
}

RequestShare& RequestShare::operator=(RequestShare&& other) noexcept {
  if (this != &other) {
    give_back();
    budget_ = std::move(other.budget_);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void RequestShare::give_back() {
  if (bytes_ > 0) {
    budget_->release(std::exchange(bytes_, 0));
  }
}

}  // namespace weir::broker
