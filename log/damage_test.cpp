// Bytes on disk that are not what was written: what they touch is named and not served, all else is.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

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

// Damage in the segment that a start has to scan, at any place: entries of the log itself (states, created partitions,
// groups) and the file's header included.
class DamageBeforeAScan : public testing::TestWithParam<IoMode> {
 protected:
  static constexpr int kPartitions = 3;
  static constexpr int kEach = 8;
  static constexpr std::int64_t kPage = 4096;
  // Each record is a synced group of its own, in the second segment; the first one is sealed.
  void write_and_kill() {
    test.emplace(77);
    test->options.io = GetParam();
    ASSERT_TRUE(test->start());
    for (int i = 0; i < 3; ++i) {
      test->create(9, i);
      test->append_now(test->find(9, i), {.values = {std::string(400'000, '.')}});
    }
    for (int i = 0; i < kPartitions; ++i) {
      test->create(1, i);
    }
    for (int i = 0; i < kPartitions * kEach; ++i) {
      test->append_now(test->find(1, i % kPartitions), {.values = {value_of(i)}});
    }
    // Damage in the last group cannot be told from a torn tail: nothing of it is asked for.
    test->append_now(test->find(9, 2), {.values = {"the end"}});
    test->crash(sim::CrashMode::process_death);
    file = *read_file(test->disk, segment_path(2), 1LL << 30);
  }
  static std::string value_of(int number) {
    auto value = "<" + std::to_string(number) + ">";
    value.resize(3'000, static_cast<char>('a' + number));
    return value;
  }
  // Numbers of the records whose entry has a byte in [from, to) of the file.
  std::set<int> touched(std::int64_t from, std::int64_t to) const {
    constexpr std::int64_t kHeaders = 32 + 61 + 8;
    std::set<int> numbers;
    for (int i = 0; i < kPartitions * kEach; ++i) {
      const auto at = static_cast<std::int64_t>(as_text(file).find(value_of(i)));
      if (at - kHeaders < to && from < at + 3'000 + 16) {
        numbers.insert(i);
      }
    }
    return numbers;
  }
  // Pages with the header, the state, and from the created entries of the partitions on.
  std::vector<std::int64_t> pages_of_interest() const {
    const auto first = static_cast<std::int64_t>(as_text(file).find(value_of(0))) / kPage;
    const auto last = static_cast<std::int64_t>(as_text(file).find(value_of(kPartitions * kEach - 1))) / kPage;
    std::vector<std::int64_t> pages{0, 1};
    for (auto page = std::max<std::int64_t>(2, first - kPartitions - 1); page <= last; ++page) {
      pages.push_back(page);
    }
    return pages;
  }
  void write(std::int64_t at, Bytes bytes) {
    const auto opened = *test->disk.open(segment_path(2), {});
    ASSERT_TRUE(opened->write_at(at, {&bytes, 1}));
    ASSERT_TRUE(opened->sync());
  }
  // The start serves all but what was touched.
  void expect_all_but(std::set<int> gone) {
    ASSERT_TRUE(test->start());
    std::set<int> seen;
    for (int i = 0; i < kPartitions; ++i) {
      const auto records = test->read_all(*test->find(1, i));
      ASSERT_TRUE(records) << to_string(records.error());
      for (const auto& record : *records) {
        const auto number = std::stoi(record.value.substr(1));
        EXPECT_EQ(record.value, value_of(number));
        EXPECT_EQ(record.offset.value, number / kPartitions);
        EXPECT_TRUE(seen.insert(number).second);
      }
    }
    for (int i = 0; i < kPartitions * kEach; ++i) {
      EXPECT_EQ(seen.contains(i), !gone.contains(i)) << "record " << i;
    }
    EXPECT_EQ(test->read_all(*test->find(9, 0))->size(), 1U) << "the sealed segment is not concerned";
  }
  std::optional<TestLog> test;
  std::vector<std::byte> file;
};

TEST_P(DamageBeforeAScan, AFlippedByteCostsAtMostTheBatchThatItIsIn) {
  write_and_kill();
  for (const auto page : pages_of_interest()) {
    for (std::int64_t in_page = 0; in_page < kPage; in_page += in_page < 400 ? 53 : 1201) {
      const auto at = page * kPage + in_page;
      SCOPED_TRACE("byte " + std::to_string(at));
      write_and_kill();
      const std::array<std::byte, 1> flipped{file[static_cast<std::size_t>(at)] ^ std::byte{0x12}};
      write(at, flipped);
      expect_all_but(touched(at, at + 1));
    }
    if (HasFailure()) {
      return;
    }
  }
}

TEST_P(DamageBeforeAScan, AZeroedOrSwappedPageCostsWhatItHolds) {
  write_and_kill();
  for (const auto page : pages_of_interest()) {
    SCOPED_TRACE("page " + std::to_string(page));
    const auto at = page * kPage;
    write_and_kill();
    write(at, std::vector<std::byte>(kPage));
    expect_all_but(touched(at, at + kPage));
    write_and_kill();
    const auto two = Bytes{file}.subspan(static_cast<std::size_t>(at), 2 * kPage);
    write(at, two.subspan(kPage));
    write(at + kPage, two.first(kPage));
    expect_all_but(touched(at, at + 2 * kPage));
    if (HasFailure()) {
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(BothModes, DamageBeforeAScan, testing::Values(IoMode::buffered, IoMode::direct));

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
    Append append;
    append.partition = log->find(key);
    append.batch = make_valid_batch({.values = {std::to_string(i) + ":" + std::string(600'000, 'x')}});
    log->append(std::move(append));
  }
  queue.run_until_idle();
  log->stop([&](std::optional<LogPosition> end) { options.clean_end = end; });
  queue.run_until_idle();
  log.reset();
  {
    std::fstream file{folder.path() + "/commitlog/" + segment_file_name(SegmentId{1}),
                      std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(1'000'000);  // in the second batch
    file.put('!');
  }
  ASSERT_TRUE(options.clean_end);
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
  log->stop([](auto) {});
  queue.run_until_idle();
}

}  // namespace
}  // namespace weir::log
