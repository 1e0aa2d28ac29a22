#include "log/offset_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "base/random.hpp"

namespace weir::log {
namespace {

IndexEntry entry(std::int64_t base, std::int64_t last, Millis timestamp = 0, std::int64_t position = 4096) {
  return {Offset{base}, Offset{last}, position, 100, timestamp};
}

TEST(OffsetIndex, FindsTheBatchThatHoldsAnOffsetOrTheNextOneAfterAGap) {
  OffsetIndex index;
  EXPECT_EQ(index.find(Offset{0}), 0U) << "empty: size()";
  index.append(entry(100, 102));
  index.append(entry(110, 119));
  EXPECT_EQ(index.find(Offset{99}), 0U);
  EXPECT_EQ(index.find(Offset{102}), 0U) << "last offset of the first batch";
  EXPECT_EQ(index.find(Offset{103}), 1U) << "in the gap";
  EXPECT_EQ(index.find(Offset{119}), 1U);
  EXPECT_EQ(index.find(Offset{120}), 2U) << "behind the last";
  EXPECT_EQ(index.at(1), entry(110, 119));
}

TEST(OffsetIndex, PackedEntryKeepsTheLargestValues) {
  const IndexEntry largest{Offset{INT64_MAX - UINT32_MAX}, Offset{INT64_MAX}, UINT32_MAX, UINT32_MAX, INT64_MAX};
  std::array<std::byte, kPackedIndexEntrySize> bytes;
  pack(largest, bytes.data());
  EXPECT_EQ(unpack(bytes.data()), largest);
  const auto negative_time = entry(0, 0, -1);
  pack(negative_time, bytes.data());
  EXPECT_EQ(unpack(bytes.data()), negative_time);
}

TEST(OffsetIndex, AnEntryBelowTheLastIsABugOfOurs) {
  OffsetIndex index;
  index.append(entry(10, 12));
  EXPECT_DEATH(index.append(entry(12, 13)), "base_offset");
}

TEST(OffsetIndex, AgreesWithASimpleMapOnRandomBatches) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{seed};
    OffsetIndex index;
    std::vector<IndexEntry> model;
    std::map<std::int64_t, std::size_t> by_last;
    std::int64_t offset = static_cast<std::int64_t>(random.below(1000));
    Millis largest = -1;
    for (std::size_t i = 0; i < 1 + random.below(3000); ++i) {
      offset += static_cast<std::int64_t>(random.below(3));
      const auto last = offset + static_cast<std::int64_t>(random.below(5));
      const auto timestamp = static_cast<Millis>(random.below(100'000));
      model.push_back(entry(offset, last, timestamp, static_cast<std::int64_t>(i) * 8));
      by_last[last] = i;
      index.append(model.back());
      largest = std::max(largest, timestamp);
      offset = last + 1;
    }
    ASSERT_EQ(index.size(), model.size());
    EXPECT_EQ(index.max_timestamp(), largest);
    for (int i = 0; i < 500; ++i) {
      const auto asked = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(offset + 10)));
      const auto found = by_last.lower_bound(asked);
      EXPECT_EQ(index.find(Offset{asked}), found == by_last.end() ? model.size() : found->second);
      const auto time = static_cast<Millis>(random.below(110'000));
      const auto from = random.below(model.size());
      auto expected = from;
      while (expected < model.size() && model[expected].max_timestamp < time) {
        ++expected;
      }
      EXPECT_EQ(index.find_by_time(time, from), expected);
    }
    std::vector<std::byte> packed;
    const auto from = random.below(model.size());
    index.copy_packed(from, model.size(), packed);
    ASSERT_EQ(packed.size(), (model.size() - from) * kPackedIndexEntrySize);
    for (auto i = from; i < model.size(); ++i) {
      EXPECT_EQ(unpack(packed.data() + (i - from) * kPackedIndexEntrySize), model[i]);
      EXPECT_EQ(index.at(i), model[i]);
    }
  }
}

TEST(OffsetIndex, AReaderSeesOnlyWholeEntriesWhileTheWriterAppends) {
  OffsetIndex index;
  constexpr std::int64_t kCount = 50'000;
  std::thread writer([&index] {
    for (std::int64_t i = 0; i < kCount; ++i) {
      index.append(entry(i * 2, i * 2 + 1, i, i * 8));
    }
  });
  std::size_t seen = 0;
  while (seen < static_cast<std::size_t>(kCount)) {
    const auto size = index.size();
    ASSERT_GE(size, seen);
    if (size > 0) {
      const auto last = static_cast<std::int64_t>(size) - 1;
      ASSERT_EQ(index.at(size - 1), entry(last * 2, last * 2 + 1, last, last * 8));
      ASSERT_EQ(index.find(Offset{last}), static_cast<std::size_t>(last / 2));
      ASSERT_LE(index.find_by_time(last), static_cast<std::size_t>(last));
      ASSERT_GE(index.max_timestamp(), last);
    }
    seen = size;
  }
  writer.join();
}

TEST(OffsetIndex, AnIdlePartitionTakesNoChunkAndABusyOneAtMostTwiceItsEntries) {
  OffsetIndex index;
  EXPECT_EQ(index.memory_bytes(), 0U);
  for (std::int64_t i = 0; i < 10'000; ++i) {
    index.append(entry(i, i));
  }
  EXPECT_LT(index.memory_bytes(), 2 * 10'000 * kPackedIndexEntrySize);
}

}  // namespace
}  // namespace weir::log
