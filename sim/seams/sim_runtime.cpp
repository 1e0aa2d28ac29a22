#include "sim/seams/sim_runtime.hpp"

namespace weir::sim {

SimRuntime::SimRuntime(EventQueue& queue, Disk& disk, SimNetwork& network, std::uint64_t seed, std::size_t io_loops)
    : queue_(queue),
      disk_(disk),
      network_(network),
      seed_(seed),
      write_(queue),
      controller_(queue),
      pool_(queue, SimExecutor::Kind::pool) {
  WEIR_CHECK(io_loops > 0);
  for (std::size_t i = 0; i < io_loops; ++i) {
    io_.push_back(std::make_unique<SimLoop>(queue));
  }
}

Runtime SimRuntime::runtime() {
  std::vector<IoLoop*> loops;
  for (const auto& loop : io_) {
    loops.push_back(loop.get());
  }
  return {.clock = queue_.clock(),
          .disk = disk_,
          .network = network_,
          .io = std::move(loops),
          .write = write_,
          .controller = controller_,
          .pool = pool_,
          .seed = seed_};
}

void SimRuntime::kill() {
  for (const auto& loop : io_) {
    loop->kill();
    network_.drop(*loop);
  }
  write_.kill();
  controller_.kill();
  pool_.kill();
}

}  // namespace weir::sim
