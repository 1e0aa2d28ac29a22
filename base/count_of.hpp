// "1 record", "2 records": a number and what is counted, for sentences. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir {

// `many` empty: `one` with an s.
std::string count_of(std::int64_t count, std::string_view one, std::string_view many = {});

}  // namespace weir
