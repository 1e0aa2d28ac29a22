// Seeds of a simulation test. WEIR_SEED=N in the environment gives that one seed, to repeat a failure; else the n seeds
// after a base (WEIR_SEED_BASE, or 1) which is printed first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::sim {
std::vector<std::uint64_t> seeds(std::size_t count);
// WEIR_SEEDS=N in the environment: how many a long run takes; else `usual`.
std::size_t seed_count(std::size_t usual);
}  // namespace weir::sim
