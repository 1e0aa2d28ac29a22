// How many connections there may be and how fast new ones are taken, as the keys max.connections* and
// max.connection.creation.rate say, for the broker and for one listener. Values; any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace weir {

class Config;

inline constexpr std::int32_t kNoConnectionLimit = std::numeric_limits<std::int32_t>::max();

struct ConnectionLimits {
  std::int32_t connections = kNoConnectionLimit;
  std::int32_t new_per_second = kNoConnectionLimit;
  // Of the broker alone:
  std::int32_t per_address = kNoConnectionLimit;
  std::map<std::string, std::int32_t, std::less<>> of_address;  // an address as the kernel writes it
  Millis burst_ms = 0;  // what was not taken of the rate for so long may come at once

  [[nodiscard]] std::int32_t at(std::string_view address) const {
    const auto found = of_address.find(address);
    return found == of_address.end() ? per_address : found->second;
  }
};

ConnectionLimits connection_limits(const Config& config);
ConnectionLimits connection_limits(const Config& config, std::string_view listener);

// One sentence why these keys cannot be as they are, or nullopt.
std::optional<std::string> refuse_connection_limits(const Config& config);

}  // namespace weir
