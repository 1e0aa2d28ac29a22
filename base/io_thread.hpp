// IoThread: one thread with its tasks, timers and descriptors. It sleeps in epoll_wait until the next deadline, so a
// timer costs no system call, and a post wakes it only when it sleeps. Descriptors are edge-triggered for both
// directions and registered once. Owned by the runtime; post() and stop() from any thread, all else from its tasks.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/executor.hpp"

namespace weir {

class IoThread final : public IoLoop {
 public:
  IoThread(const std::string& name, const Clock& clock);
  ~IoThread() override;
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  void post(Task task) override;
  TimerQueue& timers() override { return timers_; }
  // Runs what was posted, and what that posts, then ends the thread. Later posts are dropped; pending timers and reads
  // are never called. Not from a task of this loop.
  void stop();

  // Told of each new readiness of a descriptor (an edge). `hung_up`: an end or an error waits to be read.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void on_ready(bool readable, bool writable, bool hung_up) = 0;
    // The loop is being destroyed: let go of everything, call nobody.
    virtual void on_loop_end() {}
  };
  // False if the kernel refuses (errno). The watcher is kept until unwatch() or the end of the loop.
  [[nodiscard]] bool watch(int descriptor, std::shared_ptr<Watcher> watcher);
  // To be called before the descriptor is closed. Once the loop has stopped, from any thread.
  void unwatch(int descriptor);
  [[nodiscard]] Millis now_ms() const { return clock_.monotonic_ms(); }
  [[nodiscard]] bool is_current() const { return std::this_thread::get_id() == id_.load(std::memory_order_relaxed); }

 private:
  void run();
  void run_posted();
  void wait_and_dispatch();
  [[nodiscard]] int timeout_ms();
  bool has_ended();

  const Clock& clock_;
  int epoll_ = -1;
  int wake_ = -1;
  TimerQueue timers_;
  std::vector<std::shared_ptr<Watcher>> watchers_;  // by descriptor
  std::vector<Task> batch_;                         // its room is reused

  std::mutex mutex_;
  std::vector<Task> posted_;
  std::atomic<bool> sleeping_{false};  // set under mutex_ with nothing posted; who posts and clears it wakes the loop
  std::atomic<bool> stopping_{false};
  bool stopped_ = false;

  std::atomic<std::thread::id> id_;
  std::thread thread_;
};

}  // namespace weir
