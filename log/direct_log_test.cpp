// mq.log.io=direct: files that are longer than what was written to them, and that had other lives before.
#include <gtest/gtest.h>

#include "log/log_dump.hpp"
#include "log/manifest.hpp"
#include "log/test_log_read.hpp"

namespace weir::log {
namespace {

std::string segment_path(int number) {
  return "data/commitlog/" + segment_file_name(SegmentId{static_cast<std::uint64_t>(number)});
}

class DirectLog : public testing::Test {
 protected:
  DirectLog() {
    test.options.io = IoMode::direct;
    test.options.segment_bytes = 8 << 20;
  }
  void append(int from, int to, std::size_t size = 1'000, Acks acks = Acks::all) {
    for (int i = from; i < to; ++i) {
      auto text = std::to_string(i) + ":";
      text.resize(size, '.');
      const auto outcome = test.append_now(test.find(1, 0), {.values = {text}}, acks);
      ASSERT_FALSE(outcome.error) << to_string(*outcome.error);
    }
  }
  void expect_numbers(int from, int to) {
    const auto records = test.read_all(*test.find(1, 0));
    ASSERT_TRUE(records) << to_string(records.error());
    ASSERT_EQ(std::ssize(*records), to - from);
    for (int i = from; i < to; ++i) {
      EXPECT_EQ(std::stoi((*records)[static_cast<std::size_t>(i - from)].value), i);
    }
  }
  std::int64_t file_size(int number) { return *(*test.disk.open(segment_path(number), {}))->size(); }
  ManifestState manifest() {
    const auto bytes = read_file(test.disk, "data/manifest", Manifest::kFileSizeMax);
    return decode_manifest(*bytes)->state;
  }

