// RequestMemory: the one budget for requests in flight (mq.request.memory.bytes). A request holds its frame's size from
// the moment it is taken up until it is answered or dropped, or until it waits without its frame; a connection that
// closes gives back nothing of what its requests hold. Past the budget nobody takes up new requests, so sockets are not
// read and TCP holds the clients back; who waits is served in order. Any thread; small critical sections, no callbacks
// inside.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/executor.hpp"

namespace weir::broker {

class RequestShare;

class RequestMemory {
 public:
  using Ticket = std::uint64_t;
  static constexpr Ticket kTaken = 0;

  explicit RequestMemory(std::size_t budget_bytes) : budget_(std::make_shared<Budget>(budget_bytes)) {}
  ~RequestMemory();  // nobody is granted anything from then on
  RequestMemory(const RequestMemory&) = delete;
  RequestMemory& operator=(const RequestMemory&) = delete;

  // Takes `bytes` (a request over the whole budget counts as the budget) now and returns kTaken, or later: `granted`
  // then runs on `loop` with the bytes taken. Who has taken them makes a RequestShare of them.
  [[nodiscard]] Ticket acquire(std::size_t bytes, IoLoop& loop, Task granted);
  // Waits no more. No effect once it has been granted: then `granted` runs.
  void forget(Ticket waiting);
  [[nodiscard]] std::size_t in_use() const;
  [[nodiscard]] bool contended() const;

 private:
  friend class RequestShare;
  struct Waiter {
    std::size_t bytes;
    IoLoop* loop;
    Task granted;
  };
  struct Budget {
    explicit Budget(std::size_t budget_bytes) : bytes(budget_bytes) {}
    [[nodiscard]] std::size_t capped(std::size_t wanted) const { return std::min(wanted, bytes); }
    void release(std::size_t wanted);
    std::vector<Waiter> take_ready();  // under the lock

    const std::size_t bytes;
    mutable std::mutex mutex;
    std::size_t used = 0;
    Ticket last_ticket = kTaken;
    std::map<Ticket, Waiter> waiters;  // in order of arrival
  };
  static void grant(std::vector<Waiter> ready);

  std::shared_ptr<Budget> budget_;
};

// What a request has taken, until it gives it back or dies. May outlive the RequestMemory: a request may be dropped
// when the last of the log's and the loops' tasks go. One thread at a time.
class RequestShare {
 public:
  RequestShare() = default;
  // Of bytes that acquire() has taken.
  RequestShare(const RequestMemory& memory, std::size_t bytes) : budget_(memory.budget_), bytes_(bytes) {}
  RequestShare(RequestShare&& other) noexcept
      : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  RequestShare& operator=(RequestShare&& other) noexcept;
  ~RequestShare() { give_back(); }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  void give_back();

 private:
  std::shared_ptr<RequestMemory::Budget> budget_;
  std::size_t bytes_ = 0;
};

}  // namespace weir::broker
