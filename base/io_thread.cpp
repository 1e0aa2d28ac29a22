#include "base/io_thread.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>

#include "base/thread.hpp"

namespace weir {
namespace {
constexpr std::size_t kEventsMax = 128;  // taken from the kernel in one call; the rest comes with the next
}  // namespace

IoThread::IoThread(const std::string& name, const Clock& clock)
    : clock_(clock), epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  WEIR_CHECK(epoll_ >= 0 && wake_ >= 0);
  // Edge-triggered: each write to it is one event, so that nobody ever needs to read it.
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.fd = wake_}};
  WEIR_CHECK(::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) == 0);
  thread_ = start_thread(name, [this] { run(); });
}

IoThread::~IoThread() {
  stop();
  const auto last = std::exchange(watchers_, {});  // their ends may call unwatch()
  for (const auto& watcher : last) {
    if (watcher != nullptr) {
      watcher->on_loop_end();
    }
  }
  ::close(epoll_);
  ::close(wake_);
}

void IoThread::post(Task task) {
  bool wake = false;
  {
    const std::lock_guard guard{mutex_};
    if (stopped_) {
      return;
    }
    posted_.push_back(std::move(task));
    wake = sleeping_.exchange(false, std::memory_order_relaxed);
  }
  if (wake) {
    const std::uint64_t one = 1;
    WEIR_CHECK(::write(wake_, &one, sizeof(one)) == sizeof(one));
  }
}

void IoThread::stop() {
  if (!thread_.joinable()) {
    return;
  }
  WEIR_CHECK(!is_current());
  stopping_.store(true, std::memory_order_release);
  post([] {});  // wakes it
  thread_.join();
}

bool IoThread::watch(int descriptor, std::shared_ptr<Watcher> watcher) {
  const auto at = static_cast<std::size_t>(descriptor);
  if (at >= watchers_.size()) {
    watchers_.resize(at + 1);
  }
  watchers_[at] = std::move(watcher);
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.fd = descriptor}};
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    watchers_[at].reset();
    return false;
  }
  return true;
}

void IoThread::unwatch(int descriptor) {
  const auto at = static_cast<std::size_t>(descriptor);
  if (at < watchers_.size() && watchers_[at] != nullptr) {
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
    const auto last = std::exchange(watchers_[at], nullptr);  // its end may come back here
  }
}

// Also what these post, once: a turn ends with what its tasks leave for its end, and the kernel is asked after that.
void IoThread::run_posted() {
  for (int round = 0; round < 2; ++round) {
    {
      const std::lock_guard guard{mutex_};
      batch_.swap(posted_);
    }
    for (auto& task : batch_) {
      task();
      task = {};
    }
    batch_.clear();
  }
}

int IoThread::timeout_ms() {
  const std::lock_guard guard{mutex_};
  if (!posted_.empty()) {
    return 0;
  }
  const auto deadline_ms = timers_.next_deadline();
  Millis timeout = -1;
  if (deadline_ms) {
    // One more, as the clock's reading is rounded down and the loop must not wake before the deadline.
    timeout = std::clamp<Millis>(*deadline_ms - clock_.monotonic_ms() + 1, 0, std::numeric_limits<int>::max());
    if (*deadline_ms <= clock_.monotonic_ms()) {
      timeout = 0;
    }
  }
  sleeping_.store(timeout != 0, std::memory_order_relaxed);
  return static_cast<int>(timeout);
}

void IoThread::wait_and_dispatch() {
  std::array<epoll_event, kEventsMax> events;
  const auto timeout = timeout_ms();
  const auto count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), timeout);
  WEIR_CHECK(count >= 0 || errno == EINTR);
  // Without the lock: what somebody posts from here on is found by run_posted(), woken for or not.
  sleeping_.store(false, std::memory_order_relaxed);
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    // An earlier event may have unwatched this descriptor, or a new connection may have its number: then the readiness
    // told is not true, which costs the new watcher one call that finds nothing.
    const auto at = static_cast<std::size_t>(event.data.fd);
    const auto watcher = at < watchers_.size() ? watchers_[at] : nullptr;
    if (watcher != nullptr) {
      const bool hung_up = (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
      watcher->on_ready((event.events & EPOLLIN) != 0, (event.events & (EPOLLOUT | EPOLLERR)) != 0, hung_up);
    }
  }
}

bool IoThread::has_ended() {
  const std::lock_guard guard{mutex_};
  stopped_ = posted_.empty();
  return stopped_;
}

void IoThread::run() {
  id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  while (true) {
    run_posted();
    if (timers_.next_deadline()) {
      timers_.advance(clock_.monotonic_ms());
    }
    if (stopping_.load(std::memory_order_acquire) && has_ended()) {
      return;
    }
    wait_and_dispatch();
  }
}

}  // namespace weir
