// RequestMemory: the one budget for requests in flight (mq.request.memory.bytes). A request holds its frame's size from
// the moment it is taken up until its answer is ready, or until it waits without its frame. Past the budget nobody
// takes up new requests, so sockets are not read and TCP holds the clients back; who waits is served in order. Any
// thread; small critical sections, no callbacks inside.
#pragma once

#include <deque>
#include <mutex>

#include "base/executor.hpp"

namespace weir::broker {

class RequestMemory {
 public:
  explicit RequestMemory(std::size_t budget_bytes) : budget_(budget_bytes) {}

  // Takes `bytes` (a request over the whole budget counts as the budget) now and returns true, or later: `granted` then
  // runs on `loop` with the bytes taken. A waiter that went away must still release what it is granted.
  bool acquire(std::size_t bytes, IoLoop& loop, Task granted);
  void release(std::size_t bytes);
  [[nodiscard]] std::size_t in_use() const;
  [[nodiscard]] bool contended() const;

 private:
  struct Waiter {
    std::size_t bytes;
    IoLoop* loop;
    Task granted;
  };
  [[nodiscard]] std::size_t capped(std::size_t bytes) const { return std::min(bytes, budget_); }

  const std::size_t budget_;
  mutable std::mutex mutex_;
  std::size_t used_ = 0;
  std::deque<Waiter> waiters_;
};

}  // namespace weir::broker
