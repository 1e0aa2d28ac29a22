// The time seam. Any thread. Wall time may jump; monotonic time never goes back.
#pragma once

#include "base/ids.hpp"

namespace weir {

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Millis wall_ms() const = 0;       // since 1970, UTC
  [[nodiscard]] virtual Millis monotonic_ms() const = 0;  // since some start
  [[nodiscard]] virtual std::int64_t monotonic_ns() const = 0;
};

}  // namespace weir
