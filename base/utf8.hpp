// UTF-8 as Java reads it, for the places where Kafka counts or hashes a String. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 1;  // bytes it takes
};

// The first code point of text that is not empty. A byte that begins none counts as U+FFFD.
CodePoint next_code_point(std::string_view utf8);

// Java's String.length(): UTF-16 units, of which a code point above U+FFFF has two. Limits in characters count these.
std::size_t utf16_length(std::string_view utf8);

}  // namespace weir
