// What a start makes of a folder: torn tails, damage, deltas, many segments.
#include "log/recovery.hpp"

#include <gtest/gtest.h>

#include "base/logging.hpp"
#include "log/test_log_read.hpp"

namespace weir::log {
namespace {

std::string segment_path(int number) {
  return "data/commitlog/" + segment_file_name(SegmentId{static_cast<std::uint64_t>(number)});
}

std::string value_of(int number, std::size_t size = 1'000) {
  auto text = std::to_string(number) + ":";
  text.resize(size, '.');
  return text;
}

TEST(Recovery, ATailTornByAPowerCutEndsTheLogAndCannotComeBack) {
  TestLog test{1};
  ASSERT_TRUE(test.start());
  PartitionRules rules;
  rules.flush = FlushMode::async;
  test.create(1, 0, rules);
  for (int i = 0; i < 20; ++i) {
    test.append_now(test.find(1, 0), {.values = {value_of(i)}});
  }
  const auto size = *(*test.disk.open(segment_path(1), {}))->size();
  test.crash(sim::CrashMode::process_death);
  ASSERT_TRUE(test.disk.damage(segment_path(1), size - 700, std::byte{0xff}));  // in the last batch
  const LogCapture lines;
  ASSERT_TRUE(test.start());
  EXPECT_EQ(test.find(1, 0)->high_watermark(), Offset{19});
  EXPECT_GT(test.log->statistics().recovery_cut_bytes, 0);
  EXPECT_EQ(test.log->statistics().recovery_damaged_ranges, 0);
  EXPECT_EQ(test.append_now(test.find(1, 0), {.values = {value_of(100)}}).base_offset, Offset{19});
  // The old tail is whole again, as if the medium had changed its mind: nothing of it may be served.
  test.crash(sim::CrashMode::process_death);
  ASSERT_TRUE(test.disk.damage(segment_path(1), size - 700, std::byte{0xff}));
  ASSERT_TRUE(test.start());
  const auto records = test.read_all(*test.find(1, 0));
  ASSERT_TRUE(records);
  ASSERT_EQ(records->size(), 20U);
  EXPECT_EQ(records->back().value, value_of(100));
}

TEST(Recovery, DamageBelowASyncedPositionCostsOnlyWhatItTouchesAndIsNamed) {
  TestLog test{2};
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  test.create(2, 0);
  for (int i = 0; i < 20; ++i) {
    test.append_now(test.find(1 + i % 2, 0), {.values = {value_of(i, 3'000)}});
  }
  test.crash(sim::CrashMode::process_death);
  // Each append was a group of its own that begins at a block: this one lies in the middle of one batch.
  ASSERT_TRUE(test.disk.damage(segment_path(1), 10 * 4096 + 2'000, std::byte{0x10}));
  const LogCapture lines;
  ASSERT_TRUE(test.start());
  EXPECT_EQ(test.log->statistics().recovery_damaged_ranges, 1);
  EXPECT_EQ(test.log->statistics().recovery_cut_bytes, 0);
  ASSERT_EQ(lines.lines().size(), 2U);
  EXPECT_NE(lines.lines()[0].find("damage in segment 1"), std::string::npos) << lines.lines()[0];
  EXPECT_NE(lines.lines()[1].find("damage took offsets 4 to 4 of topic"), std::string::npos) << lines.lines()[1];
  const auto one = test.read_all(*test.find(1, 0));
  const auto two = test.read_all(*test.find(2, 0));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->size() + two->size(), 19U);
  EXPECT_EQ(test.find(1, 0)->high_watermark(), Offset{10});
  EXPECT_EQ(test.find(2, 0)->high_watermark(), Offset{10});
}

TEST(Recovery, DeltasLeaveLittleToScanAfterAProcessDeath) {
  for (const auto mode : {sim::CrashMode::process_death, sim::CrashMode::power_cut}) {
    for (const auto flush : {FlushMode::sync, FlushMode::async}) {
      TestLog test{3};
      test.options.segment_bytes = 64 << 20;
      test.options.delta_bytes = 256 << 10;
      ASSERT_TRUE(test.start());
      PartitionRules rules;
      rules.flush = flush;
      for (int topic = 1; topic <= 4; ++topic) {
        test.create(topic, 0, rules);
      }
      TestBatch batch{.producer_id = 5, .producer_epoch = 0};
      std::int32_t sequence = 0;
      for (int i = 0; i < 600; ++i) {
        batch.values = {value_of(i, 4'000)};
        batch.base_sequence = sequence;
        sequence += i % 4 == 0 ? 1 : 0;
        auto sent = batch;
        if (i % 4 != 0) {
          sent.producer_id = -1;
          sent.base_sequence = -1;
          sent.producer_epoch = -1;
        }
        ASSERT_FALSE(test.append_now(test.find(1 + i % 4, 0), sent).error);
      }
      test.crash(mode);
      ASSERT_TRUE(test.start());
      const auto scanned = test.log->statistics().recovery_scanned_bytes;
      if (mode == sim::CrashMode::process_death || flush == FlushMode::sync) {
        EXPECT_LT(scanned, 2 * (256 << 10));
        for (int topic = 1; topic <= 4; ++topic) {
          const auto records = test.read_all(*test.find(topic, 0));
          ASSERT_TRUE(records) << to_string(records.error());
          ASSERT_EQ(records->size(), 150U);
          EXPECT_EQ(records->back().value, value_of(596 + topic - 1, 4'000));
        }
        batch.values = {value_of(596, 4'000)};
        batch.base_sequence = sequence - 1;
        EXPECT_TRUE(test.append_now(test.find(1, 0), batch).duplicate) << "producers travel in deltas";
      } else {
        // A delta that speaks of bytes which the power cut took is not believed.
        for (int topic = 1; topic <= 4; ++topic) {
          const auto records = test.read_all(*test.find(topic, 0));
          ASSERT_TRUE(records) << to_string(records.error());
          EXPECT_EQ(std::ssize(*records), test.find(topic, 0)->high_watermark().value);
        }
      }
    }
  }
}

TEST(Recovery, ALostIndexFileIsBuiltAgainFromItsSegment) {
  TestLog test{4};
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  for (int i = 0; i < 900; ++i) {
    test.append(test.find(1, 0), {.values = {value_of(i, 4'000)}}, Acks::leader);
    if (i % 20 == 0) {
      test.queue.run_until_idle();
    }
  }
  test.queue.run_until_idle();
  ASSERT_GE(test.log->statistics().segments, 3);
  test.crash(sim::CrashMode::process_death);
  ASSERT_TRUE(test.disk.remove("data/commitlog/" + index_file_name(SegmentId{1})));
  const auto second = "data/commitlog/" + index_file_name(SegmentId{2});
  const auto size = *(*test.disk.open(second, {}))->size();
  ASSERT_TRUE(test.disk.damage(second, size - 8, std::byte{1}));
  ASSERT_TRUE(test.start());
  const auto records = test.read_all(*test.find(1, 0));
  ASSERT_TRUE(records) << to_string(records.error());
  ASSERT_EQ(records->size(), 900U);
  EXPECT_EQ(records->back().value, value_of(899, 4'000));
}

TEST(Recovery, AStartAfterACleanStopScansOnlyTheLastState) {
  TestLog test{5};
  ASSERT_TRUE(test.start());
  for (int topic = 1; topic <= 1'000; ++topic) {
    test.create(topic, 0);
  }
  for (int i = 0; i < 3'000; ++i) {
    test.append(test.find(1 + i % 1'000, 0), {.values = {value_of(i, 200)}}, Acks::leader);
  }
  test.queue.run_until_idle();
  ASSERT_TRUE(test.stop());
  for (int again = 0; again < 3; ++again) {
    ASSERT_TRUE(test.start(true));
    EXPECT_LT(test.log->statistics().recovery_scanned_bytes, 400 << 10);
    const auto segments = test.log->statistics().segments;
    for (int topic = 1; topic <= 1'000; topic += 111) {
      ASSERT_EQ(test.read_all(*test.find(topic, 0))->size(), 3U);
    }
    ASSERT_TRUE(test.stop());
    ASSERT_TRUE(test.start(true));
    EXPECT_EQ(test.log->statistics().segments, segments) << "nothing was appended, so nothing was sealed";
    ASSERT_TRUE(test.stop());
  }
}

TEST(Recovery, NothingOfAnUnknownFileIsServed) {
  TestLog test{6};
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  test.append_now(test.find(1, 0), {.values = {"a"}});
  test.crash(sim::CrashMode::process_death);
  ASSERT_TRUE(test.disk.open("data/commitlog/" + segment_file_name(SegmentId{77}), {.create = true}));
  ASSERT_TRUE(test.start());
  EXPECT_FALSE(test.disk.exists("data/commitlog/" + segment_file_name(SegmentId{77})));
  EXPECT_EQ(test.read_all(*test.find(1, 0))->size(), 1U);
}

}  // namespace
}  // namespace weir::log
