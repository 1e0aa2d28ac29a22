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

TEST(CommitLog, LeaderIsAnsweredAfterTheWriteAndAllAfterTheSync) {
  TestLog test{3};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0);
  test.queue.run_until_idle();
  test.disk.set_fault_hook([](sim::DiskOperation operation, const std::string& path) -> std::optional<Error> {
    return operation == sim::DiskOperation::sync && path.ends_with(".log") ? std::optional{Error{Errc::disk_failed, 5}}
                                                                           : std::nullopt;
  });
  const auto leader = test.append(partition, {.values = {"a"}}, Acks::leader);
  const auto all = test.append(partition, {.values = {"b"}}, Acks::all);
  test.queue.run_until_idle();
  EXPECT_FALSE((*leader)->error);
  EXPECT_EQ((*all)->error, (Error{Errc::disk_failed}));
  EXPECT_EQ(partition->written_end(), Offset{2});
  EXPECT_EQ(partition->high_watermark(), Offset{0}) << "what is not durable is not visible";
  test.disk.set_fault_hook({});
  EXPECT_EQ(test.append_now(partition, {.values = {"c"}}).error, (Error{Errc::read_only}));
  EXPECT_TRUE(test.log->statistics().read_only);
  EXPECT_TRUE(test.stop());
}

TEST(CommitLog, AnAsyncTopicIsVisibleOnceWrittenAndNeverSynced) {
  TestLog test{4};
  ASSERT_TRUE(test.start());
  PartitionRules rules;
  rules.flush = FlushMode::async;
  const auto partition = test.create(1, 0, rules);
  test.queue.run_until_idle();
  const auto syncs = test.disk.count(sim::DiskOperation::sync);
  EXPECT_FALSE(test.append_now(partition, {.values = {"a"}}, Acks::all).error);
  EXPECT_EQ(partition->high_watermark(), Offset{1});
  EXPECT_EQ(partition->durable_end(), Offset{0});
  EXPECT_EQ(test.disk.count(sim::DiskOperation::sync), syncs);
  EXPECT_FALSE(test.append_now(partition, {.values = {"b"}}, Acks::internal).error);
  EXPECT_EQ(test.disk.count(sim::DiskOperation::sync), syncs + 1);
  EXPECT_EQ(partition->durable_end(), Offset{2});
}

TEST(CommitLog, ManyThatWaitShareOneSync) {
  TestLog test{5};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0);
  test.queue.run_until_idle();
  const auto syncs = test.disk.count(sim::DiskOperation::sync);
  std::vector<Reply> replies;
  std::vector<Append> requests;
  for (int i = 0; i < 100; ++i) {
    replies.push_back(std::make_shared<std::optional<AppendOutcome>>());
    requests.push_back(test.request(partition, {.values = {text_of(i)}}, Acks::all, replies.back()));
  }
  test.log->append(requests);
  test.queue.run_until_idle();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ((*replies[static_cast<std::size_t>(i)])->base_offset, Offset{i});
  }
  EXPECT_EQ(test.disk.count(sim::DiskOperation::sync), syncs + 1);
}

TEST(CommitLog, ADuplicateGetsTheFirstAnswerAndAGapIsRefusedWithoutATrace) {
  TestLog test{6};
  ASSERT_TRUE(test.start());
  auto partition = test.create(1, 0);
  TestBatch batch{.values = {"a", "b"}, .timestamp = 77, .producer_id = 9, .producer_epoch = 0, .base_sequence = 0};
  EXPECT_EQ(test.append_now(partition, batch).base_offset, Offset{0});
  const auto again = test.append_now(partition, batch);
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.base_offset, Offset{0});
  EXPECT_EQ(again.log_append_time, 77);
  TestBatch gap = batch;
  gap.base_sequence = 3;
  EXPECT_EQ(test.append_now(partition, gap).error->code, Errc::out_of_sequence);
  EXPECT_EQ(partition->log_end(), Offset{2});
  for (const bool clean : {true, false}) {  // the state travels in state entries and in the scan
    if (clean) {
      ASSERT_TRUE(test.stop());
    } else {
      test.crash(sim::CrashMode::process_death);
    }
    ASSERT_TRUE(test.start(clean));
    partition = test.find(1, 0);
    EXPECT_TRUE(test.append_now(partition, batch).duplicate);
  }
  TestBatch next = batch;
  next.base_sequence = 2;
  EXPECT_EQ(test.append_now(partition, next).base_offset, Offset{2});
  TestBatch old = next;
  old.base_sequence = 4;
  old.producer_epoch = 1;
  EXPECT_EQ(test.append_now(partition, old).error->code, Errc::out_of_sequence) << "a new epoch begins at 0";
}

