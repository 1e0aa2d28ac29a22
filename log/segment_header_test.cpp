#include "log/segment_header.hpp"

#include <gtest/gtest.h>

#include "base/crc32c.hpp"

namespace weir::log {
namespace {

SegmentHeader sample() {
  Random random{3};
  return {.id = SegmentId{42},
          .seed = SegmentSeed::make(random),
          .role = SegmentRole::sorted,
          .io = IoMode::direct,
          .retention_class = 7,
          .start = LogPosition{1'000'000},
          .boot_id = random.uuid(),
          .created_ms = 1'700'000'000'123};
}

std::vector<std::byte> encoded(const SegmentHeader& header) {
  std::vector<std::byte> bytes(kSegmentHeaderSize);
  encode(header, bytes);
  return bytes;
}

void fix_crc(std::vector<std::byte>& bytes) {
  store_le(bytes, kSegmentHeaderSize - 4, crc32c(Bytes{bytes}.first(kSegmentHeaderSize - 4)));
}

TEST(SegmentHeader, ComesBackEqual) {
  const auto decoded = decode_segment_header(encoded(sample()));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, sample());
}

TEST(SegmentHeader, EveryFlippedBitAndEveryShorterPrefixIsRefused) {
  auto bytes = encoded(sample());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(decode_segment_header(bytes)) << "bit " << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(decode_segment_header(Bytes{bytes}.first(size)).error().code, Errc::truncated);
  }
  EXPECT_FALSE(decode_segment_header(std::vector<std::byte>(kSegmentHeaderSize))) << "zeros are no header";
}

TEST(SegmentHeader, ANewerVersionIsUnsupportedAndAnUnknownRoleIsCorrupt) {
  auto newer = encoded(sample());
  store_le(newer, 8, std::uint16_t{2});
  fix_crc(newer);
  EXPECT_EQ(decode_segment_header(newer).error(), (Error{Errc::unsupported, 2}));
  auto odd = encoded(sample());
  store_le(odd, 10, std::uint8_t{3});
  fix_crc(odd);
  EXPECT_EQ(decode_segment_header(odd).error().code, Errc::corrupt);
}

TEST(SegmentSeed, TheTagIsNeverZero) {
  Random random{1};
  for (int i = 0; i < 1000; ++i) {
    EXPECT_NE(SegmentSeed::make(random).tag(), 0U);
  }
}

TEST(SegmentFileName, HasTwentyDigitsAndComesBack) {
  EXPECT_EQ(segment_file_name(SegmentId{42}), "00000000000000000042.log");
  EXPECT_EQ(index_file_name(SegmentId{UINT64_MAX}), "18446744073709551615.index");
  EXPECT_EQ(segment_of_file_name("00000000000000000042.log"), SegmentId{42});
  EXPECT_EQ(segment_of_file_name("18446744073709551615.index", ".index"), SegmentId{UINT64_MAX});
  EXPECT_FALSE(segment_of_file_name("00000000000000000042.index"));
  EXPECT_FALSE(segment_of_file_name("0000000000000000042.log"));
  EXPECT_FALSE(segment_of_file_name("-0000000000000000042.log"));
  EXPECT_FALSE(segment_of_file_name("99999999999999999999.log")) << "does not fit 64 bits";
}

}  // namespace
}  // namespace weir::log
