#include "base/compression.hpp"

#include <gtest/gtest.h>
#include <lz4.h>
#include <lz4frame.h>
#include <snappy.h>
#include <zstd.h>

#include "base/random.hpp"

namespace weir {
namespace {

using Buffer = std::vector<std::byte>;

constexpr std::array kCompressing{Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd};
constexpr std::size_t kPlenty = std::size_t{1} << 30U;

Buffer joined(Bytes first, Bytes second) {
  Buffer out(first.begin(), first.end());
  out.insert(out.end(), second.begin(), second.end());
  return out;
}

// Text that compresses, of any size, different for each seed.
Buffer words(std::size_t size, std::uint64_t seed) {
  Random random{seed};
  Buffer out;
  while (out.size() < size) {
    const auto word = "word" + std::to_string(random.below(50)) + " ";
    const auto bytes = as_bytes(word);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  out.resize(size);
  return out;
}

Buffer noise(std::size_t size, std::uint64_t seed) {
  Random random{seed};
  Buffer out(size);
  for (auto& byte : out) {
    byte = static_cast<std::byte>(random.next());
  }
  return out;
}

Buffer packed(Codec codec, Bytes source) {
  return *compress(codec, source);
}

TEST(Compression, EveryCodecGivesBackWhatItTookAtAnySizeAndLevel) {
  for (const auto codec : {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
    for (const std::size_t size : std::initializer_list<std::size_t>{0, 1, 5, 1000, 32'768, 32'769, 65'536, 200'000}) {
      for (const auto& source : {words(size, size), noise(size, size)}) {
        const auto back = decompress(codec, packed(codec, source), size);
        ASSERT_TRUE(back) << to_string(codec) << " " << size << " " << to_string(back.error());
        EXPECT_EQ(*back, source);
      }
    }
    if (const auto levels = codec_levels(codec)) {
      const auto source = words(5000, 1);
      for (const auto level : {levels->min, levels->standard, levels->max}) {
        EXPECT_EQ(*decompress(codec, *compress(codec, source, level), 5000), source) << to_string(codec) << level;
      }
      EXPECT_EQ(compress(codec, source, levels->max + 1).error().code, Errc::invalid_argument);
    }
  }
}

TEST(Compression, NamesAreKafkasAndComeBack) {
  for (const auto codec : kCompressing) {
    EXPECT_EQ(codec_from_string(to_string(codec)), codec);
  }
  EXPECT_FALSE(codec_from_string("brotli"));
}

TEST(Compression, SmallReadsAndOneLargeReadSeeTheSameBytes) {
  const auto source = words(100'000, 3);
  for (const auto codec : kCompressing) {
    const auto input = packed(codec, source);
    Decompressor from{codec, input, source.size()};
    Buffer seen;
    Random random{11};
    for (;;) {
      Buffer piece(1 + random.below(3000));
      const auto count = from.read(piece);
      ASSERT_TRUE(count) << to_string(codec);
      if (*count == 0) {
        break;
      }
      seen.insert(seen.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(*count));
    }
    EXPECT_EQ(seen, source) << to_string(codec);
    Buffer more(1);
    EXPECT_EQ(*from.read(more), 0U) << "the end stays the end";
  }
}

TEST(Compression, OutputStopsAtTheLimitAndExactlyTheLimitIsFine) {
  const auto source = words(40'000, 4);
  for (const auto codec : {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
    const auto input = packed(codec, source);
    EXPECT_TRUE(decompress(codec, input, source.size())) << to_string(codec);
    const auto over = decompress(codec, input, source.size() - 1);
    ASSERT_FALSE(over) << to_string(codec);
    EXPECT_EQ(over.error().code, Errc::too_large) << to_string(codec);
  }
}

TEST(Compression, BombsOfEachCodecStopAtTheLimit) {
  const Buffer zeros(std::size_t{64} << 20U);
  for (const auto codec : kCompressing) {
    const auto bomb = packed(codec, zeros);
    EXPECT_LT(bomb.size(), zeros.size() / 20) << to_string(codec);
    const auto result = decompress(codec, bomb, std::size_t{1} << 20U);
    ASSERT_FALSE(result) << to_string(codec);
    EXPECT_EQ(result.error().code, Errc::too_large) << to_string(codec);
  }
}

TEST(Compression, EveryPrefixFailsOrGivesAPrefixOfTheOutput) {
  const auto source = words(3000, 5);
  for (const auto codec : kCompressing) {
    const auto input = packed(codec, source);
    for (std::size_t cut = 0; cut < input.size(); ++cut) {
      const auto result = decompress(codec, Bytes{input}.first(cut), kPlenty);
      if (result) {
        EXPECT_LE(result->size(), source.size()) << to_string(codec) << " cut to " << cut;
        EXPECT_TRUE(std::equal(result->begin(), result->end(), source.begin()));
        EXPECT_TRUE(codec == Codec::snappy) << "only xerial has no end mark; cut to " << cut;
      }
    }
  }
}

TEST(Compression, CutGzipIsTruncatedAndDamageIsCorrupt) {
  auto input = packed(Codec::gzip, words(3000, 6));
  EXPECT_EQ(decompress(Codec::gzip, Bytes{input}.first(input.size() - 4), kPlenty).error().code, Errc::truncated);
  EXPECT_EQ(decompress(Codec::gzip, as_bytes("not gzip, not at all"), kPlenty).error().code, Errc::corrupt);
  input[input.size() - 6] ^= std::byte{1};  // the member's own checksum
  EXPECT_EQ(decompress(Codec::gzip, input, kPlenty).error().code, Errc::corrupt);
}

TEST(Compression, DamageNeverReadsBeyondTheInputAndAFailureStays) {
  const auto source = words(2000, 7);
  constexpr std::uint64_t kSeed = 31;
  Random random{kSeed};
  for (const auto codec : kCompressing) {
    for (int i = 0; i < 300; ++i) {
      auto input = packed(codec, source);
      input[random.below(input.size())] ^= static_cast<std::byte>(1 + random.below(255));
      Decompressor from{codec, input, kPlenty};
      Buffer piece(512);
      auto count = from.read(piece);
      while (count && *count > 0) {
        count = from.read(piece);
      }
      if (!count) {
        EXPECT_EQ(from.read(piece).error(), count.error()) << to_string(codec) << " seed " << kSeed;
      }
    }
  }
}

TEST(Compression, SeveralGzipMembersAndZstdFramesAreOneStream) {
  for (const auto codec : {Codec::gzip, Codec::zstd}) {
    const auto input = joined(packed(codec, as_bytes("first ")), packed(codec, as_bytes("second")));
    EXPECT_EQ(as_text(*decompress(codec, input, 100)), "first second") << to_string(codec);
  }
  EXPECT_EQ(decompress(Codec::zstd, joined(packed(Codec::zstd, as_bytes("a")), as_bytes("junk!")), 100).error().code,
            Errc::corrupt);
  EXPECT_EQ(as_text(*decompress(Codec::gzip, joined(packed(Codec::gzip, as_bytes("a")), as_bytes("junk!")), 100)), "a")
      << "Java ignores what is no member";
}

TEST(Compression, ZstdWithoutContentSizeIsAccepted) {
  auto* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  const auto source = words(10'000, 8);
  Buffer out(ZSTD_compressBound(source.size()));
  out.resize(ZSTD_compress2(context, out.data(), out.size(), source.data(), source.size()));
  ZSTD_freeCCtx(context);
  EXPECT_EQ(*decompress(Codec::zstd, out, kPlenty), source);
}

// Found by the fuzzer: the frame header says 15,135 bytes, the content is one byte, the last block is empty.
TEST(Compression, AZstdFrameWithAWrongContentSizeIsRefusedForAnySizeOfTheReads) {
  constexpr std::array<unsigned char, 15> kFrame{0x28, 0xb5, 0x2f, 0xfd, 0x50, 0x01, 0x1f, 0x3a,
                                                 0x08, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00};
  const auto source = std::as_bytes(std::span{kFrame});
  EXPECT_FALSE(decompress(Codec::zstd, source, kPlenty));
  for (const std::size_t room : {1U, 977U, 20'000U}) {
    Decompressor from{Codec::zstd, source, kPlenty};
    std::vector<std::byte> out(room);
    auto count = from.read(out);
    while (count && *count > 0) {
      count = from.read(out);
    }
    EXPECT_FALSE(count) << room;
  }
}

TEST(Compression, SnappyTakesRawAndXerialAndRefusesTheOfficialFraming) {
  const auto source = words(100'000, 9);
  std::string raw;
  snappy::Compress(reinterpret_cast<const char*>(source.data()), source.size(), &raw);
  EXPECT_EQ(*decompress(Codec::snappy, as_bytes(raw), kPlenty), source);

  const auto xerial = packed(Codec::snappy, source);
  EXPECT_EQ(as_text(Bytes{xerial}.subspan(1, 6)), "SNAPPY");
  EXPECT_EQ(load_be<std::int32_t>(xerial, 8), 1);
  EXPECT_EQ(decompress(Codec::snappy, joined(xerial, xerial), kPlenty)->size(), 2 * source.size());

  auto framed = joined(as_bytes(std::string_view{"\xff\x06\x00\x00sNaPpY", 10}), as_bytes(raw));
  EXPECT_EQ(decompress(Codec::snappy, framed, kPlenty).error().code, Errc::corrupt);
}

TEST(Compression, SnappySizeClaimsTakeNoMemory) {
  Buffer lie;
  for (const unsigned byte : {0xffU, 0xffU, 0xffU, 0xffU, 0x0fU, 0x00U, 0x41U}) {  // claims 4 GiB - 1
    lie.push_back(static_cast<std::byte>(byte));
  }
  EXPECT_EQ(decompress(Codec::snappy, lie, SIZE_MAX).error().code, Errc::corrupt);
  auto chunk = packed(Codec::snappy, as_bytes("abc"));
  store_be<std::int32_t>(chunk, 16, INT32_MAX);
  EXPECT_EQ(decompress(Codec::snappy, chunk, kPlenty).error().code, Errc::corrupt);
  store_be<std::int32_t>(chunk, 16, -1);
  EXPECT_EQ(decompress(Codec::snappy, chunk, kPlenty).error().code, Errc::corrupt);
}

Buffer lz4_frame(Bytes source, LZ4F_blockMode_t mode, bool checksum) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockSizeID = LZ4F_max64KB;
  preferences.frameInfo.blockMode = mode;
  preferences.frameInfo.contentChecksumFlag = checksum ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum;
  Buffer out(LZ4F_compressFrameBound(source.size(), &preferences));
  out.resize(LZ4F_compressFrame(out.data(), out.size(), source.data(), source.size(), &preferences));
  return out;
}

TEST(Compression, Lz4TakesIndependentBlocksAndRefusesLinkedAndBareOnes) {
  const auto source = words(200'000, 10);
  EXPECT_EQ(*decompress(Codec::lz4, lz4_frame(source, LZ4F_blockIndependent, false), kPlenty), source);
  auto checked = lz4_frame(source, LZ4F_blockIndependent, true);
  EXPECT_EQ(*decompress(Codec::lz4, checked, kPlenty), source);
  checked.back() ^= std::byte{1};
  EXPECT_EQ(decompress(Codec::lz4, checked, kPlenty).error().code, Errc::corrupt);
  EXPECT_EQ(decompress(Codec::lz4, lz4_frame(source, LZ4F_blockLinked, false), kPlenty).error().code, Errc::corrupt);
  Buffer bare(static_cast<std::size_t>(LZ4_compressBound(1000)));
  bare.resize(static_cast<std::size_t>(LZ4_compress_default(reinterpret_cast<const char*>(source.data()),
                                                            reinterpret_cast<char*>(bare.data()), 1000,
                                                            static_cast<int>(bare.size()))));
  EXPECT_EQ(decompress(Codec::lz4, bare, kPlenty).error().code, Errc::corrupt);
  EXPECT_EQ(decompress(Codec::lz4, {}, kPlenty).error().code, Errc::corrupt);
}

TEST(Compression, ContextsThatAreReusedAfterAFailureStartAfresh) {
  const auto source = words(5000, 12);
  for (const auto codec : kCompressing) {
    const auto input = packed(codec, source);
    for (int i = 0; i < 3; ++i) {
      EXPECT_FALSE(decompress(codec, Bytes{input}.first(input.size() / 2), kPlenty)) << to_string(codec);
      EXPECT_EQ(*decompress(codec, input, kPlenty), source) << to_string(codec);
    }
  }
}

}  // namespace
}  // namespace weir
