// ThreadExecutor: one thread that may block (the write role, the controller). PoolExecutor: n of them (cold reads); its
// tasks may overlap and overtake each other. Both are owned by the runtime. post() from any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/executor.hpp"

namespace weir {

class PoolExecutor : public Executor {
 public:
  PoolExecutor(const std::string& name, std::size_t threads);
  ~PoolExecutor() override { stop(); }
  PoolExecutor(const PoolExecutor&) = delete;
  PoolExecutor& operator=(const PoolExecutor&) = delete;

  void post(Task task) override;
  // Runs all that was posted, and what that posts, then ends the threads. Later posts are dropped. Not from a task.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  std::size_t waiting_ = 0;  // threads asleep: a post that finds none makes no system call
  std::size_t running_ = 0;  // tasks under way, which may post more
  bool stopping_ = false;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

class ThreadExecutor final : public PoolExecutor {
 public:
  explicit ThreadExecutor(const std::string& name) : PoolExecutor(name, 1) {}
};

}  // namespace weir
