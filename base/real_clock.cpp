#include "base/real_clock.hpp"

#include <ctime>

namespace weir {
namespace {
constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kNsPerMs = 1'000'000;

std::int64_t read_ns(clockid_t id) {
  timespec now{};
  ::clock_gettime(id, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}
}  // namespace

Millis RealClock::wall_ms() const {
  return read_ns(CLOCK_REALTIME) / kNsPerMs;
}
Millis RealClock::monotonic_ms() const {
  return read_ns(CLOCK_MONOTONIC) / kNsPerMs;
}
std::int64_t RealClock::monotonic_ns() const {
  return read_ns(CLOCK_MONOTONIC);
}

}  // namespace weir
