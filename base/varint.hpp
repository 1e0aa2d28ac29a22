// Variable-length integers as the protocol writes them: seven bits a byte, low bits first, the top bit says "more".
// Signed values are zigzag coded. Pure functions, any thread. Decoders never read past the view they are given.
//
// Bits beyond the width of the type are dropped and padded encodings are accepted, as Kafka does; a value that needs
// more than kVarint32Max or kVarint64Max bytes is refused.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"

namespace weir {

inline constexpr std::size_t kVarint32Max = 5;
inline constexpr std::size_t kVarint64Max = 10;

constexpr std::uint32_t zigzag(std::int32_t value) {
  return (static_cast<std::uint32_t>(value) << 1U) ^ static_cast<std::uint32_t>(value >> 31);
}
constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int32_t unzigzag(std::uint32_t value) {
  return static_cast<std::int32_t>((value >> 1U) ^ (~(value & 1U) + 1U));
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1U));
}

namespace detail {
std::size_t decode_long_uvarint32(Bytes bytes, std::uint32_t& value);
std::size_t decode_long_uvarint64(Bytes bytes, std::uint64_t& value);
}  // namespace detail

// Each decoder returns how many bytes the value took, or 0 when `bytes` ends inside it or it is too long; then `value`
// is unspecified. Values of one and two bytes, nearly all in records, stay inline.
inline std::size_t decode_uvarint64(Bytes bytes, std::uint64_t& value) {
  if (bytes.size() >= 2) {
    const auto first = std::to_integer<std::uint32_t>(bytes[0]);
    const auto second = std::to_integer<std::uint32_t>(bytes[1]);
    if (first < 0x80U) {
      value = first;
      return 1;
    }
    if (second < 0x80U) {
      value = (first & 0x7fU) | (second << 7U);
      return 2;
    }
  }
  return detail::decode_long_uvarint64(bytes, value);
}
inline std::size_t decode_uvarint32(Bytes bytes, std::uint32_t& value) {
  if (bytes.size() >= 2) {
    const auto first = std::to_integer<std::uint32_t>(bytes[0]);
    const auto second = std::to_integer<std::uint32_t>(bytes[1]);
    if (first < 0x80U) {
      value = first;
      return 1;
    }
    if (second < 0x80U) {
      value = (first & 0x7fU) | (second << 7U);
      return 2;
    }
  }
  return detail::decode_long_uvarint32(bytes, value);
}
inline std::size_t decode_varint32(Bytes bytes, std::int32_t& value) {
  std::uint32_t raw = 0;
  const auto used = decode_uvarint32(bytes, raw);
  value = unzigzag(raw);
  return used;
}
inline std::size_t decode_varint64(Bytes bytes, std::int64_t& value) {
  std::uint64_t raw = 0;
  const auto used = decode_uvarint64(bytes, raw);
  value = unzigzag(raw);
  return used;
}

// Bytes that the shortest encoding takes: 1 to 10.
constexpr std::size_t uvarint_size(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1U)) + 6) / 7;
}
constexpr std::size_t varint_size(std::int64_t value) {
  return uvarint_size(zigzag(value));
}

// Writes the shortest encoding at the front of `bytes`, which has room for uvarint_size(value); returns bytes written.
std::size_t encode_uvarint(MutableBytes bytes, std::uint64_t value);
inline std::size_t encode_varint(MutableBytes bytes, std::int64_t value) {
  return encode_uvarint(bytes, zigzag(value));
}
void append_uvarint(std::vector<std::byte>& out, std::uint64_t value);
inline void append_varint(std::vector<std::byte>& out, std::int64_t value) {
  append_uvarint(out, zigzag(value));
}

}  // namespace weir
