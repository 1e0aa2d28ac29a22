// What a start makes of tails, states and index files of which only a part is there.
#include <gtest/gtest.h>

#include "base/logging.hpp"
#include "log/index_file.hpp"
#include "log/index_layout.hpp"
#include "log/segment_scan.hpp"
#include "log/test_log_read.hpp"

namespace weir::log {
namespace {

std::string segment_path(int number) {
  return "data/commitlog/" + segment_file_name(SegmentId{static_cast<std::uint64_t>(number)});
}
std::string index_path(int number) {
  return "data/commitlog/" + index_file_name(SegmentId{static_cast<std::uint64_t>(number)});
}

std::string value_of(int number, std::size_t size = 4'000) {
  auto text = std::to_string(number) + ":";
  text.resize(size, '.');
  return text;
}

PartitionRules async_rules() {
  PartitionRules rules;
  rules.flush = FlushMode::async;
  return rules;
}

// Cuts a segment's file where its last entry of `kind` begins.
void cut_before_last(TestLog& test, int number, EntryKind kind) {
  const auto file = *test.disk.open(segment_path(number), {});
  std::vector<std::byte> bytes(kSegmentHeaderSize);
  ASSERT_TRUE(file->read_at(0, bytes));
  const auto header = decode_segment_header(bytes);
  ASSERT_TRUE(header);
  SegmentScan scan{*file, header->seed, static_cast<std::int64_t>(kSegmentHeaderSize), *file->size()};
  std::int64_t last = 0;
  for (auto step = scan.next(); step && *step == SegmentScan::Step::entry; step = scan.next()) {
    last = scan.entry().header.kind == kind ? scan.entry().position : last;
  }
  ASSERT_GT(last, 0);
  ASSERT_TRUE(file->truncate(last));
  ASSERT_TRUE(file->sync());
}

TEST(RecoveryTail, ATailThatIsMissingAsAWholeEndsTheLogAndNoLaterSegmentCounts) {
  TestLog test{11};
  ASSERT_TRUE(test.start());
  test.create(1, 0, async_rules());
  // Sealing fails, so that the first segment is full, the second begun, and neither of them in an index file.
  test.disk.set_fault_hook([](sim::DiskOperation operation, const std::string& path) -> std::optional<Error> {
    const bool is_index = operation == sim::DiskOperation::create && path.ends_with(".index.tmp");
    return is_index ? std::optional{Error{Errc::disk_failed}} : std::nullopt;
  });
  const LogCapture lines;
  for (int i = 0; i < 400; ++i) {
    test.append(test.find(1, 0), {.values = {value_of(i)}}, Acks::leader);
    if (i % 20 == 0) {
      test.queue.run_until_idle();
    }
  }
  test.queue.run_until_idle();
  test.crash(sim::CrashMode::process_death);
  test.disk.set_fault_hook({});
  ASSERT_TRUE(test.disk.exists(segment_path(2)));
  ASSERT_NO_FATAL_FAILURE(cut_before_last(test, 1, EntryKind::group));
  ASSERT_TRUE(test.start());
  const auto records = test.read_all(*test.find(1, 0));
  ASSERT_TRUE(records) << to_string(records.error());
  EXPECT_GT(records->size(), 100U);
  EXPECT_EQ(std::ssize(*records), test.find(1, 0)->high_watermark().value) << "no hole";
  EXPECT_EQ(test.log->statistics().recovery_damaged_ranges, 0);
}

TEST(RecoveryTail, ProducersAreKnownEvenIfTheStateThatRepeatsThemIsTorn) {
  TestLog test{12};
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  TestBatch batch{.values = {"a"}, .producer_epoch = 0, .base_sequence = 0};
  for (int i = 0; i < 6'000; ++i) {
    batch.producer_id = i;
    test.append(test.find(1, 0), batch);
    if (i % 100 == 0) {
      test.queue.run_until_idle();
    }
  }
  test.queue.run_until_idle();
  ASSERT_TRUE(test.stop());
  ASSERT_TRUE(test.disk.exists(segment_path(2)));
  ASSERT_FALSE(test.disk.exists(segment_path(4)));
  ASSERT_NO_FATAL_FAILURE(cut_before_last(test, test.disk.exists(index_path(2)) ? 3 : 2, EntryKind::state));
  const LogCapture lines;
  ASSERT_TRUE(test.start());
  for (const auto id : {0, 3'000, 5'999}) {
    batch.producer_id = id;
    EXPECT_TRUE(test.append_now(test.find(1, 0), batch).duplicate) << id;
  }
}

TEST(RecoveryTail, ADeletedPartitionsNumberIsNotGivenAgainThoughTheNextSegmentIsLost) {
  TestLog test{13};
  ASSERT_TRUE(test.start());
  test.create(1, 0, async_rules());
  test.create(2, 0, async_rules());
  test.append_now(test.find(2, 0), {.values = {"of the deleted topic"}});
  int i = 0;
  const auto fill_to = [&](std::int64_t segments) {
    while (test.log->statistics().segments < segments) {
      test.append_now(test.find(1, 0), {.values = {value_of(i++)}});
    }
  };
  fill_to(2);
  test.log->remove({topic_number(2), 0});
  test.known.pop_back();
  fill_to(3);
  test.queue.run_until_idle();
  test.crash(sim::CrashMode::process_death);
  const auto last = *test.disk.open(segment_path(3), {});
  ASSERT_TRUE(last->truncate(0));
  ASSERT_TRUE(last->sync());
  ASSERT_TRUE(test.start());
  const auto fresh = test.create(3, 0, async_rules());
  EXPECT_GT(fresh->local().value, 2U);
  test.append_now(fresh, {.values = {"new"}});
  const auto records = test.read_all(*fresh);
  ASSERT_TRUE(records) << to_string(records.error());
  EXPECT_EQ(*records, (std::vector<TestLog::Record>{{{0}, "new"}}));
}

TEST(RecoveryTail, ABadStateInTheNewestIndexFileIsMadeAgainFromItsSegment) {
  TestLog test{14};
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  int i = 0;
  while (test.log->statistics().segments < 3) {
    test.append_now(test.find(1, 0), {.values = {value_of(i++)}});
  }
  test.crash(sim::CrashMode::process_death);
  const auto bytes = *(*test.disk.open(index_path(2), {.read_only = true}))->map();
  const auto header = decode_index_header(bytes.view());
  ASSERT_TRUE(header);
  const auto index = *IndexFile::open(bytes, header->segment, header->seed);
  ASSERT_TRUE(test.disk.damage(index_path(2), index->row(0).state_position + 40, std::byte{1}));
  const LogCapture lines;
  const auto started = test.start();
  ASSERT_TRUE(started) << to_string(started.error());
  const auto records = test.read_all(*test.find(1, 0));
  ASSERT_TRUE(records) << to_string(records.error());
  EXPECT_EQ(std::ssize(*records), i);
}

// Synced ones too: they may have been async when somebody saw what is gone.
TEST(RecoveryTail, PartitionsGetANewEpochOnceTheMachineRestarted) {
  TestLog test{15};
  std::size_t asked = 0;
  test.options.raise_epochs = [&](std::span<KnownPartition* const> partitions) -> Result<void> {
    asked += partitions.size();
    for (auto* partition : partitions) {
      partition->leader_epoch = LeaderEpoch{partition->leader_epoch.value + 1};
    }
    return {};
  };
  ASSERT_TRUE(test.start());
  test.create(1, 0, async_rules());
  test.create(2, 0);
  const auto append = [&] {
    test.append_now(test.find(1, 0), {.values = {"a"}});
    test.append_now(test.find(2, 0), {.values = {"b"}});
  };
  append();
  test.crash(sim::CrashMode::process_death);
  ASSERT_TRUE(test.start());
  EXPECT_EQ(asked, 0U) << "the machine went on, so nothing written is lost";
  append();
  ASSERT_TRUE(test.stop());
  test.crash(sim::CrashMode::power_cut);
  ASSERT_TRUE(test.start(true));
  EXPECT_EQ(asked, 0U) << "a clean stop loses nothing";
  append();
  test.crash(sim::CrashMode::power_cut);
  const LogCapture lines;
  ASSERT_TRUE(test.start());
  EXPECT_EQ(asked, 2U);
  test.queue.run_until_idle();
  const auto partition = test.find(1, 0);
  const auto end = partition->high_watermark();
  EXPECT_EQ(partition->leader_epoch(), LeaderEpoch{1});
  EXPECT_EQ(test.find(2, 0)->leader_epoch(), LeaderEpoch{1});
  EXPECT_EQ(test.log->epoch_end(*partition, LeaderEpoch{0}).end_offset, end);
  append();
  EXPECT_EQ(test.log->epoch_at(*partition, end), LeaderEpoch{1});
  EXPECT_EQ(test.log->epoch_at(*partition, Offset{0}), LeaderEpoch{0});
}

// Their offsets are given again: consumers that are behind them must be able to notice.
TEST(RecoveryTail, PartitionsGetANewEpochOnceFilesOfTheLogAreGone) {
  TestLog test{16};
  std::size_t asked = 0;
  test.options.segment_bytes = 1 << 20;
  test.options.raise_epochs = [&](std::span<KnownPartition* const> partitions) -> Result<void> {
    asked += partitions.size();
    for (auto* partition : partitions) {
      partition->leader_epoch = LeaderEpoch{partition->leader_epoch.value + 1};
    }
    return {};
  };
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  for (int i = 0; i < 40; ++i) {
    test.append_now(test.find(1, 0), {.values = {std::string(100'000, 'a')}});
  }
  ASSERT_TRUE(test.stop());
  test.kill();
  const auto names = *test.disk.list("data/commitlog");
  auto segments = std::count_if(names.begin(), names.end(), [](const auto& name) { return name.ends_with(".log"); });
  ASSERT_GT(segments, 3);
  for (const auto& name : names) {
    if (name.ends_with(".log") && segments-- <= 2) {
      ASSERT_TRUE(test.disk.remove("data/commitlog/" + name));
    }
  }
  const LogCapture lines;
  ASSERT_TRUE(test.start(true));
  EXPECT_EQ(asked, 1U);
  EXPECT_TRUE(std::ranges::any_of(lines.lines(), [](const auto& line) {
    return line.find(".log is missing: what it had is not served") != line.npos;
  }));
}

}  // namespace
}  // namespace weir::log
