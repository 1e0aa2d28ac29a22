// Any bytes: a decoder reads what it says it read, never more than the input, and its value comes back when encoded.
#include "base/varint.hpp"

namespace {
void require(bool condition) {
  if (!condition) {
    __builtin_trap();
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  const auto bytes = std::as_bytes(std::span{data, size});
  std::uint32_t u32 = 0;
  std::uint64_t u64 = 0;
  std::int32_t i32 = 0;
  std::int64_t i64 = 0;
  const auto narrow = decode_uvarint32(bytes, u32);
  const auto wide = decode_uvarint64(bytes, u64);
  require(narrow <= size && narrow <= kVarint32Max && wide <= size && wide <= kVarint64Max);
  require(decode_varint32(bytes, i32) == narrow && decode_varint64(bytes, i64) == wide);
  if (narrow > 0) {
    require(wide == narrow && static_cast<std::uint32_t>(u64) == u32);
    require(zigzag(i32) == u32);
  }
  if (wide > 0) {
    std::vector<std::byte> again;
    append_uvarint(again, u64);
    std::uint64_t back = 0;
    require(again.size() <= wide && decode_uvarint64(again, back) == again.size() && back == u64);
  }
  return 0;
}
