// Points in time as people write them on a command line, to milliseconds since 1970. Pure, any thread.
#pragma once

#include <optional>
#include <string>

#include "base/ids.hpp"

namespace weir::cli {

// Milliseconds since 1970, or UTC as 2026-01-31, 2026-01-31T12:30 or 2026-01-31T12:30:15, with or without a Z.
std::optional<Millis> time_from_text(const std::string& text);

}  // namespace weir::cli
