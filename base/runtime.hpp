// Everything a broker needs from the world, injected. base/real_runtime builds it from threads and sockets, sim::World
// from one queue and a seed. Outlives the broker.
#pragma once

#include <vector>

#include "base/clock.hpp"
#include "base/disk.hpp"
#include "base/executor.hpp"
#include "base/network.hpp"
#include "base/random.hpp"

namespace weir {

struct Runtime {
  Clock& clock;
  Disk& disk;
  Network& network;
  std::vector<IoLoop*> io;  // network loops; at least one. Connections, their waiters and groups live on one of them
  Executor& write;          // the write role of the log: writes and syncs, may block
  Executor& controller;     // the local controller and its metadata log: may block
  Executor& pool;           // cold reads, index deltas, retention: may block; tasks may overlap
  std::uint64_t seed;       // for Random instances of the parts
};

}  // namespace weir
