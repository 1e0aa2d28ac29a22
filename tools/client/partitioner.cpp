#include "tools/client/partitioner.hpp"

namespace weir::client {

std::uint32_t murmur2(Bytes bytes) {
  constexpr std::uint32_t kSeed = 0x9747b28cU;
  constexpr std::uint32_t kMix = 0x5bd1e995U;
  constexpr std::uint32_t kShift = 24;
  auto hash = kSeed ^ static_cast<std::uint32_t>(bytes.size());
  std::size_t at = 0;
  for (; at + sizeof(std::uint32_t) <= bytes.size(); at += sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));  // little-endian, as all our machines are
    word *= kMix;
    word ^= word >> kShift;
    word *= kMix;
    hash *= kMix;
    hash ^= word;
  }
  if (at < bytes.size()) {
    for (std::size_t i = bytes.size(); i-- > at;) {
      hash ^= std::to_integer<std::uint32_t>(bytes[i]) << (8U * (i - at));
    }
    hash *= kMix;
  }
  hash ^= hash >> 13U;
  hash *= kMix;
  hash ^= hash >> 15U;
  return hash;
}

}  // namespace weir::client
