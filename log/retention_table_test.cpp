// What one pass of retention forgets: the same rows for a topic in the log and for one in memory.
#include <gtest/gtest.h>

#include "log/test_log_read.hpp"

namespace weir::log {
namespace {

constexpr Millis kHour = 3'600'000;
constexpr Millis kDay = 24 * kHour;
constexpr Millis kYear = 365 * kDay;
constexpr Millis kNone = -kYear - 1;  // as Sent::stamp: the batch has none

struct Sent {
  Millis stamp = 0;      // beside the broker's clock at the append
  Millis set_clock = 0;  // before it
};

struct Row {
  std::string name;
  std::vector<Sent> sent;
  Millis set_clock = 0;  // behind them
  Millis wait = 0;
  std::int64_t start = 0;  // one record a batch
  Millis retention_ms = kDay;
  std::int64_t retention_batches = -1;  // all have one size
};

const std::vector<Row> kRows{
    {.name = "NothingIsOld", .sent = {{0}, {-kDay}}},
    {.name = "OldStampsGoUpToTheFirstThatIsNot", .sent = {{-kDay - 1}, {-kYear}, {0}, {-kYear}}, .start = 2},
    {.name = "AQuietTopicForgetsAllInTime", .sent = {{0}, {0}, {0}}, .wait = kDay + 1, .start = 3},
    {.name = "AndNotAMillisecondBefore", .sent = {{0}, {0}, {0}}, .wait = kDay},
    {.name = "NoStampCountsFromTheAppend", .sent = {{kNone}}, .wait = kDay},
    {.name = "NoStampGoesOnceThatIsOld", .sent = {{kNone}}, .wait = kDay + 1, .start = 1},
    {.name = "BesideStampsToo", .sent = {{-kDay - 1}, {kNone}, {-kYear}, {0}}, .start = 1},
    {.name = "AnHourAheadIsAStampLikeAnyOther", .sent = {{kHour}}, .wait = kDay + kHour},
    {.name = "AndExpiresLikeAnyOther", .sent = {{kHour}}, .wait = kDay + kHour + 1, .start = 1},
    {.name = "AYearAheadKeepsNothingForAYear", .sent = {{kYear}, {0}}, .wait = kDay + 1, .start = 2},
    {.name = "ButItStaysAsLongAsOthers", .sent = {{kYear}}, .wait = kDay},
    {.name = "AClockThatWasBehindDoesNotAgeGoodStamps",
     .sent = {{kYear, -kYear}, {kYear}},
     .set_clock = kYear,
     .wait = kDay},
    {.name = "WhichExpireWhenTheyAreOld",
     .sent = {{kYear, -kYear}, {kYear}},
     .set_clock = kYear,
     .wait = kDay + 1,
     .start = 2},
    {.name = "AClockThatWasAheadDoesNotKeepGoodStamps",
     .sent = {{-kYear, kYear}},
     .set_clock = -kYear,
     .wait = kDay + 1,
     .start = 1},
    {.name = "NorDoesItAgeThem", .sent = {{-kYear, kYear}}, .set_clock = -kYear, .wait = kDay},
    {.name = "WhatCameByAClockAheadIsNotOldWhenItIsSetRight",
     .sent = {{kNone, kYear}},
     .set_clock = -kYear,
     .wait = kDay + 1},
    {.name = "TheNewestAppendOfASegmentIsNotTheLast",
     .sent = {{kNone}, {kNone, -kYear}},
     .set_clock = kYear,
     .wait = kDay,
     .start = 0},
    {.name = "NothingIsKeptPastTheMillisecond", .sent = {{0}, {0}}, .wait = 1, .start = 2, .retention_ms = 0},
    {.name = "WhatCameInThisMillisecondStays", .sent = {{0}}, .retention_ms = 0},
    {.name = "WithoutABoundAllStays", .sent = {{-kYear}, {kNone}}, .wait = kYear, .retention_ms = -1},
    {.name = "BySizeTheOldestGo", .sent = {{0}, {0}, {0}, {0}}, .start = 3, .retention_ms = -1, .retention_batches = 1},
    {.name = "BySizeAllGoIfNothingIsWanted",
     .sent = {{0}, {0}},
     .start = 2,
     .retention_ms = -1,
     .retention_batches = 0},
    {.name = "BySizeNothingGoesThatIsWithin", .sent = {{0}, {0}}, .retention_ms = -1, .retention_batches = 2},
    {.name = "BySizeOrByTime", .sent = {{0}, {-kYear}, {0}}, .start = 2, .retention_batches = 2},
};

class RetentionTable : public testing::TestWithParam<std::tuple<Row, bool>> {};

TEST_P(RetentionTable, APassForgetsWhatHasExpiredAndNoMore) {
  const auto& [row, in_memory] = GetParam();
  TestLog test{1};
  ASSERT_TRUE(test.start());
  PartitionRules rules;
  rules.memory = in_memory;
  rules.retention_ms = -1;
  const auto partition = test.create(1, 0, rules);
  auto& clock = test.queue.clock();
  for (const auto& sent : row.sent) {
    clock.skew_wall(sent.set_clock);
    const auto stamp = sent.stamp == kNone ? -1 : clock.wall_ms() + sent.stamp;
    ASSERT_FALSE(test.append_now(partition, {.values = {"value"}, .timestamp = stamp}).error);
  }
  clock.skew_wall(row.set_clock);
  test.queue.run_for(row.wait);
  rules.retention_ms = row.retention_ms;
  if (row.retention_batches >= 0) {
    rules.retention_bytes = test.log->size_bytes(*partition) / std::ssize(row.sent) * row.retention_batches;
  }
  test.log->set_rules(partition->key(), rules);
  for (int pass = 0; pass < 2; ++pass) {
    test.log->run_retention([] {});
    test.queue.run_until_idle();
    EXPECT_EQ(partition->log_start().value, row.start) << "pass " << pass;
  }
  EXPECT_EQ(partition->log_end().value, std::ssize(row.sent));
  const auto left = test.read_all(*partition);
  ASSERT_TRUE(left);
  EXPECT_EQ(std::ssize(*left), std::ssize(row.sent) - row.start);
  if (row.start > 0) {
    const auto below = test.log->read(*partition, Offset{row.start - 1}, {1 << 20, true, partition->high_watermark()},
                                      ReadFrom::may_block);
    ASSERT_FALSE(below);
    EXPECT_EQ(below.error().code, Errc::out_of_range);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, RetentionTable, testing::Combine(testing::ValuesIn(kRows), testing::Bool()),
                         [](const auto& tested) {
                           return std::get<0>(tested.param).name + (std::get<1>(tested.param) ? "InMemory" : "");
                         });

}  // namespace
}  // namespace weir::log