TEST(CommitLog, ADuplicateOfABatchThatIsNotDurableYetWaitsForTheSameSync) {
  TestLog test{7};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0);
  test.queue.run_until_idle();
  test.disk.set_fault_hook([](sim::DiskOperation operation, const std::string& path) -> std::optional<Error> {
    return operation == sim::DiskOperation::sync && path.ends_with(".log") ? std::optional{Error{Errc::disk_failed, 5}}
                                                                           : std::nullopt;
  });
  const TestBatch batch{.values = {"a"}, .producer_id = 9, .producer_epoch = 0, .base_sequence = 0};
  const auto first = test.append(partition, batch);
  const auto second = test.append(partition, batch);
  test.queue.run_until_idle();
  EXPECT_EQ((*first)->error, (Error{Errc::disk_failed}));
  EXPECT_EQ((*second)->error, (Error{Errc::disk_failed})) << "it must not promise what was not kept";
}

TEST(CommitLog, ABatchOverHalfTheImageIsRefusedAndOneOfHalfOfItIsKept) {
  TestLog test{8};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0);
  const auto half = static_cast<std::size_t>(test.options.image_bytes / 2);
  EXPECT_EQ(test.append_now(partition, {.values = {text_of(1, half)}}).error->code, Errc::too_large);
  EXPECT_EQ(partition->log_end(), Offset{0});
  const auto kept = text_of(1, half - 200);
  EXPECT_FALSE(test.append_now(partition, {.values = {kept}}).error);
  EXPECT_EQ(test.read_all(*partition)->front().value, kept) << "larger than a segment, in one of its own";
}

class LargeBatches : public testing::TestWithParam<IoMode> {};
INSTANTIATE_TEST_SUITE_P(CommitLog, LargeBatches, testing::Values(IoMode::buffered, IoMode::direct),
                         [](const auto& mode) { return mode.param == IoMode::direct ? "direct" : "buffered"; });

