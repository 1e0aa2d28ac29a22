#include "base/random.hpp"

#include "base/bytes.hpp"

namespace weir {

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  auto z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

__extension__ using Wide = unsigned __int128;  // the high half of a product is uniform enough below 2^32

std::uint64_t Random::below(std::uint64_t bound) {
  WEIR_CHECK(bound > 0);
  return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64U);
}

Uuid Random::uuid() {
  Uuid id;
  store_be(MutableBytes{id.bytes}, 0, next());
  store_be(MutableBytes{id.bytes}, 8, next());
  id.bytes[6] =
      (id.bytes[6] & std::byte{0x0f}) | std::byte{0x40};  // version 4: so never one of the reserved small values
  id.bytes[8] = (id.bytes[8] & std::byte{0x3f}) | std::byte{0x80};
  return id;
}

}  // namespace weir
