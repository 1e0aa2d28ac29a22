#include "protocol/frame_reader.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace weir::protocol {
namespace {

std::vector<std::byte> frame_of(std::size_t size, std::uint8_t fill) {
  std::vector<std::byte> bytes(4 + size, std::byte{fill});
  store_be(MutableBytes{bytes}, 0, static_cast<std::int32_t>(size));
  return bytes;
}

// Feeds `wire` in pieces of random size; returns the frames that came out.
std::vector<SharedBytes> feed(FrameReader& reader, Bytes wire, Random& random) {
  std::vector<SharedBytes> frames;
  while (!wire.empty()) {
    const auto room = reader.prepare();
    EXPECT_FALSE(room.empty());
    const auto count = std::min({room.size(), wire.size(), static_cast<std::size_t>(1 + random.below(100'000))});
    std::copy_n(wire.begin(), count, room.begin());
    reader.received(count);
    wire = wire.subspan(count);
    while (true) {
      auto next = reader.next();
      EXPECT_TRUE(next.has_value());
      if (!next || !*next) {
        break;
      }
      frames.push_back(std::move(**next));
    }
    if (reader.large_frame_bytes() > 0) {
      reader.grant();
    }
  }
  return frames;
}

TEST(FrameReader, FramesComeOutWholeAndUnchangedHoweverTheBytesArrive) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random{seed};
    FrameReader reader{100 << 20};
    std::vector<std::byte> wire;
    std::vector<std::size_t> sizes;
    for (int i = 0; i < 40; ++i) {
      const auto size = static_cast<std::size_t>(1 + random.below(random.chance(10) ? 3'000'000 : 20'000));
      const auto frame = frame_of(size, static_cast<std::uint8_t>(i + 1));
      wire.insert(wire.end(), frame.begin(), frame.end());
      sizes.push_back(size);
    }
    const auto frames = feed(reader, wire, random);
    ASSERT_EQ(frames.size(), sizes.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      ASSERT_EQ(frames[i].size(), sizes[i]);
      const auto fill = static_cast<std::byte>(i + 1);
      ASSERT_TRUE(std::ranges::all_of(frames[i].view(), [&](std::byte b) { return b == fill; })) << "frame " << i;
    }
  }
}

TEST(FrameReader, RefusesSizesThatAreNotPositiveOrOverTheMaximum) {
  for (const auto& [length, code] : {std::pair{0, Errc::corrupt}, {-1, Errc::corrupt}, {1025, Errc::too_large}}) {
    FrameReader reader{1024};
    const auto room = reader.prepare();
    store_be(room, 0, length);
    reader.received(4);
    EXPECT_EQ(reader.next().error().code, code);
  }
}

TEST(FrameReader, AnAnnouncedLengthTakesNoMemoryUntilBytesArrive) {
  FrameReader reader{100 << 20};
  const auto room = reader.prepare();
  store_be(room, 0, 90 << 20);
  reader.received(4);
  EXPECT_LE(reader.prepare().size(), FrameReader::kBusyBuffer);
  EXPECT_EQ(reader.large_frame_bytes(), 0U) << "few bytes are free";
}

TEST(FrameReader, AFrameAsksForLeaveOnceItHasTakenItsFreeShare) {
  FrameReader reader{100 << 20};
  const std::size_t announced = 4 << 20;
  const auto first = reader.prepare();
  store_be(first, 0, static_cast<std::int32_t>(announced));
  reader.received(4);
  while (reader.large_frame_bytes() == 0) {
    ASSERT_LT(reader.buffered(), 3U << 20);
    reader.received(reader.prepare().size());
    ASSERT_TRUE(reader.next().has_value());
  }
  EXPECT_EQ(reader.large_frame_bytes(), announced + 4);
  reader.grant();
  EXPECT_EQ(reader.large_frame_bytes(), 0U);
}

}  // namespace
}  // namespace weir::protocol
