// One simulated process on a machine of seams: its executors, and the Runtime that a broker is given. kill() is kill
// -9: nothing posted or timed runs any more, then the test destroys the broker and may start a new SimRuntime on the
// same disk. SimMachine bundles a queue, a disk and a network for tests that need one of each. One thread.
#pragma once

#include <memory>
#include <vector>

#include "base/runtime.hpp"
#include "sim/seams/event_queue.hpp"
#include "sim/seams/sim_disk.hpp"
#include "sim/seams/sim_network.hpp"

namespace weir::sim {

class SimRuntime {
 public:
  SimRuntime(EventQueue& queue, Disk& disk, SimNetwork& network, std::uint64_t seed, std::size_t io_loops = 2);
  [[nodiscard]] Runtime runtime();
  [[nodiscard]] SimLoop& io(std::size_t number) { return *io_[number]; }
  ~SimRuntime() { kill(); }
  SimRuntime(const SimRuntime&) = delete;
  SimRuntime& operator=(const SimRuntime&) = delete;
  void kill();
  // The threads that use the disk wait for it that long.
  void stall_disk(Millis for_ms) {
    write_.stall(for_ms);
    controller_.stall(for_ms);
    pool_.stall(for_ms);
  }

 private:
  EventQueue& queue_;
  Disk& disk_;
  SimNetwork& network_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<SimLoop>> io_;
  SimExecutor write_;
  SimExecutor controller_;
  SimExecutor pool_;
};

struct SimMachine {
  explicit SimMachine(std::uint64_t seed)
      : queue(seed), disk(seed + 1), network(queue, seed + 2), process(queue, disk, network, seed + 3) {}
  EventQueue queue;
  SimDisk disk;
  SimNetwork network;
  SimRuntime process;
};

}  // namespace weir::sim
