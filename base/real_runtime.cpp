#include "base/real_runtime.hpp"

#include <sys/random.h>

namespace weir {

std::uint64_t kernel_random() {
  std::uint64_t value = 0;
  WEIR_CHECK(::getrandom(&value, sizeof(value), 0) == sizeof(value));  // 8 bytes are never cut short
  return value;
}

RealRuntime::RealRuntime(std::size_t io_threads, TcpBuffers accepted) : network_(accepted), seed_(kernel_random()) {
  WEIR_CHECK(io_threads > 0);
  for (std::size_t i = 0; i < io_threads; ++i) {
    io_.push_back(std::make_unique<IoThread>("weir-io-" + std::to_string(i), clock_));
  }
}

Runtime RealRuntime::runtime() {
  std::vector<IoLoop*> loops;
  for (const auto& loop : io_) {
    loops.push_back(loop.get());
  }
  return {.clock = clock_,
          .disk = disk_,
          .network = network_,
          .io = std::move(loops),
          .write = write_,
          .controller = controller_,
          .pool = pool_,
          .seed = seed_};
}

void RealRuntime::stop() {
  pool_.stop();
  controller_.stop();
  write_.stop();
  for (const auto& loop : io_) {
    loop->stop();
  }
}

}  // namespace weir
