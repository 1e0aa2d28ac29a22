#include "base/varint.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/random.hpp"

namespace weir {
namespace {

std::vector<std::byte> encoded(std::uint64_t value) {
  std::vector<std::byte> out;
  append_uvarint(out, value);
  return out;
}

std::vector<std::byte> of(std::initializer_list<unsigned> bytes) {
  std::vector<std::byte> out;
  for (const auto byte : bytes) {
    out.push_back(static_cast<std::byte>(byte));
  }
  return out;
}

TEST(Varint, EdgesOfEachLengthComeBackAndEveryPrefixIsRefused) {
  std::vector<std::uint64_t> values{0, 1, ~0ULL};
  for (unsigned bits = 7; bits < 64; bits += 7) {
    values.push_back((1ULL << bits) - 1);
    values.push_back(1ULL << bits);
  }
  for (const auto value : values) {
    const auto bytes = encoded(value);
    EXPECT_EQ(bytes.size(), uvarint_size(value)) << value;
    std::uint64_t wide = 0;
    ASSERT_EQ(decode_uvarint64(bytes, wide), bytes.size()) << value;
    EXPECT_EQ(wide, value);
    if (value <= 0xffffffffULL) {
      std::uint32_t narrow = 0;
      ASSERT_EQ(decode_uvarint32(bytes, narrow), bytes.size()) << value;
      EXPECT_EQ(narrow, value);
    }
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      EXPECT_EQ(decode_uvarint64(Bytes{bytes}.first(cut), wide), 0U) << value << " cut to " << cut;
    }
  }
}

TEST(Varint, SignedValuesComeBackAtTheEdges) {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, std::int64_t{-64}, std::int64_t{64},
        std::int64_t{INT32_MIN}, std::int64_t{INT32_MAX}, std::int64_t{INT64_MIN}, std::int64_t{INT64_MAX}}) {
    std::vector<std::byte> bytes;
    append_varint(bytes, value);
    EXPECT_EQ(bytes.size(), varint_size(value));
    std::int64_t wide = 0;
    ASSERT_EQ(decode_varint64(bytes, wide), bytes.size());
    EXPECT_EQ(wide, value);
    if (value >= INT32_MIN && value <= INT32_MAX) {
      std::int32_t narrow = 0;
      ASSERT_EQ(decode_varint32(bytes, narrow), bytes.size());
      EXPECT_EQ(narrow, value);
    }
  }
}

TEST(Varint, KnownEncodingsAreKafkas) {
  std::vector<std::byte> bytes;
  append_varint(bytes, -1);
  append_varint(bytes, 300);
  EXPECT_EQ(bytes, of({0x01, 0xd8, 0x04}));
  EXPECT_EQ(encoded(300), of({0xac, 0x02}));
}

TEST(Varint, TooManyBytesAreRefusedAndPaddingIsAccepted) {
  std::uint32_t narrow = 7;
  EXPECT_EQ(decode_uvarint32(of({0x80, 0x80, 0x80, 0x80, 0x00}), narrow), 5U);
  EXPECT_EQ(narrow, 0U);
  EXPECT_EQ(decode_uvarint32(of({0x80, 0x80, 0x80, 0x80, 0x80, 0x00}), narrow), 0U);
  std::uint64_t wide = 7;
  const auto nine = std::vector<std::byte>(9, std::byte{0x80});
  auto ten = nine;
  ten.push_back(std::byte{0x01});
  EXPECT_EQ(decode_uvarint64(ten, wide), 10U);
  EXPECT_EQ(wide, 1ULL << 63U);
  auto eleven = std::vector<std::byte>(10, std::byte{0x80});
  eleven.push_back(std::byte{0x01});
  EXPECT_EQ(decode_uvarint64(eleven, wide), 0U);
}

TEST(Varint, RandomValuesOfAllWidthsComeBack) {
  constexpr std::uint64_t kSeed = 20;
  Random random{kSeed};
  for (int i = 0; i < 20'000; ++i) {
    const auto value = random.next() >> random.below(64);
    std::array<std::byte, kVarint64Max> buffer{};
    const auto used = encode_uvarint(buffer, value);
    std::uint64_t back = 0;
    ASSERT_EQ(decode_uvarint64(Bytes{buffer}, back), used) << "seed " << kSeed;
    ASSERT_EQ(back, value) << "seed " << kSeed;
  }
}

}  // namespace
}  // namespace weir