TEST_P(LargeBatches, ABatchThatIsLargerThanTheImageIsTakenWhereOneOfItsSizeCanCome) {
  TestLog test{13};
  test.options.io = GetParam();
  const auto size = static_cast<std::size_t>(5 * test.options.image_bytes / 2);
  test.options.batch_bytes_max = std::int64_t{1} << 24U;
  ASSERT_TRUE(test.start());
  auto partition = test.create(1, 0);
  std::vector<std::string> sent;
  std::vector<Reply> answers;
  for (int i = 0; i < 4; ++i) {  // all at once: small ones before, between and behind
    for (auto value : {text_of(i, 100), text_of(100 + i, size), text_of(200 + i, 5'000)}) {
      answers.push_back(test.append(partition, {.values = {value}}));
      sent.push_back(std::move(value));
    }
  }
  test.queue.run_until_idle();
  for (const auto& answer : answers) {
    ASSERT_TRUE(*answer);
    EXPECT_FALSE((*answer)->error);
  }
  const auto values_of = [&] {
    const auto records = test.read_all(*partition);
    std::vector<std::string> values;
    for (const auto& record : *records) {
      values.push_back(record.value);
    }
    return values;
  };
  EXPECT_EQ(values_of(), sent);
  test.kill();
  ASSERT_TRUE(test.start());
  partition = test.find(1, 0);
  EXPECT_EQ(values_of(), sent);
}

TEST(CommitLog, ADeletedPartitionRefusesAppendsAndAReCreatedTopicInheritsNothing) {
  TestLog test{9};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0);
  test.append_now(partition, {.values = {"a"}});
  test.log->remove(partition->key());
  EXPECT_EQ(test.find(1, 0), nullptr);
  EXPECT_EQ(test.append_now(partition, {.values = {"b"}}).error->code, Errc::not_found);
  test.known.clear();
  const auto other = test.create(2, 0);
  EXPECT_EQ(test.append_now(other, {.values = {"c"}}).base_offset, Offset{0});
  EXPECT_NE(other->local(), partition->local());
}

TEST(CommitLog, TheMetadataImageDecidesAtTheStartWhichPartitionsThereAre) {
  TestLog test{10};
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  test.create(2, 0);
  test.append_now(test.find(1, 0), {.values = {"a"}});
  test.append_now(test.find(2, 0), {.values = {"b"}});
  test.crash(sim::CrashMode::process_death);
  test.known.erase(test.known.begin());
  test.known.push_back({{topic_number(3), 7}, {}, LeaderEpoch{4}});
  ASSERT_TRUE(test.start());
  EXPECT_EQ(test.find(1, 0), nullptr);
  EXPECT_EQ(test.read_all(*test.find(2, 0))->size(), 1U);
  const auto created = test.find(3, 7);
  ASSERT_NE(created, nullptr);
  EXPECT_EQ(created->leader_epoch(), LeaderEpoch{4});
  EXPECT_EQ(test.append_now(created, {.values = {"c"}}).base_offset, Offset{0});
  // A number that was deleted does not come back with its key.
  test.crash(sim::CrashMode::process_death);
  test.known.push_back({{topic_number(1), 0}, {}, LeaderEpoch{0}});
  ASSERT_TRUE(test.start());
  EXPECT_EQ(test.find(1, 0)->log_end(), Offset{0});
}

TEST(CommitLog, ANewLeaderEpochOfTheImageBeginsAtTheLogEnd) {
  TestLog test{11};
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  test.append_now(test.find(1, 0), {.values = {"a", "b"}});
  test.crash(sim::CrashMode::power_cut);
  test.known.front().leader_epoch = LeaderEpoch{3};
  ASSERT_TRUE(test.start());
  test.append_now(test.find(1, 0), {.values = {"c"}});
  for (int again = 0; again < 2; ++again) {
    const auto partition = test.find(1, 0);
    EXPECT_EQ(partition->leader_epoch(), LeaderEpoch{3});
    const auto old = test.log->epoch_end(*partition, LeaderEpoch{0});
    EXPECT_EQ(old.end_offset, Offset{2});
    EXPECT_EQ(old.epoch, LeaderEpoch{0});
    EXPECT_EQ(test.log->epoch_end(*partition, LeaderEpoch{3}).end_offset, Offset{3});
    EXPECT_EQ(test.log->epoch_end(*partition, LeaderEpoch{4}).end_offset, Offset{-1});
    ASSERT_TRUE(test.stop());
    ASSERT_TRUE(test.start(true));
  }
}

TEST(CommitLog, EveryOffsetOfManySegmentsIsReadFromImageAndFilesAcrossRestarts) {
  TestLog test{12};
  ASSERT_TRUE(test.start());
  for (int topic = 1; topic <= 3; ++topic) {
    test.create(topic, 0);
  }
  constexpr int kBatches = 2'000;
  for (int i = 0; i < kBatches; ++i) {
    const auto size = static_cast<std::size_t>(i % 40 == 0 ? 20'000 : 5 + i % 3'000);
    test.append(test.find(1 + i % 3, 0), {.values = {text_of(i, size), text_of(i)}}, Acks::leader);
    if (i % 50 == 0) {
      test.queue.run_until_idle();
    }
  }
  test.queue.run_until_idle();
  EXPECT_GE(test.log->statistics().segments, 4);
  for (int life = 0; life < 3; ++life) {
    for (int topic = 1; topic <= 3; ++topic) {
      const auto partition = test.find(topic, 0);
      ASSERT_NE(partition, nullptr);
      for (const auto bytes_max : {std::size_t{1}, std::size_t{50'000}, std::size_t{10'000'000}}) {
        const auto records = test.read_all(*partition, {}, ReadFrom::may_block, bytes_max);
        ASSERT_TRUE(records) << to_string(records.error());
        ASSERT_EQ(std::ssize(*records), partition->high_watermark().value);
        for (std::size_t at = 0; at < records->size(); ++at) {
          const int number = static_cast<int>(at / 2) * 3 + topic - 1;
          ASSERT_EQ(std::stoi((*records)[at].value.substr(7)), number);
        }
      }
    }
    if (life == 0) {
      test.crash(sim::CrashMode::process_death);
      ASSERT_TRUE(test.start());
    } else {
      ASSERT_TRUE(test.stop());
      ASSERT_TRUE(test.start(true));
    }
  }
}

// 80 bytes of state each: 15,000 partitions have more than the smallest segment holds.
TEST_P(LargeBatches, PartitionsWhoseStateIsLargerThanASegmentHoldUpNothing) {
  TestLog test{9};
  test.options.io = GetParam();
  test.options.segment_bytes = 1 << 20;
  ASSERT_TRUE(test.start());
  constexpr int kPartitions = 15'000;
  for (int i = 0; i < kPartitions; ++i) {
    test.create(1, i);
  }
  for (int i = 0; i < 300; ++i) {
    ASSERT_FALSE(test.append_now(test.find(1, kPartitions - 1 - i), {.values = {"value " + std::to_string(i)}}).error);
  }
  EXPECT_LT(test.log->statistics().segments, 8);
  ASSERT_TRUE(test.stop());
  ASSERT_TRUE(test.start(true));
  EXPECT_FALSE(test.append_now(test.find(1, kPartitions - 1), {.values = {"again"}}).error);
  EXPECT_EQ(test.read_all(*test.find(1, kPartitions - 300))->size(), 1U);
}

TEST(CommitLog, LimitsGiveWholeBatchesBelowTheBoundAndTheFirstOneOnlyWhenAsked) {
  TestLog test{13};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0);
  for (int i = 0; i < 4; ++i) {
    test.append_now(partition, {.values = {text_of(i, 500), "x"}});
  }
  const auto size = static_cast<std::size_t>(test.log->size_bytes(*partition)) / 4;
  const auto read = [&](Offset from, ReadLimits limits) {
    return test.log->read(*partition, from, limits, ReadFrom::may_block);
  };
  EXPECT_EQ(read(Offset{0}, {size - 1, false, Offset{8}})->batches.size(), 0U);
  EXPECT_EQ(read(Offset{0}, {size - 1, true, Offset{8}})->batches.size(), size);
  EXPECT_EQ(read(Offset{1}, {3 * size - 1, false, Offset{8}})->batches.size(), 2 * size) << "the batch that holds it";
  EXPECT_EQ(read(Offset{0}, {10 * size, true, Offset{5}})->batches.size(), 2 * size) << "whole below the bound";
  EXPECT_TRUE(read(Offset{8}, {10 * size, true, Offset{8}})->batches.empty());
  EXPECT_EQ(read(Offset{9}, {10 * size, true, Offset{8}}).error().code, Errc::out_of_range);
}

TEST(CommitLog, MovingTheStartIsDurableHidesWhatIsBelowAndNeverGoesBack) {
  TestLog test{14};
  ASSERT_TRUE(test.start());
  auto partition = test.create(1, 0);
  for (int i = 0; i < 10; ++i) {
    test.append_now(partition, {.values = {text_of(i)}});
  }
  const auto move = [&](Offset start) {
    std::optional<Result<Offset>> moved;
    test.log->move_start(partition, start, *test.runtime->io.front(), [&](Result<Offset> result) { moved = result; });
    test.queue.run_until_idle();
    return *moved;
  };
  EXPECT_EQ(*move(Offset{4}), Offset{4});
  EXPECT_EQ(*move(Offset{2}), Offset{4});
  EXPECT_EQ(move(Offset{11}).error().code, Errc::out_of_range);
  test.crash(sim::CrashMode::power_cut);
  ASSERT_TRUE(test.start());
  partition = test.find(1, 0);
  EXPECT_EQ(partition->log_start(), Offset{4});
  EXPECT_EQ(test.log->read(*partition, Offset{3}, {100, true, Offset{10}}, ReadFrom::may_block).error().code,
            Errc::out_of_range);
  EXPECT_EQ(test.read_all(*partition)->size(), 6U);
}

TEST(CommitLog, ColdDataNeedsTheDiskAndSaysSo) {
  TestLog test{15};
  ASSERT_TRUE(test.start());
  auto partition = test.create(1, 0);
  test.append_now(partition, {.values = {"a"}});
  test.crash(sim::CrashMode::process_death);
  ASSERT_TRUE(test.start());
  partition = test.find(1, 0);
  const auto outcome = test.log->read(*partition, Offset{0}, {100, true, Offset{1}}, ReadFrom::memory_only);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->needs_disk);
  EXPECT_TRUE(outcome->batches.empty());
  EXPECT_EQ(test.read_all(*partition)->size(), 1U);
}

TEST(CommitLog, SlowReadersHoldABoundedNumberOfImageBlocks) {
  TestLog test{77};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0);
  std::vector<ReadOutcome> held;
  for (int i = 0; i < 200; ++i) {
    const auto sent = test.append_now(partition, {.values = {text_of(i, 100'000)}});
    ASSERT_FALSE(sent.error);
    auto read = test.log->read(*partition, sent.base_offset, {1 << 20, true, partition->high_watermark()},
                               ReadFrom::memory_only);
    ASSERT_TRUE(read);
    ASSERT_FALSE(read->batches.empty());
    held.push_back(std::move(*read));
  }
  EXPECT_LE(test.log->statistics().image_bytes_used, 3 * test.options.image_bytes + (2 << 20));
}

}  // namespace
}  // namespace weir::log
