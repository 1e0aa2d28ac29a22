#include "log/read_cache.hpp"

#include <gtest/gtest.h>

namespace weir::log {
namespace {

constexpr std::int64_t kBlock = ReadCache::kBlockBytes;

// Every byte tells its position; reads are counted.
class CountingFile final : public File {
 public:
  explicit CountingFile(std::int64_t size) : size_(size) {}
  Result<std::size_t> read_at(std::int64_t position, MutableBytes into) const override {
    ++reads;
    const auto count = std::clamp<std::int64_t>(size_ - position, 0, std::ssize(into));
    for (std::int64_t i = 0; i < count; ++i) {
      into[static_cast<std::size_t>(i)] = byte_at(position + i);
    }
    return static_cast<std::size_t>(count);
  }
  static std::byte byte_at(std::int64_t position) { return static_cast<std::byte>(position * 31 >> 3); }

  Result<void> write_at(std::int64_t, std::span<const Bytes>) override { return Errc::unsupported; }
  Result<void> sync(Caller) override { return Errc::unsupported; }
  Result<void> truncate(std::int64_t size) override {
    size_ = size;
    return {};
  }
  Result<void> allocate(std::int64_t) override { return Errc::unsupported; }
  [[nodiscard]] Result<std::int64_t> size() const override { return size_; }
  [[nodiscard]] Result<std::int64_t> first_unwritten(std::int64_t) const override { return size_; }
  [[nodiscard]] Result<SharedBytes> map() const override { return Errc::unsupported; }
  [[nodiscard]] int handle() const override { return -1; }

  mutable int reads = 0;

 private:
  std::int64_t size_;
};

class ReadCacheTest : public testing::Test {
 protected:
  ReadCacheTest() {
    image.start_at({64 * kBlock});  // all of the file is written
    segment.begin({4096});
  }
  std::vector<std::byte> read(CacheReader& reader, std::int64_t position, std::size_t size) {
    std::vector<std::byte> bytes(size);
    if (!reader.read(segment, position, bytes)) {
      return {};
    }
    expect_written(bytes, position);
    return bytes;
  }
  static void expect_written(Bytes bytes, std::int64_t position) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      ASSERT_EQ(bytes[i], CountingFile::byte_at(position + static_cast<std::int64_t>(i))) << position << "+" << i;
    }
  }
  // As an answer does: it holds what it found. Nothing if it has to copy.
  std::optional<SharedBytes> take(CacheReader& reader, std::int64_t position, std::size_t size) {
    const auto found = reader.look(segment, position, size);
    if (!found || found->empty() || !reader.hold()) {
      return std::nullopt;
    }
    return SharedBytes{*found, reader.hold()};
  }
  // Looks at all of the file, so that every block has made room for others.
  void displace_all() {
    CacheReader reader{cache};
    for (std::int64_t at = 0; at + 1000 < file->size().value(); at += 10'000) {
      read(reader, at, 1000);
    }
  }

  std::shared_ptr<CountingFile> file = std::make_shared<CountingFile>(32 * kBlock);
  Image image{4 << 20};
  ReadCache cache{8 * kBlock, image};
  Segment segment{SegmentId{7}, {}, file, "f", "i"};
};

TEST_F(ReadCacheTest, BatchesThatLieNearCostOneReadABlockForAllReaders) {
  CacheReader one{cache};
  for (std::int64_t at = 0; at + 3000 < 3 * kBlock; at += 6000) {
    read(one, at, 1000);
  }
  EXPECT_EQ(file->reads, 4) << "the first batch alone, then three blocks";
  EXPECT_EQ(cache.memory_bytes(), 3 * kBlock);
  CacheReader other{cache};
  for (std::int64_t at = 3000; at + 3000 < 3 * kBlock; at += 6000) {
    read(other, at, 1000);
  }
  EXPECT_EQ(file->reads, 4);
}

