// A disk that fills up: producers are refused early, the rest goes on, and all of it comes back by itself.
#include <gtest/gtest.h>

#include "base/logging.hpp"
#include "log/test_log_read.hpp"

namespace weir::log {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kVolume = 64 * kMiB;  // so the reserve is 2 MiB

class FullDisk : public testing::TestWithParam<IoMode> {
 protected:
  FullDisk() {
    test.options.io = GetParam();
    test.options.segment_bytes = 4 * kMiB;
    test.disk.set_capacity(kVolume);
  }
  std::optional<Error> append(const std::string& text, std::size_t size = 200'000, Acks acks = Acks::all) {
    auto value = text + ":";
    value.resize(size, '.');
    auto reply = test.append(test.find(1, 0), {.values = {value}}, acks);
    test.queue.run_for(50);
    if (!reply->has_value()) {
      return Error{Errc::timed_out};
    }
    if (!(*reply)->error) {
      accepted.push_back(value);
    }
    return (*reply)->error;
  }
  // Appends until one is refused; how many went in.
  int fill() {
    for (int i = 0; i < 1'000; ++i) {
      if (const auto error = append(std::to_string(i))) {
        EXPECT_EQ(error->code, Errc::disk_full) << to_string(*error);
        return i;
      }
    }
    ADD_FAILURE() << "nothing was refused";
    return 0;
  }
  void expect_all_there() {
    const auto records = test.read_all(*test.find(1, 0));
    ASSERT_TRUE(records) << to_string(records.error());
    ASSERT_EQ(records->size(), accepted.size());
    for (std::size_t i = 0; i < accepted.size(); ++i) {
      EXPECT_EQ((*records)[i].value, accepted[i]);
    }
  }
  void start() {
    test.options.space_check_ms = 100;
    ASSERT_TRUE(test.start());
    test.create(1, 0);
    test.queue.run_for(50);
  }

