#include "log/image.hpp"

#include <gtest/gtest.h>

namespace weir::log {
namespace {

constexpr std::int64_t kBlockBytes = kImageBlockBytes;

std::vector<std::byte> bytes_of(std::size_t size, int value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

TEST(Image, BytesAreReadBackAcrossBlocksUntilTheRingReplacesThem) {
  Image image{4 * kBlockBytes};
  image.start_at({8192});
  const auto piece = bytes_of(static_cast<std::size_t>(kBlockBytes) - 100, 1);
  image.put(piece);
  image.put(bytes_of(300, 2));
  ImageReader reader{image};
  std::vector<std::byte> read(300);
  ASSERT_TRUE(reader.copy({8192 + kBlockBytes - 100}, read));
  EXPECT_EQ(read, bytes_of(300, 2));
  std::vector<SharedBytes> held;
  ASSERT_TRUE(reader.hold({8192}, piece.size(), held));
  EXPECT_EQ(held.size(), 2U) << "one piece a block";
  EXPECT_FALSE(reader.copy({4096}, read)) << "before this life of the log";
}

TEST(Image, ThereIsRoomOnlyAsFarAsTheOldestBlocksAreWritten) {
  Image image{4 * kBlockBytes};
  image.start_at({0});
  EXPECT_TRUE(image.room_for(4 * kBlockBytes));
  EXPECT_FALSE(image.room_for(4 * kBlockBytes + 1));
  for (int i = 0; i < 4; ++i) {
    image.put(bytes_of(static_cast<std::size_t>(kBlockBytes), i));
  }
  EXPECT_FALSE(image.room_for(1));
  image.set_written({kBlockBytes - 1});
  EXPECT_FALSE(image.room_for(1)) << "a block is replaced as a whole";
  image.set_written({kBlockBytes});
  EXPECT_TRUE(image.room_for(1));
  EXPECT_TRUE(image.room_for(kBlockBytes));
  EXPECT_FALSE(image.room_for(kBlockBytes + 1));
}

TEST(Image, AHeldBlockKeepsItsBytesAndTheRingTakesAnother) {
  Image image{4 * kBlockBytes};
  image.start_at({0});
  std::vector<SharedBytes> held;
  image.put(bytes_of(static_cast<std::size_t>(kBlockBytes), 7));
  ASSERT_TRUE(ImageReader{image}.hold({0}, 5'000, held));
  for (int i = 1; i < 9; ++i) {
    image.set_written(image.tail());
    image.put(bytes_of(static_cast<std::size_t>(kBlockBytes), i));
  }
  EXPECT_EQ(held[0].view()[4'999], std::byte{7});
  std::vector<std::byte> read(1);
  EXPECT_FALSE(ImageReader{image}.copy({0}, read));
  EXPECT_EQ(image.memory_bytes(), 5 * kBlockBytes);
  held.clear();
  EXPECT_LE(image.memory_bytes(), 5 * kBlockBytes);
}

TEST(Image, AnEntryThatIsLargerThanTheRingHasRoomOnceWhatIsBeforeItIsWrittenAndItsMemoryGoesBack) {
  Image image{4 * kBlockBytes, 20 * kBlockBytes};
  image.start_at({4096});
  EXPECT_EQ(image.capacity(), 4 * kBlockBytes);
  EXPECT_EQ(image.entry_bytes_max(), 20 * kBlockBytes);
  const auto block = [](int value) { return bytes_of(static_cast<std::size_t>(kBlockBytes), value); };
  for (int i = 0; i < 4; ++i) {
    image.put(block(i));
  }
  EXPECT_FALSE(image.room_for(20 * kBlockBytes)) << "what is before it is not written";
  image.set_written(image.tail());
  ASSERT_TRUE(image.room_for(20 * kBlockBytes));
  EXPECT_FALSE(image.room_for(25 * kBlockBytes));
  const auto from = image.tail();
  for (int i = 4; i < 24; ++i) {
    image.put(block(i));
  }
  EXPECT_FALSE(image.room_for(1)) << "a small one waits for it to be written";
  std::vector<SharedBytes> held;
  ASSERT_TRUE(ImageReader{image}.hold(from, static_cast<std::size_t>(20 * kBlockBytes), held));
  EXPECT_EQ(held.front().view().front(), std::byte{4});
  EXPECT_EQ(held.back().view().back(), std::byte{23});
  held.clear();
  EXPECT_GE(image.memory_bytes(), 20 * kBlockBytes);
  image.set_written(image.tail());
  ASSERT_TRUE(image.room_for(1));
  image.put(block(24));
  EXPECT_EQ(image.memory_bytes(), 4 * kBlockBytes) << "no more than the ring";
  std::vector<std::byte> read(1);
  EXPECT_TRUE(ImageReader{image}.copy({23 * kBlockBytes}, read)) << "the ring still has its end";
  EXPECT_FALSE(ImageReader{image}.copy({20 * kBlockBytes}, read));
}

TEST(Image, MemoryIsTakenOnlyWhenTheTailReachesIt) {
  Image image{64 * kBlockBytes};
  image.start_at({4096});
  EXPECT_LE(image.memory_bytes(), kBlockBytes);
  image.put(bytes_of(10'000, 1));
  EXPECT_EQ(image.memory_bytes(), kBlockBytes);
}

}  // namespace
}  // namespace weir::log