TEST_F(ReadCacheTest, BatchesThatLieFarApartAreReadAlone) {
  CacheReader reader{cache};
  for (int i = 0; i < 20; ++i) {
    read(reader, i * kBlock, 1000);
  }
  EXPECT_EQ(file->reads, 20);
  EXPECT_EQ(cache.memory_bytes(), 0);
}

TEST_F(ReadCacheTest, ABatchMayLieInTwoBlocks) {
  CacheReader reader{cache};
  read(reader, kBlock - 5000, 4000);
  EXPECT_EQ(read(reader, kBlock - 1000, 3000).size(), 3000U);
  EXPECT_EQ(file->reads, 3);
}

TEST_F(ReadCacheTest, WhatWasWrittenAfterABlockWasReadIsReadAnew) {
  Image growing{4 << 20};
  growing.start_at({4096 + 8192});  // of the file, 8192 bytes are written; what lies behind them may still change
  ReadCache kept{8 * kBlock, growing};
  CacheReader reader{kept};
  read(reader, 0, 1000);
  read(reader, 2000, 1000);
  EXPECT_EQ(file->reads, 2);
  growing.set_written({4096 + 20'000});
  read(reader, 12'000, 1000);
  EXPECT_EQ(file->reads, 3);
  read(reader, 15'000, 1000);
  EXPECT_EQ(file->reads, 3);
  EXPECT_EQ(kept.memory_bytes(), kBlock);
}

TEST_F(ReadCacheTest, ABlockGivesWayToTheOneThatTakesItsPlace) {
  CacheReader reader{cache};
  for (std::int64_t at = 0; at < 20 * kBlock; at += 10'000) {
    read(reader, at, 1000);
  }
  EXPECT_EQ(cache.memory_bytes(), 8 * kBlock);
}

TEST_F(ReadCacheTest, WithoutRoomItReadsAllTheSame) {
  ReadCache none{kBlock - 1, image};
  {
    CacheReader reader{none};
    for (std::int64_t at = 0; at + 3000 < 2 * kBlock; at += 3000) {
      EXPECT_EQ(read(reader, at, 1000).size(), 1000U);
      EXPECT_FALSE(take(reader, at + 1000, 1000)) << "nothing may be held";
    }
  }
  EXPECT_EQ(none.memory_bytes(), 0);
}

TEST_F(ReadCacheTest, AFileThatEndsTooSoonIsDamage) {
  ASSERT_TRUE(file->truncate(10'000));
  CacheReader reader{cache};
  std::vector<std::byte> bytes(1000);
  const auto alone = reader.read(segment, 9'500, bytes);
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, Errc::corrupt);
  ASSERT_TRUE(reader.read(segment, 8'000, bytes));
  const auto near = reader.read(segment, 9'500, bytes);
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().code, Errc::corrupt);
}

TEST_F(ReadCacheTest, ABatchInOneBlockIsFoundWhereItLiesAndOneInTwoBlocksIsNot) {
  CacheReader reader{cache};
  read(reader, kBlock - 9000, 1000);
  const auto found = reader.look(segment, kBlock - 8000, 3000);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 3000U);
  expect_written(*found, kBlock - 8000);
  EXPECT_TRUE(reader.look(segment, kBlock - 1000, 1000)->size() == 1000U) << "up to the border";
  EXPECT_TRUE(reader.look(segment, kBlock - 1000, 1001)->empty());
  EXPECT_EQ(read(reader, kBlock - 1000, 1001).size(), 1001U);
}

TEST_F(ReadCacheTest, ALookFarFromTheLastOneReadsNothing) {
  CacheReader reader{cache};
  EXPECT_TRUE(reader.look(segment, 5 * kBlock, 1000)->empty());
  EXPECT_EQ(file->reads, 0);
  read(reader, 5 * kBlock, 1000);
  EXPECT_FALSE(reader.look(segment, 5 * kBlock + 1000, 1000)->empty()) << "near it reads the block";
  EXPECT_EQ(file->reads, 2);
}

TEST_F(ReadCacheTest, ABlockThatManyReadersReadFromAloneIsReadForAllOnceThatHasCostAsMuch) {
  int alone = 0;
  for (; alone < 100; ++alone) {
    CacheReader reader{cache};
    if (!reader.look(segment, 5 * kBlock + 8 * alone, 16'000)->empty()) {
      break;
    }
  }
  EXPECT_EQ(alone, 5) << "each a call and 16 KB; a block is 128";
  EXPECT_EQ(file->reads, 1);
  CacheReader other{cache};
  EXPECT_TRUE(other.look(segment, 6 * kBlock, 16'000)->empty()) << "of each block apart";
}

TEST_F(ReadCacheTest, ABatchIsCheckedOnceForAllReadersUntilItsBlockIsReadAnew) {
  CacheReader one{cache};
  read(one, 0, 8);
  ASSERT_FALSE(one.look(segment, 8, 1000)->empty());
  EXPECT_FALSE(one.is_checked(8));
  one.set_checked(8);
  CacheReader other{cache};
  ASSERT_FALSE(other.look(segment, 8, 1000)->empty());
  EXPECT_TRUE(other.is_checked(8));
  EXPECT_FALSE(other.is_checked(0));
  EXPECT_FALSE(other.is_checked(16));
  displace_all();
  CacheReader later{cache};
  read(later, 0, 8);
  ASSERT_FALSE(later.look(segment, 8, 1000)->empty());
  EXPECT_FALSE(later.is_checked(8)) << "these bytes were read again";
}

TEST_F(ReadCacheTest, WhatAnAnswerHoldsStaysWhenItsBlockGivesWayAndWhenTheCacheEnds) {
  auto ending = std::make_optional<ReadCache>(8 * kBlock, image);
  SharedBytes held;
  {
    CacheReader reader{*ending};
    read(reader, 1000, 1000);
    held = take(reader, 2000, 5000).value();
    for (std::int64_t at = 8000; at < 20 * kBlock; at += 10'000) {
      read(reader, at, 1000);
    }
    EXPECT_EQ(ending->memory_bytes(), 9 * kBlock);
  }
  expect_written(held.view(), 2000);
  ending.reset();
  expect_written(held.view(), 2000);
}

TEST_F(ReadCacheTest, AnswersThatAreNotSentHoldNoMoreBlocksThanTheCacheHas) {
  std::vector<SharedBytes> unsent;
  CacheReader reader{cache};
  std::int64_t at = 0;
  for (; at + 1000 < 30 * kBlock; at += 10'000) {
    if (auto taken = take(reader, at, 1000)) {
      unsent.push_back(std::move(*taken));
    } else {
      EXPECT_EQ(read(reader, at, 1000).size(), 1000U) << "else it is copied";
    }
    ASSERT_LE(cache.memory_bytes(), 2 * 8 * kBlock);
  }
  EXPECT_EQ(cache.memory_bytes(), 2 * 8 * kBlock) << "eight that are held, eight of the cache";
  unsent.clear();
  EXPECT_EQ(cache.memory_bytes(), 8 * kBlock);
  EXPECT_TRUE(take(reader, at, 1000)) << "what was sent makes room";
}

TEST_F(ReadCacheTest, ABlockCountsOnceHoweverManyAnswersHoldIt) {
  std::vector<SharedBytes> unsent;
  CacheReader first{cache};
  read(first, 0, 8);
  read(first, 8, 8);
  for (int i = 0; i < 100; ++i) {
    CacheReader reader{cache};
    auto taken = take(reader, 8, 1000);
    ASSERT_TRUE(taken) << i;
    unsent.push_back(std::move(*taken));
  }
  EXPECT_EQ(cache.memory_bytes(), kBlock);
}

}  // namespace
}  // namespace weir::log
