// Memory topics by way of the CommitLog, on a simulated machine.
#include <gtest/gtest.h>

#include "base/logging.hpp"
#include "log/memory_store.hpp"
#include "log/test_log_read.hpp"
#include "sim/seams/seeds.hpp"

namespace weir::log {
namespace {

const PartitionRules kMemory{.memory = true};

TEST(MemoryTopics, AnswerAtOnceWhateverAcksSaysAndAllIsVisible) {
  TestLog test{1};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0, kMemory);
  EXPECT_EQ(test.append_now(partition, {.values = {"a", "b"}}).base_offset, Offset{0});
  const auto writes = test.disk.count(sim::DiskOperation::write);
  for (const auto acks : {Acks::leader, Acks::all, Acks::internal, Acks::none}) {
    test.append(partition, {.values = {"c"}}, acks);
    EXPECT_EQ(partition->high_watermark(), partition->log_end()) << "before anything else has run";
    EXPECT_EQ(partition->durable_end(), partition->log_end());
  }
  test.queue.run_until_idle();
  EXPECT_EQ(partition->log_end(), Offset{6});
  EXPECT_EQ(test.disk.count(sim::DiskOperation::write), writes) << "nothing of them is written";
  EXPECT_EQ(test.observer->seen.back().second, Offset{6});
  const auto records = test.read_all(*partition, {}, ReadFrom::memory_only);
  ASSERT_TRUE(records) << to_string(records.error());
  EXPECT_EQ(records->size(), 6U);
  EXPECT_EQ(records->front(), (TestLog::Record{{0}, "a"}));
  EXPECT_EQ(test.log->size_bytes(*partition) + 5 * kMemoryBatchOverhead,
            test.log->statistics().memory_topic_bytes_used);
}

TEST(MemoryTopics, TheFirstAppendWaitsForASyncedReservationAndTheNextBlockComesInTime) {
  TestLog test{2};
  test.options.memory_offsets_block = 100;
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0, kMemory);
  test.queue.run_until_idle();
  const auto syncs = test.disk.count(sim::DiskOperation::sync);
  const auto first = test.append(partition, {.values = {"a"}}, Acks::none);
  EXPECT_EQ(partition->log_end(), Offset{0});
  test.queue.run_until_idle();
  EXPECT_EQ(partition->log_end(), Offset{1});
  EXPECT_GT(test.disk.count(sim::DiskOperation::sync), syncs);
  for (int i = 0; i < 1000; ++i) {
    const auto end = partition->log_end();
    test.append(partition, {.values = {"b"}}, Acks::none);
    ASSERT_EQ(partition->log_end(), end + 1) << "no other append waits";
    test.queue.run_until_idle();
  }
}

TEST(MemoryTopics, ABurstOverTheBlockKeepsItsOrderAndEveryAnswer) {
  TestLog test{3};
  test.options.memory_offsets_block = 16;
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0, kMemory);
  std::vector<Reply> replies;
  for (int i = 0; i < 100; ++i) {
    replies.push_back(test.append(
        partition, {.values = {std::to_string(i)}, .producer_id = 5, .producer_epoch = 0, .base_sequence = i}));
  }
  const auto large = test.append(partition, {.values = std::vector<std::string>(50, "more than a block")});
  test.queue.run_until_idle();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(replies[static_cast<std::size_t>(i)]->has_value());
    EXPECT_EQ((*replies[static_cast<std::size_t>(i)])->base_offset, Offset{i});
  }
  EXPECT_EQ((*large)->base_offset, Offset{100});
  EXPECT_EQ(test.read_all(*partition)->size(), 150U);
}

