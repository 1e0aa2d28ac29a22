#include "base/out_of_memory.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

namespace weir {
namespace {
thread_local int may_run_out = 0;

// Allocates nothing.
void say(std::string_view line) {
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

std::atomic_flag is_ending = ATOMIC_FLAG_INIT;

// One line for the process: a second thread that finds no memory waits here until the first one has ended it.
[[noreturn]] void end_in_words(std::string_view line) {
  while (is_ending.test_and_set()) {
    ::pause();
  }
  say(line);
  ::_exit(kOutOfMemoryExit);
}

[[noreturn]] void end_out_of_memory() {
  end_in_words(
      "weir: out of memory: the process ends, exit code 3. What was acknowledged is on disk. Give it more memory, or "
      "lower mq.image.bytes, mq.read.cache.bytes, mq.memory.bytes or mq.request.memory.bytes\n");
}

void on_failed_new() {
  if (may_run_out > 0) {
    throw std::bad_alloc{};
  }
  end_out_of_memory();
}

bool is_shortage(const std::error_code& code) {
  return code == std::errc::resource_unavailable_try_again || code == std::errc::not_enough_memory;
}

[[noreturn]] void on_terminate() {
  if (const auto failure = std::current_exception()) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::bad_alloc&) {
      end_out_of_memory();
    } catch (const std::system_error& error) {
      if (is_shortage(error.code())) {
        end_in_words("weir: a thread cannot be started, for want of memory or of threads (ulimit -u): exit code 3\n");
      }
      std::fprintf(stderr, "weir: unhandled exception: %s\n", error.what());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "weir: unhandled exception: %s\n", error.what());
    } catch (...) {
      say("weir: unhandled exception\n");
    }
  }
  std::abort();
}

}  // namespace

void end_when_out_of_memory() {
  std::set_new_handler(on_failed_new);
  std::set_terminate(on_terminate);
}

void memory_ran_out() {
  if (const auto handler = std::get_new_handler()) {
    handler();
  }
  throw std::bad_alloc{};
}

MayRunOutOfMemory::MayRunOutOfMemory() {
  ++may_run_out;
}
MayRunOutOfMemory::~MayRunOutOfMemory() {
  --may_run_out;
}

}  // namespace weir
