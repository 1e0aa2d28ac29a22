// Bytes on disk that are not what was written: what they touch is named and not served, all else is.
#include <gtest/gtest.h>

#include <fstream>

#include "base/logging.hpp"
#include "base/posix_disk.hpp"
#include "base/temporary_folder.hpp"
#include "log/test_log_read.hpp"

namespace weir::log {
namespace {

constexpr int kRecords = 12;

std::string segment_path(int number) {
  return "data/commitlog/" + segment_file_name(SegmentId{static_cast<std::uint64_t>(number)});
}

class Damage : public testing::TestWithParam<std::size_t> {
 protected:
  // A log whose records lie in a sealed segment that no start scans.
  void write_and_stop() {
    ASSERT_TRUE(test.start());
    test.create(1, 0);
    for (int i = 0; i < kRecords; ++i) {
      auto value = std::to_string(i) + ":";
      value.resize(GetParam(), static_cast<char>('a' + i));
      test.append_now(test.find(1, 0), {.values = {value}});
    }
    ASSERT_TRUE(test.stop());
  }
  // File position of the first byte of record `number`'s value.
  std::int64_t place_of(int number) {
    const auto bytes = *read_file(test.disk, segment_path(1), 1LL << 30);
    const auto value = std::to_string(number) + ":" + std::string(16, static_cast<char>('a' + number));
    return static_cast<std::int64_t>(as_text(bytes).find(value));
  }
  std::vector<int> numbers_left() {
    std::vector<int> left;
    const auto records = test.read_all(*test.find(1, 0));
    EXPECT_TRUE(records) << to_string(records.error());
    for (const auto& record : *records) {
      EXPECT_EQ(std::stoi(record.value), record.offset.value);
      left.push_back(std::stoi(record.value));
    }
    return left;
  }
  TestLog test{21};
};

TEST_P(Damage, EveryFlippedByteOfABatchAndOfItsHeaderHidesThatBatchAndNoOther) {
  write_and_stop();
  const auto value = place_of(5);
  ASSERT_GT(value, 0);
  constexpr int kHeaders = 61 + 8 + 32;  // of the batch, of the record at most, of the entry
  const auto step = std::max<std::int64_t>(1, static_cast<std::int64_t>(GetParam()) / 40);
  std::vector<int> expected;
  for (int i = 0; i < kRecords; ++i) {
    if (i != 5) {
      expected.push_back(i);
    }
  }
  for (std::int64_t at = value - kHeaders + 8; at < value + static_cast<std::int64_t>(GetParam());
       at += at < value ? 1 : step) {
    SCOPED_TRACE("byte " + std::to_string(at - value));
    ASSERT_TRUE(test.disk.damage(segment_path(1), at, std::byte{0x41}));
    const LogCapture lines;
    ASSERT_TRUE(test.start(true));
    EXPECT_EQ(numbers_left(), expected);
    EXPECT_EQ(numbers_left(), expected);
    EXPECT_EQ(std::ranges::count_if(lines.lines(),
                                    [](const auto& line) {
                                      return line.find("offsets 5 to 5 of topic") != std::string::npos &&
                                             line.find(segment_path(1)) != std::string::npos;
                                    }),
              1)
        << "named once";
    const auto time = test.log->find_by_time(*test.find(1, 0), 0, test.find(1, 0)->high_watermark());
    EXPECT_TRUE(time && *time);
    test.kill();
    ASSERT_TRUE(test.disk.damage(segment_path(1), at, std::byte{0x41}));  // back as it was
  }
  ASSERT_TRUE(test.start(true));
  EXPECT_EQ(std::ssize(numbers_left()), kRecords);
}

INSTANTIATE_TEST_SUITE_P(SmallAndLarge, Damage, testing::Values(100, 5'000, 40'000));

// The same through sendfile, which only real files have.
TEST(DamageOnARealDisk, ALargeBatchIsCheckedBeforeItIsSentFromItsFile) {
  TemporaryFolder folder;
  PosixDisk disk;
  sim::EventQueue queue{1};
  sim::SimNetwork network{queue, 2};
  sim::SimRuntime process{queue, disk, network, 3};
  auto runtime = process.runtime();
  CommitLogOptions options;
  options.folder = folder.path();
  options.image_bytes = 4 << 20;
  options.retention_check_ms = 0;
  const PartitionKey key{topic_number(1), 0};
  const std::vector<KnownPartition> known{{key, {}, LeaderEpoch{0}}};
  SeenAdvances observer;
  auto log = CommitLog::open(options, runtime, known, observer).value();
  for (int i = 0; i < kRecords; ++i) {
    auto bytes = make_batch({.values = {std::to_string(i) + ":" + std::string(600'000, 'x')}});
    Append append;
    append.partition = log->find(key);
    append.facts = protocol::RecordBatchView::parse(bytes)->facts();
    append.batch = SharedBytes::adopt(std::move(bytes));
    log->append(std::move(append));
  }
  queue.run_until_idle();
  log->stop([] {});
  queue.run_until_idle();
  log.reset();
  {
    std::fstream file{folder.path() + "/commitlog/" + segment_file_name(SegmentId{1}),
                      std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(1'000'000);  // in the second batch
    file.put('!');
  }
  options.clean_start = true;
  log = CommitLog::open(options, runtime, known, observer).value();
  const auto partition = log->find(key);
  ASSERT_EQ(partition->high_watermark(), Offset{kRecords});
  const LogCapture lines;
  for (int round = 0; round < 2; ++round) {
    const auto read = log->read(*partition, Offset{0}, {64 << 20, true, Offset{kRecords}}, ReadFrom::may_block);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->batch_count, static_cast<std::size_t>(kRecords - 1));
    EXPECT_TRUE(std::ranges::all_of(read->batches.pieces(),
                                    [](const auto& piece) { return std::holds_alternative<FileRun>(piece); }));
  }
  EXPECT_EQ(std::ssize(lines.lines()), 1);
  log->stop([] {});
  queue.run_until_idle();
}

}  // namespace
}  // namespace weir::log
