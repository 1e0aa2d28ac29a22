#include "log/commit_log.hpp"

#include <gtest/gtest.h>

#include "log/test_log_read.hpp"

namespace weir::log {
namespace {

std::string text_of(int number, std::size_t size = 10) {
  auto text = "record " + std::to_string(number) + " ";
  text.resize(std::max(size, text.size()), '.');
  return text;
}

TEST(CommitLog, AnAcknowledgedRecordIsVisibleAndReadFromTheImageWithoutTheDisk) {
  TestLog test{1};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0);
  const auto outcome = test.append_now(partition, {.values = {"a", "b"}});
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.base_offset, Offset{0});
  EXPECT_EQ(outcome.log_start, Offset{0});
  EXPECT_EQ(partition->high_watermark(), Offset{2});
  EXPECT_EQ(partition->durable_end(), Offset{2});
  EXPECT_EQ(test.append_now(partition, {.values = {"c"}}).base_offset, Offset{2});
  const auto reads_before = test.disk.count(sim::DiskOperation::read);
  EXPECT_EQ(*test.read_all(*partition, {}, ReadFrom::memory_only),
            (std::vector<TestLog::Record>{{{0}, "a"}, {{1}, "b"}, {{2}, "c"}}));
  EXPECT_EQ(test.disk.count(sim::DiskOperation::read), reads_before);
  EXPECT_EQ(test.observer->seen.back().second, Offset{3});
}

TEST(CommitLog, RecordsSurviveACleanStopAndAKillAlike) {
  for (const bool clean : {true, false}) {
    TestLog test{2};
    ASSERT_TRUE(test.start());
    auto partition = test.create(1, 0);
    for (int i = 0; i < 50; ++i) {
      ASSERT_FALSE(test.append_now(partition, {.values = {text_of(i)}}).error);
    }
    if (clean) {
      ASSERT_TRUE(test.stop());
    } else {
      test.crash(sim::CrashMode::power_cut);
    }
    ASSERT_TRUE(test.start(clean));
    partition = test.find(1, 0);
    ASSERT_NE(partition, nullptr);
    EXPECT_EQ(partition->high_watermark(), Offset{50});
    const auto records = test.read_all(*partition);
    ASSERT_TRUE(records) << to_string(records.error());
    ASSERT_EQ(records->size(), 50U);
    EXPECT_EQ((*records)[49].value, text_of(49));
    EXPECT_EQ(test.append_now(partition, {.values = {"more"}}).base_offset, Offset{50});
  }
}

}  // namespace
}  // namespace weir::log
