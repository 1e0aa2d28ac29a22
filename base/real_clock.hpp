// The kernel's clocks. Stateless; any thread.
#pragma once

#include "base/clock.hpp"

namespace weir {

class RealClock final : public Clock {
 public:
  [[nodiscard]] Millis wall_ms() const override;
  [[nodiscard]] Millis monotonic_ms() const override;
  [[nodiscard]] std::int64_t monotonic_ns() const override;
};

}  // namespace weir
