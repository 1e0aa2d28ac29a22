// A replicated partition: appends as a follower, truncation, the bound of its high watermark.
#include <gtest/gtest.h>

#include "log/log_dump.hpp"
#include "log/log_partition.hpp"
#include "log/test_follower.hpp"

namespace weir::log {
namespace {

TestBatch batch(std::int64_t base, std::int32_t epoch, std::vector<std::string> values) {
  return {.base_offset = base, .values = std::move(values), .leader_epoch = epoch};
}
std::string large(char fill) {
  return std::string(90'000, fill);
}

class FollowerLog : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(test.start());
    test.create(1, 0, replicated());
  }
  std::shared_ptr<Partition> partition() const { return test.find(1, 0); }
  AppendOutcome follow(const TestBatch& one) { return follow_now(test, partition(), one); }
  Result<Offset> cut(std::int64_t end, std::int32_t epoch) { return truncate_now(test, partition(), end, epoch); }
  void bound(std::int64_t offset) {
    test.log->bound_high_watermark(partition(), Offset{offset});
    test.queue.run_until_idle();
  }
  std::string content() const {
    const auto all = read_to_end(test, *partition());
    EXPECT_TRUE(all) << to_string(all.error());
    std::string text;
    for (const auto& one : *all) {
      text += std::to_string(one.base) + "@" + std::to_string(one.epoch) + "=" + one.value.substr(0, 3) + " ";
    }
    return text;
  }
  void restart(sim::CrashMode mode = sim::CrashMode::power_cut) {
    test.crash(mode);
    ASSERT_TRUE(test.start());
  }
  const ProducerTable& producers() const { return std::static_pointer_cast<LogPartition>(partition())->role.producers; }
  // Until the segment before is sealed.
  void fill_a_segment(std::int64_t from, std::int32_t epoch, char fill) {
    const auto segments = test.log->statistics().segments;
    while (test.log->statistics().segments == segments) {
      ASSERT_FALSE(follow(batch(from++, epoch, {large(fill)})).error);
    }
  }

