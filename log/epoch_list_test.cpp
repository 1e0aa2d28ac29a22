#include "log/epoch_list.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace weir::log {
namespace {

constexpr Offset kLogEnd{100};

EpochStart pair(std::int32_t epoch, std::int64_t offset) {
  return {LeaderEpoch{epoch}, Offset{offset}};
}

EpochList sample() {
  EpochList list;
  list.assign(LeaderEpoch{1}, Offset{0});
  list.assign(LeaderEpoch{3}, Offset{20});
  list.assign(LeaderEpoch{7}, Offset{50});
  return list;
}

TEST(EpochList, EndOfAnEpochIsWhereTheNextKnownOneBegins) {
  const auto list = sample();
  EXPECT_EQ(list.end_of(LeaderEpoch{1}, kLogEnd), pair(1, 20));
  EXPECT_EQ(list.end_of(LeaderEpoch{2}, kLogEnd), pair(1, 20)) << "2 had no records";
  EXPECT_EQ(list.end_of(LeaderEpoch{6}, kLogEnd), pair(3, 50));
  EXPECT_EQ(list.end_of(LeaderEpoch{7}, kLogEnd), pair(7, 100));
  EXPECT_EQ(list.end_of(LeaderEpoch{8}, kLogEnd), pair(-1, -1)) << "above the latest";
  EXPECT_EQ(list.end_of(LeaderEpoch{0}, kLogEnd), pair(0, 0)) << "below the first known";
  EXPECT_EQ(list.end_of(LeaderEpoch{-2}, kLogEnd), pair(-2, 0));
  EXPECT_EQ(list.end_of(LeaderEpoch{-1}, kLogEnd), pair(-1, -1)) << "no epoch";
  EXPECT_EQ(EpochList{}.end_of(LeaderEpoch{0}, kLogEnd), pair(-1, -1));
}

TEST(EpochList, AnEpochWithoutRecordsIsReplacedAndAnOlderOneIgnored) {
  auto list = sample();
  EXPECT_FALSE(list.assign(LeaderEpoch{7}, Offset{60}));
  EXPECT_FALSE(list.assign(LeaderEpoch{5}, Offset{60}));
  EXPECT_TRUE(list.assign(LeaderEpoch{9}, Offset{50}));
  EXPECT_EQ(list.latest(), pair(9, 50));
  EXPECT_EQ(list.entries().size(), 3U);
}

TEST(EpochList, EpochAtGivesTheEpochOfAnOffset) {
  const auto list = sample();
  EXPECT_EQ(list.epoch_at(Offset{19}), LeaderEpoch{1});
  EXPECT_EQ(list.epoch_at(Offset{20}), LeaderEpoch{3});
  EXPECT_EQ(list.epoch_at(Offset{-1}), LeaderEpoch{-1});
}

TEST(EpochList, TruncationCutsFromBothEnds) {
  auto list = sample();
  list.truncate_to(Offset{50});
  EXPECT_EQ(list.latest(), pair(3, 20)) << "an epoch that begins at the new end has no record";
  list.truncate_before(Offset{30});
  EXPECT_EQ(list.entries(), std::vector{pair(3, 30)});
  list.truncate_before(Offset{10});
  EXPECT_EQ(list.entries(), std::vector{pair(3, 30)}) << "a start never moves back";
}

TEST(EpochList, ForgetsTheOldestBeyondItsLimit) {
  EpochList list;
  for (std::int32_t i = 0; i <= static_cast<std::int32_t>(EpochList::kEpochsMax); ++i) {
    list.assign(LeaderEpoch{i}, Offset{i});
  }
  EXPECT_EQ(list.entries().size(), EpochList::kEpochsMax);
  EXPECT_EQ(list.entries().front(), pair(1, 1));
}

TEST(EpochList, ComesBackEqualAndNoPrefixOrDisorderIsTaken) {
  std::vector<std::byte> bytes;
  sample().encode(bytes);
  EXPECT_EQ(bytes.size(), sample().encoded_size());
  EXPECT_EQ(EpochList::decode(bytes).value(), sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(EpochList::decode(Bytes{bytes}.first(size)));
  }
  auto disorder = bytes;
  store_le(disorder, 4, std::int32_t{3});  // epochs 3, 3, 7
  EXPECT_FALSE(EpochList::decode(disorder));
  auto huge = bytes;
  store_le(huge, 0, UINT32_MAX);
  EXPECT_FALSE(EpochList::decode(huge));
}

}  // namespace
}  // namespace weir::log
