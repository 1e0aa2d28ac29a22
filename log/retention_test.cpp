<<<<<<< HEAD
=======
// What a pass of retention may drop while partitions come and go, and what the log role leaves in a full segment.
>>>>>>> 20fbecd (Log: faults found by a review, with tests)
#include "log/retention.hpp"

#include <gtest/gtest.h>

<<<<<<< HEAD
#include "log/test_log_read.hpp"
=======
#include "log/appender.hpp"
#include "log/test_log.hpp"
>>>>>>> 20fbecd (Log: faults found by a review, with tests)

namespace weir::log {
namespace {

<<<<<<< HEAD
constexpr Millis kDay = 86'400'000;

// Fills `segments` segments of 1 MiB or a little more with 4 KiB records of the given partitions in turn.
void fill(TestLog& test, const std::vector<std::shared_ptr<Partition>>& partitions, int segments, Millis stamp) {
  const auto until = test.log->statistics().appended + (static_cast<std::int64_t>(segments) << 20);
  for (std::size_t i = 0; test.log->statistics().appended < until; ++i) {
    test.append(partitions[i % partitions.size()], {.values = {std::string(4'000, 'r')}, .timestamp = stamp},
                Acks::leader);
    if (i % 20 == 0) {
      test.queue.run_until_idle();
    }
  }
  test.queue.run_until_idle();
}

bool pass(TestLog& test) {
  bool done = false;
  test.log->run_retention([&] { done = true; });
  test.queue.run_until_idle();
  return done;
}

TEST(Retention, OldSegmentsGoOnceEveryPartitionInThemAllowsIt) {
  TestLog test{1};
  ASSERT_TRUE(test.start());
  PartitionRules day;
  day.retention_ms = kDay;
  PartitionRules week;
  week.retention_ms = 7 * kDay;
  const auto one = test.create(1, 0, day);
  const auto two = test.create(2, 0, week);
  fill(test, {one, two}, 4, test.queue.clock().wall_ms());
  const auto before = test.log->statistics();
  ASSERT_GE(before.segments, 4);
  ASSERT_TRUE(pass(test));
  EXPECT_EQ(one->log_start(), Offset{0});

  test.queue.clock().skew_wall(2 * kDay);
  ASSERT_TRUE(pass(test));
  EXPECT_GT(one->log_start(), Offset{0}) << "its own rule holds for it alone";
  EXPECT_EQ(two->log_start(), Offset{0});
  EXPECT_EQ(test.log->statistics().segments, before.segments) << "the other partition still needs the files";

  test.queue.clock().skew_wall(6 * kDay);
  ASSERT_TRUE(pass(test));
  EXPECT_GT(two->log_start(), Offset{0});
  EXPECT_LT(test.log->statistics().segments, before.segments);
  EXPECT_LT(test.log->statistics().disk_bytes, before.disk_bytes);
  test.queue.run_until_idle();
  EXPECT_FALSE(test.disk.exists("data/commitlog/" + segment_file_name(SegmentId{1})));

  const auto start = one->log_start();
  const auto kept = test.read_all(*one);
  ASSERT_TRUE(kept) << to_string(kept.error());
  test.crash(sim::CrashMode::power_cut);
  ASSERT_TRUE(test.start());
  EXPECT_EQ(test.find(1, 0)->log_start(), start);
  EXPECT_EQ(*test.read_all(*test.find(1, 0)), *kept);
}

TEST(Retention, TheSizeBoundKeepsAtLeastThatManyBytes) {
  TestLog test{2};
  ASSERT_TRUE(test.start());
  PartitionRules rules;
  rules.retention_ms = -1;
  rules.retention_bytes = 2 << 20;
  const auto partition = test.create(1, 0, rules);
  fill(test, {partition}, 6, test.queue.clock().wall_ms());
  const auto before = test.log->size_bytes(*partition);
  ASSERT_GT(before, 5 << 20);
  ASSERT_TRUE(pass(test));
  EXPECT_GE(test.log->size_bytes(*partition), rules.retention_bytes);
  EXPECT_LT(test.log->size_bytes(*partition), rules.retention_bytes + (1 << 20));
  EXPECT_EQ(std::ssize(*test.read_all(*partition)), partition->high_watermark() - partition->log_start());
}

TEST(Retention, AStampInTheFutureDoesNotKeepARecordForEver) {
  TestLog test{3};
  ASSERT_TRUE(test.start());
  PartitionRules day;
  day.retention_ms = kDay;
  const auto partition = test.create(1, 0, day);
  fill(test, {partition}, 3, test.queue.clock().wall_ms() + 1'000 * kDay);
  ASSERT_TRUE(pass(test));
  EXPECT_EQ(partition->log_start(), Offset{0});
  test.queue.clock().skew_wall(2 * kDay);
  ASSERT_TRUE(pass(test));
  EXPECT_GT(partition->log_start(), Offset{0});
}

TEST(Retention, ACompactedOrEndlessPartitionKeepsItsFilesAndADeletedOneKeepsNone) {
  TestLog test{4};
  ASSERT_TRUE(test.start());
  PartitionRules compact;
  compact.delete_old = false;
  compact.compact = true;
  compact.retention_ms = 1;
  const auto partition = test.create(1, 0, compact);
  fill(test, {partition}, 4, test.queue.clock().wall_ms());
  test.queue.clock().skew_wall(30 * kDay);
  const auto segments = test.log->statistics().segments;
  ASSERT_TRUE(pass(test));
  EXPECT_EQ(test.log->statistics().segments, segments);
  test.log->remove(partition->key());
  ASSERT_TRUE(pass(test));
  EXPECT_LE(test.log->statistics().segments, 2) << "the open one, and the newest sealed one whose state may be needed";
}

TEST(Retention, AReaderKeepsTheFileOfADroppedSegmentUntilItHasFinished) {
  TestLog test{5};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0);
  fill(test, {partition}, 8, test.queue.clock().wall_ms());
  auto cold = test.log->read(*partition, Offset{0}, {8'000, true, partition->high_watermark()}, ReadFrom::may_block);
  ASSERT_TRUE(cold);
  ASSERT_FALSE(cold->batches.empty());
  test.log->remove(partition->key());
  ASSERT_TRUE(pass(test));
  EXPECT_GE(cold->batches.flatten().size(), 4'000U);
}

TEST(TimeLookup, IsExactToTheRecordAndAgreesWithAModel) {
  for (const std::uint64_t seed : {11U, 12U, 13U}) {
    TestLog test{seed};
    Random random{seed};
    ASSERT_TRUE(test.start());
    test.create(1, 0);
    std::vector<Millis> stamps;  // of the record at each offset
    for (int i = 0; i < 500; ++i) {
      const auto stamp = 1'000 + i * 10 + static_cast<Millis>(random.below(400));  // not in order
      const auto count = 1 + random.below(3);
      test.append(
          test.find(1, 0),
          {.values = std::vector<std::string>(count, std::string(random.below(8'000), 'v')), .timestamp = stamp},
          Acks::leader);
      stamps.insert(stamps.end(), count, stamp);
      if (i % 10 == 0) {
        test.queue.run_until_idle();
      }
    }
    test.queue.run_until_idle();
    for (int life = 0; life < 2; ++life) {
      const auto partition = test.find(1, 0);
      const auto bound = partition->high_watermark();
      ASSERT_EQ(bound.value, std::ssize(stamps));
      for (Millis wanted = 900; wanted < 6'600; wanted += 1 + static_cast<Millis>(random.below(60))) {
        const auto expected = std::find_if(stamps.begin(), stamps.end(), [&](Millis stamp) { return stamp >= wanted; });
        const auto found = test.log->find_by_time(*partition, wanted, bound);
        ASSERT_TRUE(found) << to_string(found.error());
        ASSERT_EQ(found->has_value(), expected != stamps.end()) << wanted;
        if (*found) {
          ASSERT_EQ((*found)->offset.value, expected - stamps.begin()) << wanted;
          ASSERT_EQ((*found)->timestamp, *expected);
          ASSERT_EQ((*found)->leader_epoch, LeaderEpoch{0});
        }
      }
      const auto largest = std::max_element(stamps.begin(), stamps.end());
      const auto found = test.log->find_max_timestamp(*partition, bound);
      ASSERT_TRUE(found && *found);
      EXPECT_EQ((*found)->timestamp, *largest);
      EXPECT_EQ((*found)->offset.value, largest - stamps.begin());
      test.crash(sim::CrashMode::process_death);
      ASSERT_TRUE(test.start());
    }
  }
=======
class Surroundings final : public KeeperHooks, public AppenderHooks {
 public:
  void run_on_pool(Task job) override { jobs.push_back(std::move(job)); }
  void segment_prepared(std::shared_ptr<Segment>) override {}
  void segment_synced(Result<void>) override {}
  void keeper_failed(Error) override { has_failed = true; }
  void wake_writer() override {}
  void group_is_ready() override {}
  void want_segment() override {}
  void continue_log_role() override {}
  SegmentHeader segment_begins(const std::shared_ptr<Segment>& segment) override {
    SegmentHeader header;
    header.id = segment->id();
    header.seed = segment->seed();
    header.start = segment->start();
    return header;
  }
  void run_jobs() {
    while (!jobs.empty()) {
      auto job = std::move(jobs.front());
      jobs.pop_front();
      job();
    }
  }
  std::deque<Task> jobs;
  bool has_failed = false;
};

struct World {
  World() : queue(1), disk(2), network(queue, 3), process(queue, disk, network, 4), runtime(process.runtime()) {
    WEIR_CHECK(disk.make_directories("data").has_value());
    WEIR_CHECK(keeper.open().has_value());
  }
  std::shared_ptr<LogPartition> partition(int number) {
    auto made = std::make_shared<LogPartition>(PartitionKey{topic_number(number), 0},
                                               LocalPartition{static_cast<std::uint32_t>(number)}, PartitionRules{});
    made->role.created = true;
    return made;
  }
  // A sealed segment with one batch of `of`.
  void add_sealed(const std::shared_ptr<LogPartition>& of) {
    const auto segment = *keeper.prepare_now();
    segment->begin(LogPosition{end});
    segment->set_valid_end(8192);
    end += 8192;
    WEIR_CHECK(keeper.add_to_manifest(*segment).has_value());
    of->begin_index(segment).entries.append({of->log_end(), of->log_end(), 4200, 100, 1'000});
    of->set_log_end(of->log_end() + 1);
    of->recovered_to_end();
    SegmentSnapshot snapshot;
    snapshot.segment = segment;
    snapshot.to = 8192;
    snapshot.partitions.push_back({of, of->open_indexes().back(), 0, 1, of->state(), {}});
    auto index = *keeper.write_index(snapshot);
    list.change([&](auto& members) { members.push_back({segment, std::move(index)}); });
    of->drop_open_index(segment->id());
  }
  sim::EventQueue queue;
  sim::SimDisk disk;
  sim::SimNetwork network;
  sim::SimRuntime process;
  Runtime runtime;
  Surroundings around;
  SegmentList list;
  SegmentKeeper keeper{disk, runtime.pool, "data", 5, list, around};
  Image image{4 << 20};
  std::int64_t end = 0;
};

TEST(Retention, APartitionMadeDuringAPassKeepsItsSegments) {
  World world;
  const LogReader reader{world.list, world.image};
  Retention retention{world.list, world.keeper, world.runtime.clock};
  const auto old = world.partition(1);
  PartitionRules rules;
  rules.retention_ms = 0;
  old->set_rules(rules);
  world.add_sealed(old);
  std::vector<std::shared_ptr<LogPartition>> all{old};
  bool done = false;
  retention.run([&] { return all; }, reader,
                [&](const std::shared_ptr<LogPartition>& partition, Offset start, auto moved) {
                  partition->set_log_start(start);
                  all.push_back(world.partition(2));  // while the start moves, somebody else fills two segments
                  world.add_sealed(all.back());
                  world.add_sealed(all.back());
                  moved(start);
                },
                [&] { done = true; });
  world.around.run_jobs();
  EXPECT_TRUE(done);
  EXPECT_FALSE(world.around.has_failed);
  const auto left = world.list.current();
  ASSERT_EQ(left->members.size(), 2U);
  EXPECT_TRUE(left->members[0].index->find(LocalPartition{2}));
}

TEST(Appender, AFullSegmentsIndexIsTheKeepersAlone) {
  World world;
  AppenderLimits limits;
  limits.segment_bytes = 1 << 20;
  Appender appender{limits, world.image, world.runtime.clock, world.around};
  appender.start({});
  appender.offer_segment(*world.keeper.prepare_now());
  const auto partition = std::make_shared<LogPartition>(PartitionKey{topic_number(1), 0}, LocalPartition{1},
                                                        PartitionRules{});
  appender.push_control([&](Appender& log) { return log.put_created(partition, LeaderEpoch{0}); });
  std::weak_ptr<OpenIndex> full;
  for (int i = 0; i < 12; ++i) {  // the last one finds no room, and the next segment is not prepared
    auto bytes = make_batch({.values = {std::string(100'000, 'a')}});
    Append request;
    request.partition = partition;
    request.facts = protocol::RecordBatchView::parse(bytes)->facts();
    request.batch = SharedBytes::adopt(std::move(bytes));
    appender.push(std::move(request));
    full = partition->open_indexes().front();
  }
  ASSERT_EQ(partition->log_end(), Offset{10});
  EXPECT_EQ(partition->role.index, nullptr);
  std::vector<Group> groups;
  ASSERT_TRUE(appender.request_groups(false, groups));
  partition->drop_open_index(groups.back().segment->id());
  groups.clear();
  EXPECT_TRUE(full.expired());
  appender.offer_segment(*world.keeper.prepare_now());
  EXPECT_EQ(partition->log_end(), Offset{12});
>>>>>>> 20fbecd (Log: faults found by a review, with tests)
}

}  // namespace
}  // namespace weir::log
