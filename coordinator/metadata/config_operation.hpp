// The operations of IncrementalAlterConfigs, with their numbers on the wire.
#pragma once

#include <cstdint>

namespace weir::metadata {

enum class ConfigOperation : std::int8_t { set = 0, remove = 1, append = 2, subtract = 3 };

}  // namespace weir::metadata
