// Which partition of `__consumer_offsets` owns a group: Java's String.hashCode, so that tools agree with us.
#include "base/check.hpp"
#include "coordinator/group_records.hpp"

namespace weir::group {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 1;
};

constexpr CodePoint kMalformed{0xfffd, 1};

CodePoint next_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const auto first = byte(0);
  if (first < 0x80) {
    return {first, 1};
  }
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) {
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

}  // namespace

std::int32_t java_hash(std::string_view utf8) {
  std::uint32_t hash = 0;
  while (!utf8.empty()) {
    const auto point = next_code_point(utf8);
    utf8.remove_prefix(point.size);
    if (point.value >= 0x10000) {  // Java hashes UTF-16 units
      const auto rest = point.value - 0x10000;
      hash = hash * 31 + (0xd800 + (rest >> 10U));
      hash = hash * 31 + (0xdc00 + (rest & 0x3ffU));
    } else {
      hash = hash * 31 + point.value;
    }
  }
  return static_cast<std::int32_t>(hash);
}

std::int32_t partition_of_group(std::string_view group_id, std::int32_t partition_count) {
  WEIR_CHECK(partition_count > 0);
  const auto hash = java_hash(group_id);
  // Kafka's Utils.abs: the one number without a positive twin counts as 0.
  const auto positive = hash == std::numeric_limits<std::int32_t>::min() ? 0 : std::abs(hash);
  return positive % partition_count;
}

}  // namespace weir::group
