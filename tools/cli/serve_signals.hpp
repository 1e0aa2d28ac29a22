// StopSignals: SIGTERM and SIGINT of `weir serve`, from before its start until its end. A thread of its own waits for
// them, so that none has to wait for a disk: during the start the first ends the process at once, as the signal does by
// itself; once started() it is what wait_for_first() returns, and a second one ends the process at once, with exit code
// 1. Either end is as safe as a kill -9: what was acknowledged is in files, the next start scans them.
//
// Owned by serve(), made before any other thread: both signals stay blocked in every thread that is started later.
#pragma once

#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <thread>

namespace weir::cli {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  void started();
  int wait_for_first();

 private:
  enum class Phase : std::uint8_t { starting, running, stopping, over };
  void run();
  void take(int signal);  // under the lock

  sigset_t signals_{};
  std::mutex mutex_;
  std::condition_variable wake_;
  Phase phase_ = Phase::starting;
  int first_ = 0;
  std::thread thread_;
};

const char* name_of_signal(int signal);

}  // namespace weir::cli
