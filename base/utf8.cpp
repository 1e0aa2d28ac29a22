#include "base/utf8.hpp"

#include <array>

namespace weir {
namespace {
constexpr CodePoint kMalformed{0xfffd, 1};
}  // namespace

CodePoint next_code_point(std::string_view utf8) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(utf8[i])); };
  const auto first = byte(0);
  if (first < 0x80) {
    return {first, 1};
  }
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || utf8.size() < size) {
    return kMalformed;
  }
  auto value = first & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) {
      return kMalformed;
    }
    value = (value << 6U) | (byte(i) & 0x3fU);
  }
  static constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  return value < kLeast[size] || value > 0x10ffff || surrogate ? kMalformed : CodePoint{value, size};
}

std::size_t utf16_length(std::string_view utf8) {
  std::size_t units = 0;
  while (!utf8.empty()) {
    const auto point = next_code_point(utf8);
    utf8.remove_prefix(point.size);
    units += point.value >= 0x10000 ? 2 : 1;
  }
  return units;
}

}  // namespace weir
