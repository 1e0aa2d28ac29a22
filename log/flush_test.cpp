// flush.ms: how long an async topic may have what no sync covers; and what a topic shows that is async no more.
#include <gtest/gtest.h>

#include "log/flush_timer.hpp"
#include "log/test_log_read.hpp"

namespace weir::log {
namespace {

constexpr Millis kFlushMs = 1'000;

PartitionRules async_within(Millis flush_ms) {
  PartitionRules rules;
  rules.flush = FlushMode::async;
  rules.flush_ms = flush_ms;
  return rules;
}

TEST(FlushTimer, OneTimerForTheEarliestDeadline) {
  FlushTimer timer;
  EXPECT_EQ(timer.written(100, 50), 150);
  EXPECT_EQ(timer.written(110, 50), std::nullopt) << "the one at 150 comes first";
  EXPECT_EQ(timer.written(120, 10), 130) << "a topic with less patience";
  EXPECT_TRUE(timer.is_due(130));
  timer.all_is_synced();
  EXPECT_EQ(timer.next(), std::nullopt);
  EXPECT_FALSE(timer.is_due(150)) << "the other timer, in vain";
  EXPECT_EQ(timer.written(200, 50), 250);
  timer.all_is_synced();
  EXPECT_EQ(timer.written(240, 50), std::nullopt) << "a timer is set already";
  EXPECT_FALSE(timer.is_due(250));
  EXPECT_EQ(timer.next(), 290);
  EXPECT_EQ(timer.written(1, kNoFlushMs), std::nullopt);
}

class Flush : public testing::TestWithParam<IoMode> {
 protected:
  void start(std::uint64_t seed = 1) {
    test = std::make_unique<TestLog>(seed);
    test->options.io = GetParam();
    test->options.raise_epochs = [this](std::span<KnownPartition* const> partitions) -> Result<void> {
      for (auto* partition : partitions) {
        raised.push_back(partition->key);
        partition->leader_epoch = LeaderEpoch{partition->leader_epoch.value + 1};
      }
      return {};
    };
    ASSERT_TRUE(test->start());
  }
  // Visible, and no sync waits for it.
  void append(const std::shared_ptr<Partition>& to, std::size_t bytes = 10) {
    ASSERT_FALSE(test->append_now(to, {.values = {std::string(bytes, 'x')}}).error);
    ASSERT_EQ(to->high_watermark(), to->log_end());
  }
  void set(const std::shared_ptr<Partition>& of, const PartitionRules& rules) {
    test->log->set_rules(of->key(), rules);
    for (auto& known : test->known) {
      known.rules = known.key == of->key() ? rules : known.rules;
    }
  }
  std::size_t records_after_a_power_cut() {
    test->crash(sim::CrashMode::power_cut);
    EXPECT_TRUE(test->start());
    const auto read = test->read_all(*test->find(1, 0));
    return read ? read->size() : 0;
  }
  std::unique_ptr<TestLog> test;
  std::vector<PartitionKey> raised;
};

TEST_P(Flush, NothingStaysUnsyncedForLongerThanFlushMsSaysThoughNobodyAppendsAnyMore) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    start(seed);
    const auto partition = test->create(1, 0, async_within(kFlushMs));
    test->queue.run_until_idle();
    append(partition);
    test->queue.run_for(kFlushMs - 1);
    EXPECT_EQ(partition->durable_end(), Offset{0}) << "seed " << seed;
    append(partition);
    test->queue.run_for(1);
    EXPECT_EQ(partition->durable_end(), Offset{2}) << "seed " << seed;
    append(partition);
    test->queue.run_for(kFlushMs);
    EXPECT_EQ(partition->durable_end(), Offset{3}) << "and so again, seed " << seed;
    EXPECT_EQ(records_after_a_power_cut(), 3U) << "seed " << seed;
  }
}

