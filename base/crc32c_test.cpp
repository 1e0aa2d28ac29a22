#include "base/crc32c.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/random.hpp"

namespace weir {
namespace {

// The textbook table form, written for this test: an independent second opinion on the library.
std::uint32_t crc32c_by_table(Bytes bytes) {
  static const auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      auto value = i;
      for (int bit = 0; bit < 8; ++bit) {
        value = (value & 1U) != 0 ? (value >> 1U) ^ 0x82f63b78U : value >> 1U;
      }
      table[i] = value;
    }
    return table;
  }();
  auto state = 0xffffffffU;
  for (const auto byte : bytes) {
    state = kTable[(state ^ std::to_integer<std::uint32_t>(byte)) & 0xffU] ^ (state >> 8U);
  }
  return state ^ 0xffffffffU;
}

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c({}), 0U);
  EXPECT_EQ(crc32c(as_bytes("123456789")), 0xe3069283U);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32)), 0x8a9136aaU);
}

TEST(Crc32c, AgreesWithTheTableForEveryLengthAndAlignment) {
  constexpr std::uint64_t kSeed = 21;
  Random random{kSeed};
  std::vector<std::byte> bytes(2200);
  for (auto& byte : bytes) {
    byte = static_cast<std::byte>(random.next());
  }
  for (std::size_t size = 0; size < 2100; size += size < 300 ? 1 : 97) {
    for (std::size_t from = 0; from < 9; ++from) {
      const auto part = Bytes{bytes}.subspan(from, size);
      ASSERT_EQ(crc32c(part), crc32c_by_table(part)) << "size " << size << " from " << from << " seed " << kSeed;
    }
  }
}

TEST(Crc32c, ContinuesFromASeedAtAnyCut) {
  const auto text = as_bytes("one log, sorted later, and checked at both ends");
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32c(text.subspan(cut), crc32c(text.first(cut))), crc32c(text));
  }
}

}  // namespace
}  // namespace weir
