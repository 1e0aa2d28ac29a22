// The manifest is gone, damaged or cut short: it is a copy of what the segment files say, so nothing is lost with it.
#include <gtest/gtest.h>

#include "log/test_log_read.hpp"

namespace weir::log {
namespace {

constexpr const char* kManifest = "data/manifest";

std::string value_of(int number) {
  auto value = std::to_string(number) + ":";
  value.resize(4'000, static_cast<char>('a' + number % 26));
  return value;
}

enum class End : std::uint8_t { stopped, killed };

struct Case {
  IoMode io;
  End end;
};

class ManifestLoss : public testing::TestWithParam<Case> {
 protected:
  // Several segments, of them sealed ones, the last one open, and one that retention has removed.
  void write(int records) {
    test.emplace(31);
    test->options.io = GetParam().io;
    ASSERT_TRUE(test->start());
    PartitionRules rules;
    rules.retention_ms = -1;
    test->create(1, 0, rules);
    append(records);
    ASSERT_GE(test->log->statistics().segments, 3);
    move_start(300);
    end();
  }
  void append(int records) {
    for (int i = 0; i < records; ++i) {
      test->append(test->find(1, 0), {.values = {value_of(written++)}}, Acks::all);
      if (i % 20 == 0) {
        test->queue.run_until_idle();
      }
    }
    test->queue.run_until_idle();
  }
  void move_start(std::int64_t start) {
    test->log->move_start(test->find(1, 0), Offset{start}, *test->runtime->io.front(), [](const auto&) {});
    test->queue.run_until_idle();
    test->log->run_retention([] {});
    test->queue.run_until_idle();
  }
  void end() {
    if (GetParam().end == End::stopped) {
      ASSERT_TRUE(test->stop());
    } else {
      test->crash(sim::CrashMode::process_death);
    }
  }
  void start() { ASSERT_TRUE(test->start(GetParam().end == End::stopped)); }
  void expect_all() {
    const auto partition = test->find(1, 0);
    EXPECT_EQ(partition->log_start(), Offset{300});
    const auto records = test->read_all(*partition);
    ASSERT_TRUE(records) << to_string(records.error());
    ASSERT_EQ(std::ssize(*records), written - 300);
    for (const auto& record : *records) {
      EXPECT_EQ(record.value, value_of(static_cast<int>(record.offset.value)));
    }
  }
  // Neither by this start nor by the one after it.
  void expect_nothing_lost() {
    start();
    expect_all();
    append(20);
    end();
    start();
    expect_all();
  }
  std::int64_t size() { return *(*test->disk.open(kManifest, {}))->size(); }
  std::optional<TestLog> test;
  int written = 0;
};

TEST_P(ManifestLoss, AMissingManifestCostsNothing) {
  write(900);
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(test->disk.remove(kManifest));
    start();
    expect_all();
    append(300);
    expect_all();
    end();
  }
  start();
  expect_all();
}

TEST_P(ManifestLoss, NoFlippedByteOfTheManifestCostsARecord) {
  written = 0;
  write(900);
  const auto bytes = size();
  for (std::int64_t at = 0; at < bytes; at += 29) {
    SCOPED_TRACE("byte " + std::to_string(at) + " of " + std::to_string(bytes));
    written = 0;
    write(900);
    ASSERT_TRUE(test->disk.damage(kManifest, at, std::byte{0x21}));
    expect_nothing_lost();
  }
}

TEST_P(ManifestLoss, AManifestThatEndsAnywhereCostsNothing) {
  write(900);
  const auto bytes = size();
  for (std::int64_t left = 0; left < bytes; left += 41) {
    SCOPED_TRACE(std::to_string(left) + " of " + std::to_string(bytes) + " bytes left");
    written = 0;
    write(900);
    ASSERT_TRUE((*test->disk.open(kManifest, {}))->truncate(left));
    expect_nothing_lost();
  }
}

TEST_P(ManifestLoss, TheIndexFilesMayBeGoneTooExceptForWhatACutTailHolds) {
  write(900);
  ASSERT_TRUE(test->disk.remove(kManifest));
  const auto names = test->disk.list("data/commitlog");
  for (const auto& name : *names) {
    if (name.ends_with(".index")) {
      ASSERT_TRUE(test->disk.remove("data/commitlog/" + name));
    }
  }
  start();
  expect_all();
}

// Then it ends where the next one begins.
TEST_P(ManifestLoss, AnyOneIndexFileMayBeGoneToo) {
  write(900);
  int tried = 0;
  for (const auto& name : *test->disk.list("data/commitlog")) {
    if (name.ends_with(".index")) {
      SCOPED_TRACE(name);
      written = 0;
      write(900);
      ASSERT_TRUE(test->disk.remove(kManifest));
      ASSERT_TRUE(test->disk.remove("data/commitlog/" + name));
      expect_nothing_lost();
      ++tried;
    }
  }
  EXPECT_GE(tried, 2);
}

INSTANTIATE_TEST_SUITE_P(Modes, ManifestLoss,
                         testing::Values(Case{IoMode::buffered, End::stopped}, Case{IoMode::buffered, End::killed},
                                         Case{IoMode::direct, End::stopped}, Case{IoMode::direct, End::killed}));

TEST(ManifestLossBehindACut, WhatTheCutHidAndASegmentThatItDroppedDoNotComeBack) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TestLog test{seed};
    ASSERT_TRUE(test.start());
    test.create(1, 0);
    test.append_now(test.find(1, 0), {.values = {value_of(0)}}, Acks::all);
    for (int i = 1; i < 600; ++i) {  // acks=1 on a safe topic: written, not synced
      test.append(test.find(1, 0), {.values = {value_of(i)}}, Acks::leader);
      if (i % 40 == 0) {
        test.queue.run_for(1);
      }
    }
    test.crash(sim::CrashMode::power_cut);
    ASSERT_TRUE(test.start());
    const auto end = test.find(1, 0)->log_end();
    const auto value = "new " + std::to_string(end.value);
    test.append_now(test.find(1, 0), {.values = {value}}, Acks::all);
    test.crash(sim::CrashMode::process_death);
    ASSERT_TRUE(test.disk.remove(kManifest));
    ASSERT_TRUE(test.start());
    const auto records = test.read_all(*test.find(1, 0));
    ASSERT_TRUE(records) << to_string(records.error());
    ASSERT_EQ(records->back().offset, end);
    EXPECT_EQ(records->back().value, value);
    EXPECT_EQ(std::ssize(*records), end.value + 1);
  }
}

}  // namespace
}  // namespace weir::log
