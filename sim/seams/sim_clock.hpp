// Virtual time: it moves only when the event queue (or a test) moves it. One thread.
#pragma once

#include "base/check.hpp"
#include "base/clock.hpp"

namespace weir::sim {

class SimClock final : public Clock {
 public:
  static constexpr Millis kStartWallMs = 1'800'000'000'000;

  [[nodiscard]] Millis wall_ms() const override { return kStartWallMs + now_ms_ + skew_ms_; }
  [[nodiscard]] Millis monotonic_ms() const override { return now_ms_; }
  [[nodiscard]] std::int64_t monotonic_ns() const override { return now_ms_ * 1'000'000; }

  void advance_to(Millis monotonic_ms) {
    WEIR_CHECK(monotonic_ms >= now_ms_);
    now_ms_ = monotonic_ms;
  }
  // Wall time jumps, as when somebody sets the clock; monotonic time does not.
  void skew_wall(Millis by_ms) { skew_ms_ += by_ms; }

 private:
  Millis now_ms_ = 0;
  Millis skew_ms_ = 0;
};

}  // namespace weir::sim