TEST(MemoryTopics, AreEmptyAfterARestartAndGoOnWithOffsetsThatNobodyHad) {
  for (const bool clean : {true, false}) {
    TestLog test{4};
    test.options.memory_offsets_block = 100;
    ASSERT_TRUE(test.start());
    auto partition = test.create(1, 0, kMemory);
    test.create(2, 0);
    test.append_now(partition, {.values = {"a", "b"}});
    test.append_now(test.find(2, 0), {.values = {"stays"}});
    for (int again = 1; again <= 3; ++again) {
      if (clean) {
        partition.reset();
        ASSERT_TRUE(test.stop());
      } else {
        test.crash(sim::CrashMode::power_cut);
      }
      ASSERT_TRUE(test.start(clean));
      partition = test.find(1, 0);
      const Offset begin{100 * again};
      EXPECT_EQ(partition->log_start(), begin);
      EXPECT_EQ(partition->high_watermark(), begin);
      EXPECT_EQ(test.log->epoch_end(*partition, LeaderEpoch{0}).end_offset, begin);
      EXPECT_EQ(test.log->read(*partition, Offset{0}, {100, true, begin}, ReadFrom::may_block).error().code,
                Errc::out_of_range);
      EXPECT_TRUE(test.read_all(*partition)->empty());
      EXPECT_EQ(test.log->records_between(*partition, Offset{0}, begin).value(), 0);
      EXPECT_EQ(test.append_now(partition, {.values = {"c"}}).base_offset, begin);
      EXPECT_EQ(test.read_all(*partition)->size(), 1U);
      EXPECT_EQ(test.read_all(*test.find(2, 0))->size(), 1U);
    }
  }
}

TEST(MemoryTopics, OneThatNobodyWroteToBeginsAtZeroAgain) {
  TestLog test{5};
  ASSERT_TRUE(test.start());
  test.create(1, 0, kMemory);
  ASSERT_TRUE(test.stop());
  ASSERT_TRUE(test.start(true));
  EXPECT_EQ(test.append_now(test.find(1, 0), {.values = {"a"}}).base_offset, Offset{0});
}

TEST(MemoryTopics, AProducersBatchIsTakenOnceAndAGapIsRefused) {
  TestLog test{6};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0, kMemory);
  TestBatch batch{.values = {"a", "b"}, .timestamp = 77, .producer_id = 9, .producer_epoch = 0, .base_sequence = 0};
  EXPECT_EQ(test.append_now(partition, batch).base_offset, Offset{0});
  const auto again = test.append_now(partition, batch);
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.base_offset, Offset{0});
  batch.base_sequence = 3;
  EXPECT_EQ(test.append_now(partition, batch).error->code, Errc::out_of_sequence);
  EXPECT_EQ(partition->log_end(), Offset{2});
}

TEST(MemoryTopics, TimesStartsAndRetentionWorkAsInTheLog) {
  TestLog test{7};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0, kMemory);
  for (int i = 0; i < 10; ++i) {
    test.append_now(partition, {.values = {"a", "b"}, .timestamp = 1000 + i});
  }
  const auto end = partition->high_watermark();
  EXPECT_EQ((*test.log->find_by_time(*partition, 1003, end))->offset, Offset{6});
  EXPECT_EQ((*test.log->find_by_time(*partition, 0, end))->offset, Offset{0});
  EXPECT_FALSE(test.log->find_by_time(*partition, 1010, end)->has_value());
  EXPECT_EQ((*test.log->find_max_timestamp(*partition, end))->offset, Offset{18});
  std::optional<Result<Offset>> moved;
  const auto move = [&](Offset to) {
    test.log->move_start(partition, to, *test.runtime->io.front(), [&](Result<Offset> start) { moved = start; });
    test.queue.run_until_idle();
  };
  move(Offset{21});
  EXPECT_EQ(moved->error().code, Errc::out_of_range);
  move(Offset{7});
  EXPECT_EQ(**moved, Offset{7});
  EXPECT_EQ((*test.log->find_by_time(*partition, 1003, end))->offset, Offset{7});
  EXPECT_EQ(test.log->records_between(*partition, Offset{0}, Offset{100}).value(), 13);
  EXPECT_EQ(test.read_all(*partition)->size(), 13U);
  PartitionRules rules = kMemory;
  rules.retention_bytes = 0;
  test.log->set_rules(partition->key(), rules);
  test.log->run_retention([] {});
  test.queue.run_until_idle();
  EXPECT_EQ(partition->log_start(), Offset{20});
  EXPECT_EQ(test.log->statistics().memory_topic_bytes_used, 0);
}

