// What nobody reads is checked all the same, and an index file that is damaged is made again while the log runs.
#include "log/scrub.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/errno_error.hpp"
#include "base/logging.hpp"
#include "log/test_log_read.hpp"

namespace weir::log {
namespace {

constexpr int kRecords = 900;

std::string value_of(int number) {
  auto value = std::to_string(number) + ":";
  value.resize(3'000, static_cast<char>('a' + number % 26));
  return value;
}
std::string path(const std::string& name) {
  return "data/commitlog/" + name;
}

class ScrubTest : public testing::TestWithParam<IoMode> {
 protected:
  void SetUp() override {
    test.options.io = GetParam();
    test.options.scrub_bytes_per_second = 4 << 20;
    ASSERT_TRUE(test.start());
    for (int i = 0; i < 2; ++i) {
      test.create(1, i);
    }
    for (int i = 0; i < kRecords; ++i) {
      test.append(test.find(1, i % 2), {.values = {value_of(i)}});
      if (i % 20 == 0) {
        test.queue.run_for(1);
      }
    }
    test.queue.run_for(100);
    ASSERT_GE(test.log->statistics().segments, 3);
  }
  void run_a_pass() { test.queue.run_for(5'000); }
  std::size_t count() {
    std::size_t total = 0;
    for (int i = 0; i < 2; ++i) {
      const auto records = test.read_all(*test.find(1, i));
      EXPECT_TRUE(records) << to_string(records.error());
      total += records ? records->size() : 0;
    }
    return total;
  }
  // Of a byte in the middle of a record of the first segment.
  std::int64_t place_of(int number) {
    const auto bytes = *read_file(test.disk, path(segment_file_name(SegmentId{1})), 1LL << 30);
    return static_cast<std::int64_t>(as_text(bytes).find(value_of(number))) + 1'500;
  }
  static std::ptrdiff_t count_of(const LogCapture& lines, std::string_view text) {
    return std::ranges::count_if(lines.lines(), [&](const auto& line) { return line.find(text) != std::string::npos; });
  }
  TestLog test{61};
};

TEST_P(ScrubTest, FindsAndNamesWhatNobodyReadsOnceAndSaysNothingOfASoundLog) {
  {
    const LogCapture lines;
    run_a_pass();
    EXPECT_EQ(lines.lines().size(), 0U);
  }
  ASSERT_TRUE(test.disk.damage(path(segment_file_name(SegmentId{1})), place_of(11), std::byte{4}));
  test.kill();
  ASSERT_TRUE(test.start());
  const LogCapture lines;
  test.options.scrub_interval_ms = 1'000;
  run_a_pass();
  run_a_pass();
  EXPECT_EQ(count_of(lines, "offsets 5 to 5 of topic"), 1);
  EXPECT_EQ(lines.lines().size(), 1U);
  EXPECT_EQ(count(), static_cast<std::size_t>(kRecords - 1));
}

TEST_P(ScrubTest, AnIndexFileWithAnyDamagedByteIsMadeAgainFromItsSegment) {
  const auto file = path(index_file_name(SegmentId{1}));
  const auto good = *read_file(test.disk, file, 1LL << 30);
  for (std::int64_t at = 0; at < std::ssize(good); at += std::ssize(good) / 23) {
    SCOPED_TRACE("byte " + std::to_string(at) + " of " + std::to_string(good.size()));
    test.kill();
    ASSERT_TRUE(test.start());
    ASSERT_TRUE(test.disk.damage(file, at, std::byte{0x40}));
    const LogCapture lines;
    run_a_pass();
    EXPECT_EQ(count_of(lines, "has been made again"), 1);
    EXPECT_EQ(read_file(test.disk, file, 1LL << 30)->size(), good.size());
    EXPECT_EQ(count(), static_cast<std::size_t>(kRecords));
    test.kill();
    ASSERT_TRUE(test.start());
    run_a_pass();
    EXPECT_EQ(count_of(lines, "amage"), 2) << "found, made again, and sound from then on";
  }
}

TEST_P(ScrubTest, AReaderThatMeetsADamagedIndexHasItMadeAgainAndReadsOnAWhileLater) {
  const auto file = path(index_file_name(SegmentId{1}));
  test.kill();
  test.options.scrub_bytes_per_second = 0;
  const auto size = *(*test.disk.open(file, {}))->size();
  // The first section: behind the header, far from the directory, which a start would find to be damaged.
  ASSERT_TRUE(test.disk.damage(file, 4'096 + 100, std::byte{0x40}));
  ASSERT_GT(size, 8'192);
  ASSERT_TRUE(test.start());
  const LogCapture lines;
  const auto partition = test.find(1, 0);
  const auto first = test.read_all(*partition);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, Errc::corrupt);
  test.queue.run_until_idle();
  EXPECT_EQ(count_of(lines, "has been made again"), 1);
  EXPECT_EQ(count(), static_cast<std::size_t>(kRecords));
  EXPECT_FALSE(test.log->statistics().read_only);
}

TEST_P(ScrubTest, ASegmentThatCannotBeReadIsToldAndTheOthersAreChecked) {
  ASSERT_TRUE(test.disk.damage(path(segment_file_name(SegmentId{2})), 200'000, std::byte{4}));
  test.disk.set_fault_hook([](auto operation, const auto& where) {
    return operation == sim::DiskOperation::read && where.ends_with(segment_file_name(SegmentId{1}))
               ? std::optional{Error{Errc::disk_failed, 5}}
               : std::nullopt;
  });
  const LogCapture lines;
  run_a_pass();
  EXPECT_EQ(
      count_of(lines, segment_file_name(SegmentId{1}) + " cannot be read: disk failed: Input/output error (errno 5)"),
      1);
  EXPECT_EQ(count_of(lines, "damage in data/commitlog/" + segment_file_name(SegmentId{2})), 1);
  test.disk.set_fault_hook({});
}

TEST_P(ScrubTest, WithoutDescriptorsItSaysNothingOfAFileAndLooksAtAllOfThemLater) {
  ASSERT_TRUE(test.disk.damage(path(segment_file_name(SegmentId{1})), place_of(11), std::byte{4}));
  const LogCapture lines;
  // At the first segment, and at an index file when its segment has been read.
  for (const auto* of : {".log", ".index"}) {
    test.disk.set_fault_hook([of](auto what, const auto& name) -> std::optional<Error> {
      const bool is_hit = what == sim::DiskOperation::open && name.ends_with(of);
      return is_hit ? std::optional{error_of_errno(EMFILE)} : std::nullopt;
    });
    run_a_pass();
    EXPECT_EQ(count_of(lines, "cannot be read"), 0);
    EXPECT_EQ(count_of(lines, ".index is damaged"), 0);
  }
  test.disk.set_fault_hook({});
  run_a_pass();
  EXPECT_EQ(count_of(lines, "offsets 5 to 5 of topic"), 1);
  EXPECT_EQ(count_of(lines, ".index is damaged"), 0);
}

TEST_P(ScrubTest, ASegmentThatRetentionRemovesIsLetGo) {
  PartitionRules all_gone;
  all_gone.retention_ms = 0;
  test.queue.run_for(300);  // within the first segment
  for (int i = 0; i < 2; ++i) {
    test.log->set_rules({topic_number(1), i}, all_gone);
  }
  test.log->run_retention([] {});
  test.queue.run_for(600);
  EXPECT_FALSE(test.disk.exists(path(segment_file_name(SegmentId{1}))));
}

INSTANTIATE_TEST_SUITE_P(BothModes, ScrubTest, testing::Values(IoMode::buffered, IoMode::direct));

}  // namespace
}  // namespace weir::log
