// Which partition of `__consumer_offsets` owns a group: Java's String.hashCode, so that tools agree with us.
#include "base/check.hpp"
#include "base/utf8.hpp"
#include "coordinator/group_records.hpp"

namespace weir::group {
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