TEST_P(Flush, TheMostImpatientTopicSyncsForAllAndOneWithoutABoundAsksForNone) {
  start();
  const auto patient = test->create(1, 0, async_within(100 * kFlushMs));
  const auto impatient = test->create(2, 0, async_within(kFlushMs));
  const auto without = test->create(3, 0, async_within(kNoFlushMs));
  test->queue.run_until_idle();
  append(without);
  test->queue.run_for(1'000 * kFlushMs);
  EXPECT_EQ(without->durable_end(), Offset{0});
  append(patient);
  test->queue.run_for(kFlushMs);
  EXPECT_EQ(patient->durable_end(), Offset{0});
  append(impatient);
  test->queue.run_for(kFlushMs);
  for (const auto& partition : {patient, impatient, without}) {
    EXPECT_EQ(partition->durable_end(), Offset{1});
  }
  const auto syncs = test->disk.count(sim::DiskOperation::sync);
  test->queue.run_for(1'000 * kFlushMs);
  EXPECT_EQ(test->disk.count(sim::DiskOperation::sync), syncs) << "all is synced, so no timer asks again";
}

TEST_P(Flush, AFlushMsOfNothingSyncsWithEachWriteAndNobodyWaitsForIt) {
  start();
  const auto partition = test->create(1, 0, async_within(0));
  append(partition);
  EXPECT_EQ(partition->durable_end(), Offset{1});
}

TEST_P(Flush, AFullSegmentThatTheKeeperHasSyncedCounts) {
  start();
  const auto partition = test->create(1, 0, async_within(kFlushMs));
  for (int i = 0; i < 40; ++i) {
    append(partition, 90'000);
  }
  ASSERT_GE(test->log->statistics().segments, 3);
  test->queue.run_for(kFlushMs);
  EXPECT_EQ(partition->durable_end(), Offset{40});
  EXPECT_EQ(records_after_a_power_cut(), 40U);
}

TEST_P(Flush, AShorterFlushMsHoldsForWhatIsThereAlready) {
  start();
  const auto partition = test->create(1, 0, async_within(kNoFlushMs));
  test->queue.run_until_idle();
  append(partition);
  set(partition, async_within(kNoFlushMs / 2));
  test->queue.run_until_idle();
  EXPECT_EQ(partition->durable_end(), Offset{1});
  append(partition);
  set(partition, async_within(kNoFlushMs));
  test->queue.run_until_idle();
  EXPECT_EQ(partition->durable_end(), Offset{1}) << "a longer one asks for nothing";
}

TEST_P(Flush, ATopicThatIsAsyncNoMoreShowsNothingThatAPowerCutTakes) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    start(seed);
    const auto partition = test->create(1, 0, async_within(kNoFlushMs));
    test->queue.run_until_idle();
    append(partition);
    set(partition, {});
    test->queue.run_until_idle();
    ASSERT_EQ(partition->durable_end(), Offset{1}) << "seed " << seed;
    ASSERT_EQ(records_after_a_power_cut(), 1U) << "seed " << seed;
  }
}

TEST_P(Flush, WhatComesBehindTheChangeIsVisibleByTheSyncOnly) {
  start();
  const auto partition = test->create(1, 0, async_within(kNoFlushMs));
  test->queue.run_until_idle();
  auto& disk = test->disk;
  disk.set_fault_hook([](auto operation, const auto& path) {
    return operation == sim::DiskOperation::sync && path.ends_with(".log") ? std::optional{Error{Errc::disk_failed, 5}}
                                                                           : std::nullopt;
  });
  append(partition);
  set(partition, {});
  const auto reply = test->append(partition, {.values = {"behind"}}, Acks::leader);
  test->queue.run_until_idle();
  EXPECT_EQ(partition->high_watermark(), Offset{1}) << "no sync came";
  disk.set_fault_hook({});
}

TEST_P(Flush, APowerCutBetweenTheChangeAndItsSyncRaisesTheEpoch) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    raised.clear();
    start(seed);
    const auto partition = test->create(1, 0, async_within(kNoFlushMs));
    test->queue.run_until_idle();
    append(partition);
    const auto key = partition->key();
    set(partition, {});
    lost += records_after_a_power_cut() == 0 ? 1 : 0;
    test->queue.run_until_idle();
    EXPECT_EQ(raised, std::vector{key}) << "seed " << seed;
    EXPECT_EQ(test->find(1, 0)->leader_epoch(), LeaderEpoch{1}) << "seed " << seed;
  }
  EXPECT_GT(lost, 0) << "else this shows nothing";
}

INSTANTIATE_TEST_SUITE_P(BothModes, Flush, testing::Values(IoMode::buffered, IoMode::direct));

}  // namespace
}  // namespace weir::log
