// Distinct integer types, so that an offset (records of a partition) never passes for a position (bytes of the
// CommitLog).
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

template <class Tag, class Rep>
struct StrongInt {
  Rep value{};
  friend auto operator<=>(const StrongInt&, const StrongInt&) = default;
  friend StrongInt operator+(StrongInt a, Rep count) { return {static_cast<Rep>(a.value + count)}; }
  friend StrongInt operator-(StrongInt a, Rep count) { return {static_cast<Rep>(a.value - count)}; }
  friend Rep operator-(StrongInt a, StrongInt b) { return static_cast<Rep>(a.value - b.value); }
  StrongInt& operator+=(Rep count) {
    value = static_cast<Rep>(value + count);
    return *this;
  }
  StrongInt& operator++() {
    ++value;
    return *this;
  }
};

using Offset = StrongInt<struct OffsetTag, std::int64_t>;  // counts records of one partition
using LogPosition =
    StrongInt<struct LogPositionTag, std::int64_t>;               // counts bytes of the whole CommitLog, never reused
using SegmentId = StrongInt<struct SegmentIdTag, std::uint64_t>;  // number of a segment file, never reused
using LocalPartition =
    StrongInt<struct LocalPartitionTag, std::uint32_t>;  // partition number on this node, never reused
using LeaderEpoch = StrongInt<struct LeaderEpochTag, std::int32_t>;

using Millis = std::int64_t;  // a duration or a wall-clock time in milliseconds; the name of the variable says which

// 16 bytes as Kafka writes them. All zero means "none".
struct Uuid {
  std::array<std::byte, 16> bytes{};
  friend auto operator<=>(const Uuid&, const Uuid&) = default;
  [[nodiscard]] bool is_zero() const { return *this == Uuid{}; }
};
std::string to_string(const Uuid& id);                        // 22 characters of URL-safe base64, Kafka's form
std::optional<Uuid> uuid_from_string(std::string_view text);  // the same form back; nullopt if malformed

}  // namespace weir

template <class Tag, class Rep>
struct std::hash<weir::StrongInt<Tag, Rep>> {
  std::size_t operator()(const weir::StrongInt<Tag, Rep>& id) const noexcept { return std::hash<Rep>{}(id.value); }
};
template <>
struct std::hash<weir::Uuid> {
  std::size_t operator()(const weir::Uuid& id) const noexcept {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
  }
};
