#include "tools/cli/serve_signals.hpp"

#include <cstdio>
#include <cstdlib>

#include "base/logging.hpp"
#include "tools/cli/command.hpp"

namespace weir::cli {
namespace {

// For the parent it died of the signal. A process 1 (of a container) does not die of its own: the code that a shell
// shows of the others.
[[noreturn]] void end_by(int signal, const sigset_t& signals) {
  std::fflush(nullptr);
  std::signal(signal, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  std::raise(signal);
  std::_Exit(128 + signal);
}

}  // namespace

const char* name_of_signal(int signal) {
  return signal == SIGTERM ? "SIGTERM" : "SIGINT";
}

StopSignals::StopSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::thread{[this] { run(); }};
}

StopSignals::~StopSignals() {
  {
    const std::lock_guard lock{mutex_};
    phase_ = Phase::over;
  }
  pthread_kill(thread_.native_handle(), SIGTERM);  // only wakes it
  thread_.join();
}

void StopSignals::started() {
  const std::lock_guard lock{mutex_};
  phase_ = Phase::running;
}

int StopSignals::wait_for_first() {
  std::unique_lock lock{mutex_};
  wake_.wait(lock, [this] { return phase_ == Phase::stopping; });
  return first_;
}

void StopSignals::run() {
  while (true) {
    int received = 0;
    sigwait(&signals_, &received);
    const std::lock_guard lock{mutex_};
    if (phase_ == Phase::over) {
      return;
    }
    take(received);
  }
}

void StopSignals::take(int signal) {
  switch (phase_) {
    case Phase::starting:
      WEIR_LOG(warn, "{} during the start: ends at once, the next start scans the log", name_of_signal(signal));
      end_by(signal, signals_);
    case Phase::running:
      first_ = signal;
      phase_ = Phase::stopping;
      wake_.notify_one();
      return;
    case Phase::stopping:
      WEIR_LOG(warn, "a second signal: ends at once, the next start scans the log");
      std::fflush(nullptr);
      std::_Exit(kFailed);
    case Phase::over: return;
  }
}

}  // namespace weir::cli
