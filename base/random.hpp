// The randomness seam: ids, jitter. Real: seeded from the kernel once. Simulated: seeded by the test. Not for secrets.
// An instance belongs to one thread or to its owner's lock.
#pragma once

#include <cstdint>

#include "base/ids.hpp"

namespace weir {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();                      // splitmix64
  std::uint64_t below(std::uint64_t bound);  // [0, bound), bound > 0
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  Uuid uuid();                              // version 4, and never one that Kafka reserves (first 100 values)
  Random fork() { return Random{next()}; }  // an independent stream

 private:
  std::uint64_t state_;
};

}  // namespace weir
