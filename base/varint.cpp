#include "base/varint.hpp"

#include <array>

namespace weir {
namespace {

template <class Unsigned, std::size_t kMax>
std::size_t decode_long(Bytes bytes, Unsigned& value) {
  const auto limit = std::min(bytes.size(), kMax);
  Unsigned result = 0;
  for (std::size_t i = 0; i < limit; ++i) {
    const auto byte = std::to_integer<std::uint8_t>(bytes[i]);
    result |= static_cast<Unsigned>(byte & 0x7fU) << (7U * i);
    if (byte < 0x80U) {
      value = result;
      return i + 1;
    }
  }
  return 0;
}

}  // namespace

std::size_t detail::decode_long_uvarint32(Bytes bytes, std::uint32_t& value) {
  return decode_long<std::uint32_t, kVarint32Max>(bytes, value);
}

std::size_t detail::decode_long_uvarint64(Bytes bytes, std::uint64_t& value) {
  return decode_long<std::uint64_t, kVarint64Max>(bytes, value);
}

std::size_t encode_uvarint(MutableBytes bytes, std::uint64_t value) {
  WEIR_DCHECK(bytes.size() >= uvarint_size(value));
  std::size_t at = 0;
  while (value >= 0x80U) {
    bytes[at++] = static_cast<std::byte>((value & 0x7fU) | 0x80U);
    value >>= 7U;
  }
  bytes[at++] = static_cast<std::byte>(value);
  return at;
}

void append_uvarint(std::vector<std::byte>& out, std::uint64_t value) {
  std::array<std::byte, kVarint64Max> buffer;
  const auto used = encode_uvarint(buffer, value);
  out.insert(out.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(used));
}

}  // namespace weir