  TestLog test{7};
};

TEST_F(DirectLog, AFileHasItsWholeSizeAndAStartReadsNoFurtherThanWhatWasReserved) {
  test.options.segment_bytes = 256 << 20;
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  append(0, 20);
  EXPECT_EQ(file_size(1), 256 << 20);
  EXPECT_EQ(test.log->statistics().io, IoMode::direct);
  test.crash(sim::CrashMode::process_death);
  ASSERT_TRUE(test.start());
  EXPECT_LE(test.log->statistics().recovery_scanned_bytes, 32 << 20);
  EXPECT_EQ(test.log->statistics().recovery_cut_bytes, 0) << "nothing was torn";
  EXPECT_LT(file_size(1), 1 << 20) << "what a cut segment does not use is given back";
  expect_numbers(0, 20);
}

TEST_F(DirectLog, EveryGroupEndsAtABlock) {
  ASSERT_TRUE(test.start());
  PartitionRules rules;
  rules.flush = FlushMode::async;
  test.create(1, 0, rules);
  for (int i = 0; i < 5; ++i) {
    append(i, i + 1, 100, Acks::leader);
    EXPECT_EQ(test.log->statistics().written.value % kDirectAlignment, 0);
  }
  expect_numbers(0, 5);
}

TEST_F(DirectLog, TheReservedEndIsInTheManifestBeforeAByteAboveItIsWritten) {
  test.options.segment_bytes = 128 << 20;
  test.options.image_bytes = 8 << 20;
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  for (int i = 0; i < 40; ++i) {
    append(i, i + 1, 1 << 20);
    const auto written = test.log->statistics().written.value;
    EXPECT_GE(manifest().segments.at(SegmentId{1}).reserved_end, written);
  }
  EXPECT_EQ(manifest().segments.at(SegmentId{1}).reserved_end, 64 << 20);
}

TEST_F(DirectLog, AFullSegmentWhoseSealWasLostIsFollowedByTheNextOne) {
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  append(0, 8, 900'000);
  // The last record that fits makes the log roll; the pool has no chance to seal before the death.
  auto last = test.append(test.find(1, 0), {.values = {"8:" + std::string(900'000, '.')}});
  auto next = test.append(test.find(1, 0), {.values = {"9:" + std::string(900'000, '.')}});
  ASSERT_TRUE(test.queue.run_until([&] { return next->has_value(); }, 1'000'000));
  test.crash(sim::CrashMode::process_death);
  ASSERT_TRUE(test.start());
  EXPECT_EQ(test.log->statistics().recovery_cut_bytes, 0);
  expect_numbers(0, 10);
}

TEST_F(DirectLog, ACleanStopGoesOnInTheSameFile) {
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  append(0, 5);
  ASSERT_TRUE(test.stop());
  ASSERT_TRUE(test.start(true));
  const auto segments = test.log->statistics().segments;
  append(5, 9);
  EXPECT_EQ(test.log->statistics().segments, segments);
  EXPECT_EQ(test.log->statistics().recovery_cut_bytes, 0);
  expect_numbers(0, 9);
  ASSERT_TRUE(test.stop());
  test.options.io = IoMode::buffered;
  ASSERT_TRUE(test.start(true)) << "the mode may change from one start to the next";
  append(9, 12);
  expect_numbers(0, 12);
  test.crash(sim::CrashMode::process_death);
  test.options.io = IoMode::direct;
  ASSERT_TRUE(test.start());
  expect_numbers(0, 12);
}

TEST_F(DirectLog, RemovedFilesAreWrittenAgainAndNothingOfTheirFormerLivesIsServed) {
  ASSERT_TRUE(test.start());
  PartitionRules rules;
  rules.retention_bytes = 1;
  rules.retention_ms = -1;
  test.create(1, 0, rules);
  append(0, 60, 900'000);
  bool done = false;
  test.log->run_retention([&] { done = true; });
  test.queue.run_until_idle();
  ASSERT_TRUE(done);
  const auto pooled = test.disk.list("data/pool")->size();
  EXPECT_GT(pooled, 0U);
  EXPECT_LE(pooled, 4U);
  EXPECT_EQ(test.log->statistics().pool_bytes, static_cast<std::int64_t>(pooled) * (8 << 20));
  const auto creates = test.disk.count(sim::DiskOperation::allocate);
  append(60, 90, 900'000);
  EXPECT_EQ(test.disk.count(sim::DiskOperation::allocate), creates) << "no new file was made";
  // Torn anywhere: old entries lie behind the cut, sound in themselves.
  test.crash(sim::CrashMode::power_cut);
  ASSERT_TRUE(test.start());
  const auto start = static_cast<int>(test.find(1, 0)->log_start().value);
  expect_numbers(start, 90);
}

class DirectLogReadAhead : public DirectLog {
 protected:
  struct Hint {
    std::int64_t from;
    std::int64_t to;
  };
  DirectLogReadAhead() {
    test.options.segment_bytes = 64 << 20;  // all in one, which begins at 0
    test.disk.set_hint_hook([this](const std::string&, std::int64_t position, std::int64_t size) {
      EXPECT_LE(position + size, test.log->statistics().written.value);
      hints.push_back({position, position + size});
    });
  }
  void start() {
    ASSERT_TRUE(test.start());
    test.create(1, 0);
    test.create(1, 1);
  }
  void append_to(int partition, std::size_t size) {
    ASSERT_FALSE(test.append_now(test.find(1, partition), {.values = {std::string(size, '.')}}).error);
  }
  // Bytes that were asked for, those that were asked for twice once.
  std::int64_t asked() {
    std::ranges::sort(hints, {}, &Hint::from);
    std::int64_t total = 0;
    std::int64_t end = 0;
    for (const auto& hint : hints) {
      total += std::max<std::int64_t>(0, hint.to - std::max(hint.from, end));
      end = std::max(end, hint.to);
    }
    return total;
  }
  void read(int partition, std::size_t bytes_max) {
    ASSERT_TRUE(test.read_all(*test.find(1, partition), std::nullopt, ReadFrom::may_block, bytes_max));
  }
  std::vector<Hint> hints;
};

TEST_F(DirectLogReadAhead, AReaderBehindTheImageAsksForAllItWillReadInFewStretches) {
  start();
  for (int i = 0; i < 6'000; ++i) {
    append_to(i % 3 == 0 ? 0 : 1, 2'000);
  }
  // One more is on its way to the disk, none of it is asked for (the hook looks).
  test.append(test.find(1, 0), {.values = {"last"}});
  read(0, 1 << 20);
  EXPECT_GT(asked(), test.log->statistics().written.value - (4 << 20) - (2 << 20)) << "all but what the image has";
  EXPECT_LT(std::ssize(hints), 20) << "of 2,000 batches";
}

TEST_F(DirectLogReadAhead, TheLastBatchesOfAPartitionAreAskedForToo) {
  start();
  for (int i = 0; i < 100; ++i) {
    append_to(0, 5'000);
  }
  const auto end = test.log->statistics().written.value;
  for (int i = 0; i < 30; ++i) {
    append_to(1, 400'000);  // the image has these
  }
  read(0, 1 << 20);
  EXPECT_GT(asked(), end - (64 << 10));
}

TEST_F(DirectLogReadAhead, WhatLiesBetweenBatchesFarApartIsNotAskedFor) {
  start();
  for (int i = 0; i < 40; ++i) {
    append_to(0, 2'000);
    append_to(1, 200'000);
  }
  read(0, 1 << 20);
  EXPECT_GE(std::ssize(hints), 10) << "each by itself";
  EXPECT_LT(asked(), 40 * 2'200);
}

TEST_F(DirectLogReadAhead, TheSystemReadsAheadByItselfWhereTheLogIsBuffered) {
  test.options.io = IoMode::buffered;
  start();
  for (int i = 0; i < 40; ++i) {
    append_to(0, 200'000);
  }
  read(0, 1 << 20);
  EXPECT_TRUE(hints.empty());
}

TEST_F(DirectLog, AFileSystemWithoutDirectWritesIsWrittenThroughThePageCache) {
  test.disk.set_fault_hook([](sim::DiskOperation operation, const std::string& path) -> std::optional<Error> {
    return operation == sim::DiskOperation::write && path.ends_with("direct-probe")
               ? std::optional{Error{Errc::disk_failed, EINVAL}}
               : std::nullopt;
  });
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  append(0, 3);
  EXPECT_EQ(test.log->statistics().io, IoMode::buffered);
  EXPECT_LT(file_size(1), 1 << 20);
  EXPECT_FALSE(test.disk.exists("data/direct-probe"));
  expect_numbers(0, 3);
}

TEST_F(DirectLog, VerifyTakesOldBytesBehindTheEndForNothing) {
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  append(0, 10);
  const auto report = verify_folder(test.disk, "data", [](std::string_view line) { ADD_FAILURE() << line; });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problems, 0);
  EXPECT_EQ(report->torn_bytes, 0);
  EXPECT_EQ(report->batches, 10);
}

}  // namespace
}  // namespace weir::log