  TestLog test{11};
  std::vector<std::string> accepted;
};

TEST_P(FullDisk, ProducersAreRefusedBeforeItIsFullAndReadsCommitsAndDeletesGoOn) {
  start();
  const LogCapture lines;
  EXPECT_GT(fill(), 100);
  EXPECT_TRUE(test.log->statistics().short_of_space);
  EXPECT_FALSE(test.log->statistics().read_only);
  EXPECT_TRUE(std::ranges::any_of(
      lines.lines(), [](const auto& line) { return line.find("producers are refused") != std::string::npos; }));
  EXPECT_EQ(append("a commit", 100, Acks::internal), std::nullopt);
  expect_all_there();
  bool moved = false;
  test.log->move_start(test.find(1, 0), Offset{50}, *test.runtime->io.front(),
                       [&](Result<Offset> start) { moved = start && *start == Offset{50}; });
  test.queue.run_for(100);
  EXPECT_TRUE(moved);
}

TEST_P(FullDisk, WritesComeBackByThemselvesWhenThereIsRoom) {
  start();
  fill();
  test.disk.set_capacity(4 * kVolume);
  test.queue.run_for(1'000);
  EXPECT_FALSE(test.log->statistics().short_of_space);
  EXPECT_EQ(append("again"), std::nullopt);
  expect_all_there();
}

TEST_P(FullDisk, RetentionMakesTheRoomThatIsMissing) {
  start();
  fill();
  bool passed = false;
  test.log->move_start(test.find(1, 0), Offset{static_cast<std::int64_t>(accepted.size())}, *test.runtime->io.front(),
                       [](Result<Offset>) {});
  test.queue.run_for(100);
  test.log->run_retention([&] { passed = true; });
  test.queue.run_for(2'000);
  EXPECT_TRUE(passed);
  EXPECT_EQ(append("again"), std::nullopt);
}

TEST_P(FullDisk, WhatAnotherProgramTookMakesAnswersWaitAndNothingIsLostOrSaidTwice) {
  start();
  for (int i = 0; i < 30; ++i) {
    ASSERT_EQ(append(std::to_string(i)), std::nullopt);
  }
  test.disk.set_capacity(test.disk.used_bytes());  // not a byte is left, and nobody has looked yet
  std::vector<Reply> replies;
  for (int i = 0; i < 30; ++i) {
    replies.push_back(test.append(test.find(1, 0), {.values = {std::string(200'000, 'x')}}));
  }
  test.queue.run_for(3'000);
  EXPECT_FALSE(test.log->statistics().read_only);
  test.disk.set_capacity(kVolume);
  test.queue.run_for(10'000);
  std::int64_t end = 30;
  for (const auto& reply : replies) {
    ASSERT_TRUE(reply->has_value()) << "each gets its answer";
    if (!(*reply)->error) {
      EXPECT_EQ((*reply)->base_offset.value, end++);
    } else {
      EXPECT_EQ((*reply)->error->code, Errc::disk_full);
    }
  }
  const auto records = test.read_all(*test.find(1, 0));
  ASSERT_TRUE(records) << to_string(records.error());
  EXPECT_EQ(std::ssize(*records), end);
  EXPECT_EQ(append("again"), std::nullopt);
}

TEST_P(FullDisk, AStartOnAFullDiskServesReadsAndTakesWritesWhenThereIsRoom) {
  start();
  fill();
  test.crash(sim::CrashMode::process_death);
  test.disk.set_capacity(test.disk.used_bytes());
  ASSERT_TRUE(test.start());
  test.queue.run_for(200);
  expect_all_there();
  EXPECT_EQ(append("refused").value_or(Error{Errc::closed}).code, Errc::disk_full);
  test.disk.set_capacity(4 * kVolume);
  test.queue.run_for(2'000);
  EXPECT_EQ(append("again"), std::nullopt);
  expect_all_there();
  test.crash(sim::CrashMode::power_cut);
  ASSERT_TRUE(test.start());
  test.queue.run_for(200);
  expect_all_there();
}

TEST_P(FullDisk, AStopOnAFullDiskEndsAndLosesNothing) {
  start();
  fill();
  test.disk.set_capacity(test.disk.used_bytes());
  static_cast<void>(append("a commit", 100, Acks::internal));
  bool stopped = false;
  test.log->stop([&](auto) { stopped = true; });
  test.queue.run_for(5'000);
  EXPECT_TRUE(stopped);
  test.kill();
  test.disk.set_capacity(4 * kVolume);
  ASSERT_TRUE(test.start());
  test.queue.run_for(200);
  expect_all_there();
}

TEST_P(FullDisk, AFullInodeTableIsToldAsWhatItIsAndKeepsProducersOutUntilFilesCanBeMade) {
  start();
  EXPECT_FALSE(append("first"));
  const auto files = [&] { return static_cast<std::int64_t>(test.disk.list("data/commitlog")->size() + 1); };
  const LogCapture lines;
  test.disk.set_file_limit(files());
  test.queue.run_for(500);
  EXPECT_TRUE(test.log->statistics().short_of_space);
  EXPECT_GT(test.log->statistics().free_bytes, 32 * kMiB);
  const auto refused = append("refused");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, Errc::disk_full);
  test.queue.run_for(5'000);
  EXPECT_TRUE(test.log->statistics().short_of_space) << "for as long as it is so, though bytes are free";
  const auto told = std::ranges::count_if(
      lines.lines(), [](const auto& line) { return line.find("more files (inodes; `df -i`)") != std::string::npos; });
  EXPECT_EQ(told, 1) << "once, not with every look";
  test.disk.set_file_limit(1'000);
  test.queue.run_for(500);
  EXPECT_FALSE(test.log->statistics().short_of_space);
  EXPECT_FALSE(append("second"));
  expect_all_there();
}

INSTANTIATE_TEST_SUITE_P(BothModes, FullDisk, testing::Values(IoMode::buffered, IoMode::direct));

}  // namespace
}  // namespace weir::log
