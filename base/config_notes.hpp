// What is said at start about keys that are taken and do not do here what they do in a Kafka cluster: those that guard
// it, those that change nothing in this version, and names that no table has. Grouped, one line a kind. Pure; any
// thread.
#pragma once

#include <string>
#include <vector>

#include "base/config.hpp"

namespace weir {

struct ConfigNotes {
  std::vector<std::string> errors;  // the broker must not start: it would serve everybody where somebody closed a door
  std::vector<std::string> warnings;
};

// `unknown`: names of a config file that no table has, in its order.
ConfigNotes notes_on(const Config& config, const std::vector<std::string>& unknown);

}  // namespace weir