TEST(MemoryTopics, OverTheBudgetTheOldestOfTheSamePartitionGoesFirstThenThatOfTheLargest) {
  const LogCapture lines;
  const auto metrics = std::make_unique<Metrics>();  // outlives the log
  TestLog test{8};
  test.options.metrics = metrics.get();
  test.options.memory_bytes = 100'000;
  test.options.topic_name = [](const Uuid&) { return std::string{"quotes"}; };
  ASSERT_TRUE(test.start());
  const auto small = test.create(1, 0, kMemory);
  const auto large = test.create(2, 0, kMemory);
  const auto fresh = test.create(3, 0, kMemory);
  const std::string value(9'000, 'x');
  for (int i = 0; i < 3; ++i) {
    test.append_now(small, {.values = {value}});
  }
  for (int i = 0; i < 7; ++i) {
    test.append_now(large, {.values = {value}});
  }
  EXPECT_EQ(metrics->memory_batches_dropped.value(), 0U);
  test.append_now(small, {.values = {value}});
  EXPECT_EQ(small->log_start(), Offset{1}) << "its own oldest";
  EXPECT_EQ(large->log_start(), Offset{0});
  test.append_now(fresh, {.values = {value}});
  EXPECT_EQ(fresh->log_start(), Offset{0}) << "it has nothing older";
  EXPECT_EQ(large->log_start(), Offset{1});
  EXPECT_EQ(small->log_start(), Offset{1});
  EXPECT_EQ(metrics->memory_batches_dropped.value(), 2U);
  EXPECT_EQ(test.append_now(fresh, {.values = {std::string(99'900, 'y')}}).error->code, Errc::too_large);
  EXPECT_EQ(metrics->memory_batches_dropped.value(), 2U) << "what is refused drops nothing";
  EXPECT_FALSE(test.append_now(fresh, {.values = {std::string(95'000, 'y')}}).error);
  EXPECT_EQ(test.read_all(*fresh)->size(), 1U);
  EXPECT_EQ(small->log_start(), small->log_end());
  EXPECT_LE(test.log->statistics().memory_topic_bytes_used, 100'000);
  const auto told = std::ranges::count_if(
      lines.lines(), [](const auto& line) { return line.find("of topic quotes, partition 0") != std::string::npos; });
  EXPECT_EQ(told, 1) << "at most one line in ten seconds";
}

TEST(MemoryTopics, ADeletedOneGivesItsMemoryBackAndAnswersWhoWaits) {
  TestLog test{9};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0, kMemory);
  const auto other = test.create(2, 0, kMemory);
  test.append_now(partition, {.values = {std::string(5000, 'x')}});
  const auto waits = test.append(other, {.values = {"a"}});
  test.log->remove(partition->key());
  test.log->remove(other->key());
  EXPECT_EQ(test.log->statistics().memory_topic_bytes_used, 0);
  test.queue.run_until_idle();
  EXPECT_EQ((*waits)->error->code, Errc::not_found);
  EXPECT_EQ(test.append_now(partition, {.values = {"b"}}).error->code, Errc::not_found);
}

TEST(MemoryTopics, GoOnToTheEndOfTheReservedBlockWhenTheLogTakesNoMore) {
  TestLog test{10};
  test.options.memory_offsets_block = 8;
  ASSERT_TRUE(test.start());
  auto partition = test.create(1, 0, kMemory);
  const auto other = test.create(2, 0);
  test.append_now(partition, {.values = {"a"}});
  test.disk.set_fault_hook([](sim::DiskOperation operation, const std::string& path) -> std::optional<Error> {
    return operation == sim::DiskOperation::sync && path.ends_with(".log") ? std::optional{Error{Errc::disk_failed, 5}}
                                                                           : std::nullopt;
  });
  EXPECT_TRUE(test.append_now(other, {.values = {"b"}}).error);
  ASSERT_TRUE(test.log->statistics().read_only);
  for (int i = 1; i < 8; ++i) {
    ASSERT_EQ(test.append_now(partition, {.values = {"c"}}).base_offset, Offset{i});
  }
  EXPECT_EQ(test.append_now(partition, {.values = {"d"}}).error->code, Errc::read_only);
  EXPECT_EQ(test.read_all(*partition)->size(), 8U);
  test.disk.set_fault_hook({});
  test.crash(sim::CrashMode::process_death);
  ASSERT_TRUE(test.start());
  partition = test.find(1, 0);
  EXPECT_EQ(partition->log_end(), Offset{8});
  EXPECT_EQ(test.append_now(partition, {.values = {"e"}}).error->code, Errc::read_only);
}

TEST(MemoryTopics, OnAFullDiskAppendsGoOnToTheEndOfTheBlockAndBeyondItWhenThereIsRoom) {
  TestLog test{11};
  test.options.memory_offsets_block = 8;
  test.options.segment_bytes = 4 << 20;
  test.options.space_check_ms = 100;
  test.disk.set_capacity(64 << 20);
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0, kMemory);
  const auto other = test.create(2, 0);
  const auto append = [&](const std::shared_ptr<Partition>& to, std::size_t size) {
    const auto reply = test.append(to, {.values = {std::string(size, 'x')}});
    test.queue.run_for(50);
    WEIR_CHECK(reply->has_value());
    return **reply;
  };
  ASSERT_FALSE(append(partition, 10).error);
  int filled = 0;
  while (!append(other, 200'000).error && filled < 1000) {
    ++filled;
  }
  ASSERT_TRUE(test.log->statistics().short_of_space);
  for (int i = 1; i < 8; ++i) {
    ASSERT_EQ(append(partition, 10).base_offset, Offset{i});
  }
  EXPECT_EQ(append(partition, 10).error->code, Errc::disk_full);
  test.disk.set_capacity(256 << 20);
  test.queue.run_for(1000);
  EXPECT_EQ(append(partition, 10).base_offset, Offset{8});
}

TEST(MemoryTopics, AfterTheStopAppendsAreRefused) {
  TestLog test{12};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0, kMemory);
  test.append_now(partition, {.values = {"a"}});
  bool stopped = false;
  test.log->stop([&](auto) { stopped = true; });
  EXPECT_EQ(test.append_now(partition, {.values = {"b"}}).error->code, Errc::closed);
  EXPECT_TRUE(stopped);
}

// The reservation and the partition's created entry each have a copy in another block.
TEST(MemoryTopics, ADamagedBlockOfTheLogBringsNoOffsetBack) {
  for (const auto io : {IoMode::buffered, IoMode::direct}) {
    for (std::int64_t block = 1; block < 6; ++block) {
      const LogCapture lines;
      TestLog test{13};
      test.options.io = io;
      test.options.memory_offsets_block = 100;
      ASSERT_TRUE(test.start());
      test.create(2, 0);
      const auto partition = test.create(1, 0, kMemory);
      test.append_now(partition, {.values = {"a"}});
      for (int i = 0; i < 3; ++i) {  // what is behind the damage tells it from a torn tail
        test.append_now(test.find(2, 0), {.values = {"behind"}});
      }
      test.crash(sim::CrashMode::process_death);
      const auto file = std::string{"data/commitlog/00000000000000000001.log"};
      for (std::int64_t at = 0; at < 1024; at += 8) {
        static_cast<void>(test.disk.damage(file, 4096 * block + at, std::byte{0x10}));
      }
      const auto started = test.start();
      ASSERT_TRUE(started) << to_string(started.error());
      EXPECT_GE(test.find(1, 0)->log_start(), Offset{100}) << "block " << block;
    }
  }
}

// What a client may know of a memory partition: which value it got or read at an offset. No other may ever be there.
class MemoryLife {
 public:
  explicit MemoryLife(std::uint64_t seed) : random_(seed), test_(seed), seed_(seed) {
    test_.options.memory_offsets_block = 4 + static_cast<std::int64_t>(random_.below(40));
    test_.options.memory_bytes = 20'000;
    test_.options.delta_bytes = 16 << 10;
    test_.options.io = random_.chance(2) ? IoMode::direct : IoMode::buffered;
  }
  void run() {
    ASSERT_TRUE(test_.start());
    test_.create(1, 0, kMemory);
    test_.create(2, 0, kMemory);
    test_.create(3, 0);
    for (int life = 0; life < 4; ++life) {
      ASSERT_NO_FATAL_FAILURE(live()) << "seed " << seed_;
      test_.crash(random_.chance(2) ? sim::CrashMode::power_cut : sim::CrashMode::process_death);
      ASSERT_NO_FATAL_FAILURE(start_again()) << "seed " << seed_;
    }
  }
  std::uint64_t cut_at = 0;  // the disk operation that ends each life; 0: one that the seed picks

 private:
  struct Sent {
    int topic;
    std::vector<std::string> values;
    Reply reply;
  };
  void live() {
    test_.disk.crash_at_operation(cut_at > 0 ? cut_at : 1 + random_.below(60));
    sent_.clear();
    for (int step = 0; step < 300 && !test_.disk.crashed(); ++step) {
      const int topic = 1 + static_cast<int>(random_.below(3));
      std::vector<std::string> values;
      for (auto count = 1 + random_.below(6); count > 0; --count) {
        values.push_back(std::to_string(next_value_++) + std::string(random_.below(topic == 3 ? 3000 : 300), '.'));
      }
      sent_.push_back({topic, values, test_.append(test_.find(topic, 0), {.values = values})});
      for (auto turns = random_.below(8); turns > 0 && test_.queue.ready() > 0; --turns) {
        test_.queue.step();
      }
      note_answers();
      read();
    }
  }
  void note_answers() {
    for (auto& one : sent_) {
      if (!one.reply->has_value() || (*one.reply)->error || one.topic == 3) {
        continue;
      }
      for (std::size_t i = 0; i < one.values.size(); ++i) {
        know(one.topic, (*one.reply)->base_offset.value + static_cast<std::int64_t>(i), one.values[i]);
      }
      one.reply->reset();
    }
  }
  void read() {
    for (const int topic : {1, 2}) {
      const auto partition = test_.find(topic, 0);
      const auto records = test_.read_all(*partition);
      ASSERT_TRUE(records) << to_string(records.error());
      for (const auto& record : *records) {
        know(topic, record.offset.value, record.value);
      }
      ASSERT_EQ(std::ssize(*records), partition->high_watermark() - partition->log_start());
    }
    ASSERT_LE(test_.log->statistics().memory_topic_bytes_used, test_.options.memory_bytes);
  }
  void know(int topic, std::int64_t offset, const std::string& value) {
    const auto at = known_.emplace(std::pair{topic, offset}, value).first;
    ASSERT_EQ(at->second, value) << "seed " << seed_ << ": offset " << offset << " of topic " << topic
                                 << " was given twice";
  }
  void start_again() {
    while (random_.chance(3)) {  // a start that dies too
      test_.disk.crash_at_operation(1 + random_.below(20));
      if (const auto started = test_.start(); started && random_.chance(2)) {
        test_.queue.run_until_idle();
      }
      test_.crash(random_.chance(2) ? sim::CrashMode::power_cut : sim::CrashMode::process_death);
    }
    const auto started = test_.start();
    ASSERT_TRUE(started) << to_string(started.error());
    for (const int topic : {1, 2}) {
      const auto partition = test_.find(topic, 0);
      ASSERT_EQ(partition->log_start(), partition->high_watermark());
      const auto last = known_.lower_bound({topic + 1, 0});
      if (last != known_.begin() && std::prev(last)->first.first == topic) {
        ASSERT_GT(partition->log_start().value, std::prev(last)->first.second) << "topic " << topic;
      }
    }
  }

  Random random_;
  TestLog test_;
  const std::uint64_t seed_;
  int next_value_ = 0;
  std::vector<Sent> sent_;
  std::map<std::pair<int, std::int64_t>, std::string> known_;
};

TEST(MemoryTopicsSim, NoOffsetThatSomebodySawIsGivenToAnotherRecordAfterACrashAtAnyDiskOperation) {
  for (const auto seed : sim::seeds(150)) {
    MemoryLife life{seed};
    life.run();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
  }
}

TEST(MemoryTopicsSim, NorWhenEveryDiskOperationOfALifeIsTheLastOneInTurn) {
  for (std::uint64_t cut = 1; cut <= 60; ++cut) {
    MemoryLife life{1000 + cut};
    life.cut_at = cut;
    life.run();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "cut at operation " << cut;
  }
}

}  // namespace
}  // namespace weir::log
