#include "base/thread.hpp"

#include <pthread.h>
#include <sched.h>

#include <csignal>

namespace weir {
namespace {
constexpr std::size_t kNameMax = 15;  // the kernel's
}  // namespace

std::thread start_thread(const std::string& name, Task body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the child inherits it from its first instruction on
  std::thread thread([body = std::move(body)]() mutable {
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_BATCH, &none);  // of this thread; refused by some containers: then nothing changes
    body();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread.native_handle(), name.substr(0, kNameMax).c_str());
  return thread;
}

}  // namespace weir
