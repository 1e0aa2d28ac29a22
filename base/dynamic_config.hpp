// What may be set while a broker runs: the rules of one change, as a real Kafka 4.4 node keeps them, in our own words.
// Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "base/config.hpp"

namespace weir {

enum class DynamicScope : std::uint8_t { all_brokers, this_broker };

// The state after the change. `now` is the effective configuration before it.
struct DynamicChange {
  const Config& fixed;
  const Config& now;
  const DynamicConfigs& for_all;
  const DynamicConfigs& for_this;
  DynamicScope scope;  // which of the two was changed, and is checked
};

// One sentence why not, or nullopt if it may be.
std::optional<std::string> refuse_dynamic(const DynamicChange& change);

}  // namespace weir
