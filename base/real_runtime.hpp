// The real world of one broker process: clock, files, sockets and threads, as one Runtime. Made by `weir serve` and by
// tests that need the real thing; the broker must be gone before it stops.
#pragma once

#include <memory>
#include <vector>

#include "base/io_thread.hpp"
#include "base/posix_disk.hpp"
#include "base/real_clock.hpp"
#include "base/runtime.hpp"
#include "base/tcp_network.hpp"
#include "base/thread_executor.hpp"

namespace weir {

class RealRuntime {
 public:
  explicit RealRuntime(std::size_t io_threads, TcpBuffers accepted = {});
  ~RealRuntime() { stop(); }
  RealRuntime(const RealRuntime&) = delete;
  RealRuntime& operator=(const RealRuntime&) = delete;

  [[nodiscard]] Runtime runtime();
  // Ends the threads in the order in which work flows: each runs what it has first. Again is fine.
  void stop();

 private:
  static constexpr std::size_t kPoolThreads = 2;

  RealClock clock_;
  PosixDisk disk_;
  std::vector<std::unique_ptr<IoThread>> io_;
  TcpNetwork network_;  // after the loops: its resolver may still post to one
  ThreadExecutor write_{"weir-write"};
  ThreadExecutor controller_{"weir-controller"};
  PoolExecutor pool_{"weir-pool", kPoolThreads};
  std::uint64_t seed_;
};

// From the kernel's random source; for seeds and ids, not for secrets.
std::uint64_t kernel_random();

}  // namespace weir