  TestLog test{7};
};

TEST_F(FollowerLog, KeepsOffsetsAndEpochsAndAllowsGaps) {
  EXPECT_EQ(follow(batch(5, 2, {"abc", "def"})).base_offset, Offset{5});
  EXPECT_FALSE(follow(batch(9, 2, {"ghi"})).error);
  EXPECT_FALSE(follow(batch(10, 4, {"jkl"})).error);
  for (int life = 0; life < 2; ++life) {
    EXPECT_EQ(content(), "5@2=abc 9@2=ghi 10@4=jkl ");
    EXPECT_EQ(partition()->log_end(), Offset{11});
    EXPECT_EQ(test.log->epoch_end(*partition(), LeaderEpoch{2}).end_offset, Offset{10});
    EXPECT_EQ(test.log->epoch_end(*partition(), LeaderEpoch{3}).epoch, LeaderEpoch{2});
    EXPECT_EQ(test.log->epoch_end(*partition(), LeaderEpoch{4}).end_offset, Offset{11}) << "the log end";
    EXPECT_EQ(test.log->epoch_at(*partition(), Offset{9}), LeaderEpoch{2});
    restart();
  }
}

TEST_F(FollowerLog, RefusesABatchThatBeginsBelowTheLogEndOrIsOfAnOlderEpoch) {
  EXPECT_FALSE(follow(batch(0, 3, {"abc", "def"})).error);
  EXPECT_EQ(follow(batch(1, 3, {"new"})).error, (Error{Errc::out_of_range, 1}));
  EXPECT_EQ(follow(batch(2, 2, {"new"})).error, (Error{Errc::stale_epoch, 2}));
  EXPECT_FALSE(follow(batch(2, 3, {"ghi"})).error) << "the edge";
  EXPECT_EQ(content(), "0@3=abc 2@3=ghi ");
}

TEST_F(FollowerLog, APartitionWithoutReplicasOrInMemoryIsUnsupported) {
  PartitionRules memory = replicated();
  memory.memory = true;
  for (const auto& alone : {test.create(2, 0), test.create(3, 0, memory)}) {
    EXPECT_EQ(follow_now(test, alone, batch(0, 0, {"v"})).error, Error{Errc::unsupported});
    EXPECT_EQ(truncate_now(test, alone, 0, 0).error().code, Errc::unsupported);
    EXPECT_FALSE(test.append_now(alone, {}).error);
    EXPECT_EQ(alone->high_watermark(), Offset{1}) << "nobody bounds it";
  }
}

TEST_F(FollowerLog, TheHighWatermarkWaitsForItsBoundAndForItsOwnEndAndIsNotedWithTheState) {
  follow(batch(0, 0, {"abc", "def"}));
  EXPECT_EQ(partition()->durable_end(), Offset{2});
  EXPECT_EQ(partition()->high_watermark(), Offset{0});
  bound(1);
  EXPECT_EQ(partition()->high_watermark(), Offset{1});
  ASSERT_FALSE(test.observer->seen.empty());
  EXPECT_EQ(test.observer->seen.back().second, Offset{1}) << "who waits for it is woken";
  bound(0);
  EXPECT_EQ(partition()->high_watermark(), Offset{1}) << "it never goes back";
  bound(1000);
  EXPECT_EQ(partition()->high_watermark(), Offset{2}) << "the log end";
  follow(batch(2, 0, {"ghi"}));
  EXPECT_EQ(partition()->high_watermark(), Offset{2}) << "the bound was taken at the log end as it was";
  bound(3);
  follow(batch(3, 0, {"jkl"}));
  ASSERT_TRUE(test.stop());
  ASSERT_TRUE(test.start(true));
  EXPECT_EQ(partition()->log_end(), Offset{4});
  EXPECT_EQ(partition()->high_watermark(), Offset{3}) << "the state of the last segment has it";
}

TEST_F(FollowerLog, WhatIsTruncatedIsGoneForReadersAndAfterAnyRestartAlsoWhenOffsetsAreUsedAgain) {
  follow(batch(0, 0, {"abc", "def"}));
  follow(batch(2, 1, {"old", "old"}));
  EXPECT_EQ(*cut(2, 2), Offset{2});
  EXPECT_EQ(content(), "0@0=abc ");
  EXPECT_EQ(partition()->log_end(), Offset{2});
  EXPECT_EQ(partition()->written_end(), Offset{2});
  EXPECT_EQ(partition()->durable_end(), Offset{2});
  EXPECT_EQ(test.log->epoch_end(*partition(), LeaderEpoch{1}).end_offset, Offset{-1}) << "its epoch is forgotten";
  restart();
  EXPECT_EQ(content(), "0@0=abc ");
  EXPECT_FALSE(follow(batch(2, 2, {"new"})).error);
  EXPECT_EQ(content(), "0@0=abc 2@2=new ");
  restart(sim::CrashMode::process_death);
  EXPECT_EQ(content(), "0@0=abc 2@2=new ");
  EXPECT_EQ(partition()->log_end(), Offset{3});
}

TEST_F(FollowerLog, TruncationStopsAtTheBoundOfTheHighWatermarkAndAtTheEpochOfTheNewestBatch) {
  follow(batch(0, 3, {"abc", "def"}));
  bound(1);
  EXPECT_EQ(cut(0, 4).error(), (Error{Errc::out_of_range, 0}));
  EXPECT_EQ(cut(1, 2).error(), (Error{Errc::stale_epoch, 2}));
  EXPECT_EQ(content(), "0@3=abc ");
  EXPECT_EQ(*cut(5, 3), Offset{2}) << "nothing to cut";
  EXPECT_EQ(content(), "0@3=abc ");
  EXPECT_EQ(*cut(1, 3), Offset{1});
  EXPECT_EQ(content(), "") << "a batch that holds the end goes as a whole";
  EXPECT_FALSE(follow(batch(1, 3, {"new"})).error);
  EXPECT_EQ(content(), "1@3=new ");
}

TEST_F(FollowerLog, ABatchThatIsOnItsWayWhenItIsTruncatedIsAnsweredAndGone) {
  follow(batch(0, 0, {"abc"}));
  const auto on_its_way = append_as_follower(test, partition(), batch(1, 0, {"old"}));
  const auto done = truncate(test, partition(), 1, 1);
  test.queue.run_until_idle();
  ASSERT_TRUE(on_its_way->has_value() && done->has_value());
  EXPECT_FALSE((*on_its_way)->error) << "it was durable before it was gone";
  EXPECT_EQ(content(), "0@0=abc ");
}

TEST_F(FollowerLog, SegmentsBeforeTheTruncationServeNothingAboveItWhateverIsMadeAgain) {
  fill_a_segment(0, 0, 'a');
  const auto first_end = partition()->log_end().value;
  fill_a_segment(first_end, 1, 'b');
  const auto end = partition()->log_end().value;
  ASSERT_TRUE(cut(4, 2));
  follow(batch(6, 2, {"new"}));
  const auto records = [&] { return *test.log->records_between(*partition(), Offset{0}, Offset{end}); };
  const auto check = [&](const char* when) {
    EXPECT_EQ(content(), "0@0=aaa 1@0=aaa 2@0=aaa 3@0=aaa 6@2=new ") << when;
    bound(7);
    EXPECT_EQ(records(), 5) << when;
    const auto newest = test.log->find_max_timestamp(*partition(), partition()->log_end());
    ASSERT_TRUE(newest && *newest) << when;
    EXPECT_EQ((*newest)->offset, Offset{0}) << when;
    EXPECT_LT(test.log->size_bytes(*partition()), 5 * 90'200) << when;
  };
  check("at once");
  restart();
  check("after a power cut");
  restart(sim::CrashMode::process_death);
  check("after a death");
  test.kill();
  const auto files = *test.disk.list("data/commitlog");
  for (const auto& name : files) {
    if (name.ends_with(".index")) {
      ASSERT_TRUE(test.disk.remove("data/commitlog/" + name));
    }
  }
  ASSERT_TRUE(test.start());
  check("without index files");
  test.kill();
  ASSERT_TRUE(test.disk.remove("data/manifest"));
  ASSERT_TRUE(test.start());
  check("without a manifest");
  fill_a_segment(7, 3, 'c');
  EXPECT_EQ(content().substr(0, 48), "0@0=aaa 1@0=aaa 2@0=aaa 3@0=aaa 6@2=new 7@3=ccc ");
  std::string lines;
  const auto report = verify_folder(test.disk, "data", [&](std::string_view line) { lines += line; });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problems, 0) << lines;
}

TEST_F(FollowerLog, ATruncationInsideASegmentIsInItsDeltas) {
  test.kill();
  test.options.delta_bytes = 100'000;
  test.options.segment_bytes = 8 << 20;
  ASSERT_TRUE(test.start());
  for (std::int64_t offset = 0; offset < 12; ++offset) {
    follow(batch(offset, 0, {large('a')}));
  }
  ASSERT_TRUE(cut(9, 1));
  ASSERT_TRUE(cut(5, 1));
  for (std::int64_t offset = 7; offset < 12; ++offset) {
    follow(batch(offset, 1, {large('b')}));
  }
  ASSERT_TRUE(cut(10, 2));
  for (std::int64_t offset = 10; offset < 14; ++offset) {
    follow(batch(offset, 2, {large('c')}));
  }
  const auto before = content();
  EXPECT_EQ(before,
            "0@0=aaa 1@0=aaa 2@0=aaa 3@0=aaa 4@0=aaa 7@1=bbb 8@1=bbb 9@1=bbb 10@2=ccc 11@2=ccc 12@2=ccc 13@2=ccc ");
  restart(sim::CrashMode::process_death);
  EXPECT_LT(test.log->statistics().recovery_scanned_bytes, 300'000) << "the deltas were taken";
  EXPECT_EQ(content(), before);
}

TEST_F(FollowerLog, ProducersAreAfterATruncationWhatTheyWereAtThatOffset) {
  const auto send = [&](std::int64_t base, std::int64_t id, std::int16_t epoch, std::int32_t sequence,
                        std::string value = "v") {
    auto one = batch(base, 0, {std::move(value)});
    one.producer_id = id;
    one.producer_epoch = epoch;
    one.base_sequence = sequence;
    ASSERT_FALSE(follow(one).error);
  };
  send(0, 7, 0, 40);
  send(1, 8, 0, 3);
  send(2, 9, 5, 0, large('x'));
  const auto then = producers().list();
  std::int64_t offset = 3;
  for (std::int32_t sequence = 41; sequence < 60; ++sequence) {
    send(offset++, 7, 0, sequence, large('x'));  // its whole window goes, in two segments
  }
  send(offset++, 8, 1, 0);  // a new epoch
  send(offset++, 9, 5, 1);
  send(offset++, 10, 0, 0);
  ASSERT_GE(test.log->statistics().segments, 2);
  ASSERT_TRUE(cut(3, 1));
  EXPECT_EQ(producers().list(), then);
  restart();
  EXPECT_EQ(producers().list(), then);
}

TEST_F(FollowerLog, RetentionCountsWhatIsLeftOfASegmentAndRemovesItWhenTheLogStartHasPassedAllItHad) {
  fill_a_segment(0, 0, 'a');
  ASSERT_TRUE(cut(2, 1));
  fill_a_segment(2, 1, 'b');
  fill_a_segment(partition()->log_end().value, 1, 'c');
  bound(partition()->log_end().value);
  auto rules = replicated();
  const auto count = partition()->log_end().value;  // all of one size; the first segment has two of them left
  rules.retention_bytes = test.log->size_bytes(*partition()) / count * (count - 2);
  test.log->set_rules(partition()->key(), rules);
  const auto before = test.log->statistics().segments;
  test.log->run_retention([] {});
  test.queue.run_until_idle();
  EXPECT_EQ(partition()->log_start(), Offset{2}) << "not where the first segment ended";
  EXPECT_EQ(test.log->statistics().segments, before);
  rules.retention_bytes = 1;
  test.log->set_rules(partition()->key(), rules);
  test.log->run_retention([] {});
  test.queue.run_until_idle();
  EXPECT_LT(test.log->statistics().segments, before);
  const auto left = content();
  EXPECT_EQ(left.find("aaa"), std::string::npos);
  restart();
  EXPECT_EQ(content(), left);
}

// What a follower copies of a real leader, producers included, is what the leader has.
TEST_F(FollowerLog, ACopyOfALeadersLogIsEqualToIt) {
  TestLog leader{9};
  ASSERT_TRUE(leader.start());
  const auto from = leader.create(1, 0);
  for (int i = 0; i < 40; ++i) {
    TestBatch one{.values = {std::to_string(i), large('l')}, .producer_id = i % 3, .producer_epoch = 0};
    one.base_sequence = i / 3 * 2;
    ASSERT_FALSE(leader.append_now(from, one).error);
  }
  const auto all = read_to_end(leader, *from);
  ASSERT_TRUE(all);
  for (Offset at{0}; at < from->log_end();) {
    const auto outcome = leader.log->read(*from, at, {1 << 20, true, from->high_watermark()}, ReadFrom::may_block);
    ASSERT_TRUE(outcome);
    const auto bytes = outcome->batches.flatten();
    protocol::BatchChain chain{bytes};
    for (auto next = chain.next(); next && *next; next = chain.next()) {
      Append request;
      request.partition = partition();
      request.batch = protocol::check_replica_batch(SharedBytes::copy_of((*next)->bytes())).value();
      request.reply_on = test.runtime->io.front();
      request.done = [](const AppendOutcome& done) { EXPECT_FALSE(done.error); };
      test.log->append_as_follower(std::move(request));
      at = Offset{(*next)->last_offset() + 1};
    }
    test.queue.run_until_idle();
  }
  EXPECT_EQ(*read_to_end(test, *partition()), *all);
  const auto& of_leader = std::static_pointer_cast<LogPartition>(from)->role.producers;
  ASSERT_EQ(producers().size(), of_leader.size());
  for (const auto& producer : of_leader.list()) {
    EXPECT_EQ(producers().find(producer.id)->batches, producer.batches);
  }
}

}  // namespace
}  // namespace weir::log
