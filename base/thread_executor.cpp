#include "base/thread_executor.hpp"

#include "base/thread.hpp"

namespace weir {

PoolExecutor::PoolExecutor(const std::string& name, std::size_t threads) {
  WEIR_CHECK(threads > 0);
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.push_back(start_thread(threads == 1 ? name : name + "-" + std::to_string(i), [this] { run(); }));
  }
}

void PoolExecutor::post(Task task) {
  bool wake = false;
  {
    const std::lock_guard guard{mutex_};
    if (stopped_) {
      return;
    }
    tasks_.push_back(std::move(task));
    wake = waiting_ > 0;
  }
  if (wake) {
    wake_.notify_one();
  }
}

void PoolExecutor::run() {
  std::unique_lock lock{mutex_};
  while (true) {
    while (tasks_.empty() && !(stopping_ && running_ == 0)) {
      ++waiting_;
      wake_.wait(lock);
      --waiting_;
    }
    if (tasks_.empty()) {
      wake_.notify_all();  // the other threads of the pool have nothing more to wait for either
      return;
    }
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    ++running_;
    lock.unlock();
    task();
    task = {};  // what it captured is destroyed before the lock is taken
    lock.lock();
    --running_;
    if (stopping_ && running_ == 0) {
      wake_.notify_all();
    }
  }
}

void PoolExecutor::stop() {
  {
    const std::lock_guard guard{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) {
    thread.join();
  }
  threads_.clear();
  const std::lock_guard guard{mutex_};
  stopped_ = true;
}

}  // namespace weir
