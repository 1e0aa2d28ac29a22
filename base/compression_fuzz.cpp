// Any bytes through any codec: no crash, no output beyond the limit, and one pass or many small ones agree.
#include "base/compression.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  if (size == 0) {
    return 0;
  }
  const auto codec = static_cast<Codec>(data[0] % (kCodecMax + 1));
  const auto input = std::as_bytes(std::span{data, size}).subspan(1);
  constexpr std::size_t kLimit = 1U << 20U;
  const auto whole = decompress(codec, input, kLimit);
  if (whole && whole->size() > kLimit) {
    __builtin_trap();
  }
  Decompressor from{codec, input, kLimit};
  std::vector<std::byte> piece(977);
  std::size_t total = 0;
  for (;;) {
    const auto count = from.read(piece);
    if (!count) {
      if (whole) {
        __builtin_trap();
      }
      return 0;
    }
    if (*count == 0) {
      break;
    }
    total += *count;
  }
  if (!whole || whole->size() != total) {
    __builtin_trap();
  }
  return 0;
}
