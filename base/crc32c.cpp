#include "base/crc32c.hpp"

#include <isa-l/crc.h>

#include <limits>

namespace weir {

// The library neither inverts before nor after, and takes its length as an int.
std::uint32_t crc32c(Bytes bytes, std::uint32_t seed) {
  auto state = ~seed;
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min<std::size_t>(bytes.size(), std::numeric_limits<int>::max()));
    // It does not write through the pointer; its prototype just lacks the const.
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(part.data()));
    state = crc32_iscsi(data, static_cast<int>(part.size()), state);
    bytes = bytes.subspan(part.size());
  }
  return ~state;
}

}  // namespace weir
