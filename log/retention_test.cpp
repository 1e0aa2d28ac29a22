#include "log/retention.hpp"

#include <gtest/gtest.h>

#include "log/test_log_read.hpp"

namespace weir::log {
namespace {

constexpr Millis kDay = 86'400'000;

// Fills `segments` segments of 1 MiB or a little more with 4 KiB records of the given partitions in turn.
void fill(TestLog& test, const std::vector<std::shared_ptr<Partition>>& partitions, int segments, Millis stamp) {
  const auto until = test.log->statistics().appended + (static_cast<std::int64_t>(segments) << 20);
  for (std::size_t i = 0; test.log->statistics().appended < until; ++i) {
    test.append(partitions[i % partitions.size()], {.values = {std::string(4'000, 'r')}, .timestamp = stamp},
                Acks::leader);
    if (i % 20 == 0) {
      test.queue.run_until_idle();
    }
  }
  test.queue.run_until_idle();
}

bool pass(TestLog& test) {
  bool done = false;
  test.log->run_retention([&] { done = true; });
  test.queue.run_until_idle();
  return done;
}

TEST(Retention, OldSegmentsGoOnceEveryPartitionInThemAllowsIt) {
  TestLog test{1};
  ASSERT_TRUE(test.start());
  PartitionRules day;
  day.retention_ms = kDay;
  PartitionRules week;
  week.retention_ms = 7 * kDay;
  const auto one = test.create(1, 0, day);
  const auto two = test.create(2, 0, week);
  fill(test, {one, two}, 4, test.queue.clock().wall_ms());
  const auto before = test.log->statistics();
  ASSERT_GE(before.segments, 4);
  ASSERT_TRUE(pass(test));
  EXPECT_EQ(one->log_start(), Offset{0});

  test.queue.clock().skew_wall(2 * kDay);
  ASSERT_TRUE(pass(test));
  EXPECT_GT(one->log_start(), Offset{0}) << "its own rule holds for it alone";
  EXPECT_EQ(two->log_start(), Offset{0});
  EXPECT_EQ(test.log->statistics().segments, before.segments) << "the other partition still needs the files";

  test.queue.clock().skew_wall(6 * kDay);
  ASSERT_TRUE(pass(test));
  EXPECT_GT(two->log_start(), Offset{0});
  EXPECT_LT(test.log->statistics().segments, before.segments);
  EXPECT_LT(test.log->statistics().disk_bytes, before.disk_bytes);
  test.queue.run_until_idle();
  EXPECT_FALSE(test.disk.exists("data/commitlog/" + segment_file_name(SegmentId{1})));

  const auto start = one->log_start();
  const auto kept = test.read_all(*one);
  ASSERT_TRUE(kept) << to_string(kept.error());
  test.crash(sim::CrashMode::power_cut);
  ASSERT_TRUE(test.start());
  EXPECT_EQ(test.find(1, 0)->log_start(), start);
  EXPECT_EQ(*test.read_all(*test.find(1, 0)), *kept);
}

TEST(Retention, TheSizeBoundKeepsAtLeastThatManyBytes) {
  TestLog test{2};
  ASSERT_TRUE(test.start());
  PartitionRules rules;
  rules.retention_ms = -1;
  rules.retention_bytes = 2 << 20;
  const auto partition = test.create(1, 0, rules);
  fill(test, {partition}, 6, test.queue.clock().wall_ms());
  const auto before = test.log->size_bytes(*partition);
  ASSERT_GT(before, 5 << 20);
  ASSERT_TRUE(pass(test));
  EXPECT_GE(test.log->size_bytes(*partition), rules.retention_bytes);
  EXPECT_LT(test.log->size_bytes(*partition), rules.retention_bytes + (1 << 20));
  EXPECT_EQ(std::ssize(*test.read_all(*partition)), partition->high_watermark() - partition->log_start());
}

TEST(Retention, AStampInTheFutureDoesNotKeepARecordForEver) {
  TestLog test{3};
  ASSERT_TRUE(test.start());
  PartitionRules day;
  day.retention_ms = kDay;
  const auto partition = test.create(1, 0, day);
  fill(test, {partition}, 3, test.queue.clock().wall_ms() + 1'000 * kDay);
  ASSERT_TRUE(pass(test));
  EXPECT_EQ(partition->log_start(), Offset{0});
  test.queue.clock().skew_wall(2 * kDay);
  ASSERT_TRUE(pass(test));
  EXPECT_GT(partition->log_start(), Offset{0});
}

TEST(Retention, ACompactedOrEndlessPartitionKeepsItsFilesAndADeletedOneKeepsNone) {
  TestLog test{4};
  ASSERT_TRUE(test.start());
  PartitionRules compact;
  compact.delete_old = false;
  compact.compact = true;
  compact.retention_ms = 1;
  const auto partition = test.create(1, 0, compact);
  fill(test, {partition}, 4, test.queue.clock().wall_ms());
  test.queue.clock().skew_wall(30 * kDay);
  const auto segments = test.log->statistics().segments;
  ASSERT_TRUE(pass(test));
  EXPECT_EQ(test.log->statistics().segments, segments);
  test.log->remove(partition->key());
  ASSERT_TRUE(pass(test));
  EXPECT_LE(test.log->statistics().segments, 2) << "the open one, and the newest sealed one whose state may be needed";
}

TEST(Retention, AReaderKeepsTheFileOfADroppedSegmentUntilItHasFinished) {
  TestLog test{5};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0);
  fill(test, {partition}, 8, test.queue.clock().wall_ms());
  auto cold = test.log->read(*partition, Offset{0}, {8'000, true, partition->high_watermark()}, ReadFrom::may_block);
  ASSERT_TRUE(cold);
  ASSERT_FALSE(cold->batches.empty());
  test.log->remove(partition->key());
  ASSERT_TRUE(pass(test));
  EXPECT_GE(cold->batches.flatten().size(), 4'000U);
}

TEST(TimeLookup, IsExactToTheRecordAndAgreesWithAModel) {
  for (const std::uint64_t seed : {11U, 12U, 13U}) {
    TestLog test{seed};
    Random random{seed};
    ASSERT_TRUE(test.start());
    test.create(1, 0);
    std::vector<Millis> stamps;  // of the record at each offset
    for (int i = 0; i < 500; ++i) {
      const auto stamp = 1'000 + i * 10 + static_cast<Millis>(random.below(400));  // not in order
      const auto count = 1 + random.below(3);
      test.append(
          test.find(1, 0),
          {.values = std::vector<std::string>(count, std::string(random.below(8'000), 'v')), .timestamp = stamp},
          Acks::leader);
      stamps.insert(stamps.end(), count, stamp);
      if (i % 10 == 0) {
        test.queue.run_until_idle();
      }
    }
    test.queue.run_until_idle();
    for (int life = 0; life < 2; ++life) {
      const auto partition = test.find(1, 0);
      const auto bound = partition->high_watermark();
      ASSERT_EQ(bound.value, std::ssize(stamps));
      for (Millis wanted = 900; wanted < 6'600; wanted += 1 + static_cast<Millis>(random.below(60))) {
        const auto expected = std::find_if(stamps.begin(), stamps.end(), [&](Millis stamp) { return stamp >= wanted; });
        const auto found = test.log->find_by_time(*partition, wanted, bound);
        ASSERT_TRUE(found) << to_string(found.error());
        ASSERT_EQ(found->has_value(), expected != stamps.end()) << wanted;
        if (*found) {
          ASSERT_EQ((*found)->offset.value, expected - stamps.begin()) << wanted;
          ASSERT_EQ((*found)->timestamp, *expected);
          ASSERT_EQ((*found)->leader_epoch, LeaderEpoch{0});
        }
      }
      const auto largest = std::max_element(stamps.begin(), stamps.end());
      const auto found = test.log->find_max_timestamp(*partition, bound);
      ASSERT_TRUE(found && *found);
      EXPECT_EQ((*found)->timestamp, *largest);
      EXPECT_EQ((*found)->offset.value, largest - stamps.begin());
      test.crash(sim::CrashMode::process_death);
      ASSERT_TRUE(test.start());
    }
  }
}

}  // namespace
}  // namespace weir::log
