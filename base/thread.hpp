// start_thread: the one way in which Weir makes threads. The name shows in ps and gdb; all signals are blocked, so that
// the main thread alone receives SIGTERM, and a peer that has gone is EPIPE for sendfile and never SIGPIPE.
//
// Its threads are SCHED_BATCH: they wake each other all the time, and one that is woken waits for its turn instead of
// interrupting the one that has more to hand over. On two busy cores that takes a sixth of the CPU off each small
// request (docs/ARCHITECTURE.md, "Threads"); on idle cores it changes nothing.
#pragma once

#include <string>
#include <thread>

#include "base/unique_function.hpp"

namespace weir {
std::thread start_thread(const std::string& name, Task body);  // the kernel shows the first 15 letters of the name
}  // namespace weir
