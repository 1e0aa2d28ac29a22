// What a pass of retention may drop while partitions come and go, when it ends a segment, where it does not look, and
// what the log role leaves in a full segment.
#include "log/retention.hpp"

#include <gtest/gtest.h>

#include "log/appender.hpp"
#include "log/retention_scan.hpp"
#include "log/test_log.hpp"

namespace weir::log {
namespace {

class Surroundings final : public KeeperHooks, public AppenderHooks {
 public:
  void run_on_pool(Task job) override { jobs.push_back(std::move(job)); }
  void segment_prepared(std::shared_ptr<Segment>) override {}
  void segment_synced(Result<void>) override {}
  bool is_log_idle() override { return false; }
  bool wait_out(const Error& /*why*/, const char* /*job*/, Task /*again*/) override { return false; }
  void keeper_failed(Error) override { has_failed = true; }
  void wake_writer() override {}
  void limit_reached() override {}
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
  LogPosition begin_of_oldest_segment() const override { return {}; }
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

using MoveStart = std::function<void(std::shared_ptr<LogPartition>, Offset, UniqueFunction<void(Result<Offset>)>)>;

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
  // One pass over `all`. A null `move` is one that succeeds at once. False: it has not ended.
  bool pass(std::vector<std::shared_ptr<LogPartition>>& all, MoveStart move = nullptr) {
    if (!move) {
      move = [](const std::shared_ptr<LogPartition>& partition, Offset start, auto moved) {
        partition->set_log_start(start);
        partition->set_durable_start(start);
        moved(start);
      };
    }
    is_done = false;
    const auto roll = [this](SegmentId id) { rolled.push_back(id); };
    retention.run({[&] { return all; }, std::move(move), roll}, reader, [this] { is_done = true; });
    around.run_jobs();
    EXPECT_FALSE(around.has_failed);
    return is_done;
  }
  // The open segment, with batches of `of`, each of `bytes`.
  std::shared_ptr<Segment> add_open(const std::shared_ptr<LogPartition>& of, int batches, std::uint32_t bytes) {
    const auto segment = *keeper.prepare_now();
    segment->begin(LogPosition{end});
    WEIR_CHECK(keeper.admit(*segment, true, 8192).has_value());
    auto& index = of->begin_index(segment);
    for (int i = 0; i < batches; ++i) {
      index.entries.append({of->log_end(), of->log_end(), 4200 + std::int64_t{i} * bytes, bytes, 1'000});
      index.batch_bytes += bytes;
      index.newest_append_ms = 1'000;
      segment->count_batch(bytes);
      of->count_appended(bytes);
      of->set_log_end(of->log_end() + 1);
    }
    const auto start = of->durable_start();
    of->begin_life(of->rules());
    EXPECT_EQ(of->durable_start(), start);
    list.change([&](auto& members) { members.push_back({segment, nullptr}); });
    return segment;
  }
  // A sealed segment with one batch of `of`.
  void add_sealed(const std::shared_ptr<LogPartition>& of) {
    const auto segment = *keeper.prepare_now();
    segment->begin(LogPosition{end});
    segment->set_valid_end(8192);
    end += 8192;
    WEIR_CHECK(keeper.admit(*segment, true, 8192).has_value());
    of->begin_index(segment).entries.append({of->log_end(), of->log_end(), 4200, 100, 1'000});
    of->set_log_end(of->log_end() + 1);
    of->begin_life(of->rules());
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
  LogMeter meter{nullptr, runtime.clock};
  SegmentKeeper keeper{disk, runtime.pool, "data", IoMode::buffered, 1 << 20, 5, list, meter, around};
  SpaceGuard space{disk, "data", 0};
  Image image{4 << 20};
  ReadCache cache{0, image};
  DamageReport damage{nullptr};
  LogReader reader{list, image, cache, damage};
  Retention retention{list, keeper, runtime.clock, 1 << 20};
  std::vector<SegmentId> rolled;
  bool is_done = false;
  std::int64_t end = 0;
};

PartitionRules nothing_stays() {
  PartitionRules rules;
  rules.retention_ms = 0;
  return rules;
}

TEST(Retention, APartitionMadeDuringAPassKeepsItsSegments) {
  World world;
  const auto old = world.partition(1);
  old->set_rules(nothing_stays());
  world.add_sealed(old);
  std::vector<std::shared_ptr<LogPartition>> all{old};
  EXPECT_TRUE(world.pass(all, [&](const std::shared_ptr<LogPartition>& partition, Offset start, auto moved) {
    partition->set_log_start(start);
    partition->set_durable_start(start);
    all.push_back(world.partition(2));  // while the start moves, somebody else fills two segments
    world.add_sealed(all.back());
    world.add_sealed(all.back());
    moved(start);
  }));
  const auto left = world.list.current();
  ASSERT_EQ(left->members.size(), 2U);
  EXPECT_TRUE(left->members[0].index->find(LocalPartition{2}));
}

TEST(Retention, AFileGoesOnlyWhenTheStartThatLetsItGoIsDurable) {
  World world;
  const auto partition = world.partition(1);
  PartitionRules all_stays;
  all_stays.retention_ms = -1;
  partition->set_rules(all_stays);
  for (int i = 0; i < 3; ++i) {
    world.add_sealed(partition);
  }
  std::vector<std::shared_ptr<LogPartition>> all{partition};
  partition->set_log_start(Offset{2});  // DeleteRecords, which is not synced yet
  EXPECT_TRUE(world.pass(all));
  EXPECT_EQ(world.list.current()->members.size(), 3U);
  partition->set_durable_start(Offset{1});
  EXPECT_TRUE(world.pass(all));
  EXPECT_EQ(world.list.current()->members.size(), 2U);
  partition->set_durable_start(Offset{2});
  partition->set_durable_start(Offset{1});
  EXPECT_TRUE(world.pass(all)) << "a later move may be told first";
  EXPECT_EQ(world.list.current()->members.size(), 1U);
}

TEST(Retention, NoFileGoesInAPassThatCouldNotMoveAStart) {
  World world;
  const auto moves = world.partition(1);
  const auto fails = world.partition(2);
  for (const auto& partition : {moves, fails}) {
    partition->set_rules(nothing_stays());
  }
  world.add_sealed(moves);
  world.add_sealed(fails);
  world.add_sealed(moves);
  std::vector<std::shared_ptr<LogPartition>> all{fails, moves};
  Error why{Errc::disk_failed, 5};
  const auto move = [&](const std::shared_ptr<LogPartition>& partition, Offset start, auto moved) {
    partition->set_log_start(start);  // it is in the log, but nobody knows how far that is durable
    if (partition == fails) {
      if (why.code == Errc::not_found) {
        fails->mark_deleted();
      }
      moved(why);
      return;
    }
    partition->set_durable_start(start);
    moved(start);
  };
  EXPECT_TRUE(world.pass(all, move));
  EXPECT_EQ(world.list.current()->members.size(), 3U);
  fails->set_log_start(Offset{0});
  why = {Errc::not_found};
  EXPECT_TRUE(world.pass(all, move)) << "a partition that is deleted meanwhile stops nothing";
  EXPECT_EQ(world.list.current()->members.size(), 1U);
}

TEST(Retention, WhatADeletedTopicHadGoesThoughTheStartOfAnotherWaitsForRoom) {
  World world;
  const auto waits = world.partition(1);
  waits->set_rules(nothing_stays());
  const auto gone = world.partition(2);
  PartitionRules keeps_all;
  keeps_all.retention_ms = -1;
  gone->set_rules(keeps_all);
  for (const auto& partition : {gone, waits, gone, waits}) {
    world.add_sealed(partition);
  }
  std::vector<std::shared_ptr<LogPartition>> all{waits, gone};
  UniqueFunction<void(Result<Offset>)> moved;
  const auto move = [&](const auto&, Offset, auto done) { moved = std::move(done); };
  EXPECT_FALSE(world.pass(all, move));
  EXPECT_EQ(world.list.current()->members.size(), 4U);
  gone->mark_deleted();
  all.pop_back();
  EXPECT_FALSE(world.pass(all, move)) << "the first pass still waits";
  EXPECT_EQ(world.list.current()->members.size(), 2U);
  waits->set_log_start(Offset{2});
  waits->set_durable_start(Offset{2});
  moved(Offset{2});
  world.around.run_jobs();
  EXPECT_TRUE(world.is_done);
  EXPECT_EQ(world.list.current()->members.size(), 1U);
}

TEST(Retention, StartsMoveSomeAtATimeAndAllInOnePass) {
  World world;
  std::vector<std::shared_ptr<LogPartition>> all;
  constexpr int kMany = 2 * static_cast<int>(Retention::kMovesMax) + 10;
  for (int i = 1; i <= kMany; ++i) {
    all.push_back(world.partition(i));
    all.back()->set_rules(nothing_stays());
    world.add_open(all.back(), 1, 100);
  }
  std::deque<Task> under_way;
  std::size_t most = 0;
  const auto move = [&](const std::shared_ptr<LogPartition>& partition, Offset start, auto moved) {
    under_way.push_back([partition, start, moved = std::move(moved)]() mutable {
      partition->set_log_start(start);
      moved(start);
    });
    most = std::max(most, under_way.size());
  };
  EXPECT_FALSE(world.pass(all, move));
  while (!under_way.empty()) {
    auto next = std::move(under_way.front());
    under_way.pop_front();
    next();
  }
  EXPECT_TRUE(world.is_done);
  EXPECT_EQ(most, Retention::kMovesMax);
  for (const auto& partition : all) {
    EXPECT_EQ(partition->log_start(), Offset{1});
  }
}

TEST(Retention, TheOpenSegmentEndsForRoomWhenHalfASegmentInItIsGoneAndNotMoreThanOnceAMinute) {
  World world;
  const auto goes = world.partition(1);
  const auto stays = world.partition(2);
  const auto gone = world.partition(3);
  auto open = world.add_open(goes, 4, 100'000);
  auto& more = stays->begin_index(open);
  more.entries.append({Offset{0}, Offset{0}, 900'000, 200'000, 1'000});
  more.batch_bytes += 200'000;
  open->count_batch(200'000);
  open->count_batch(1 << 19);  // of `gone`
  gone->mark_deleted();
  std::vector<std::shared_ptr<LogPartition>> all{goes, stays};
  PartitionRules all_stays;
  all_stays.retention_ms = -1;
  goes->set_rules(all_stays);
  stays->set_rules(all_stays);
  EXPECT_TRUE(world.pass(all));
  ASSERT_EQ(world.rolled, std::vector{open->id()}) << "what a deleted topic had is half a segment by itself";
  open = world.add_open(goes, 10, 100'000);
  goes->set_log_start(Offset{4});
  world.queue.run_for(Retention::kRollEveryMs);
  EXPECT_TRUE(world.pass(all));
  EXPECT_EQ(world.rolled.size(), 1U) << "all of this one can still be read";
  goes->set_log_start(Offset{9});
  EXPECT_TRUE(world.pass(all));
  EXPECT_EQ(world.rolled.size(), 1U) << "half a million bytes are not half of 1 MiB";
  goes->set_log_start(Offset{10});
  EXPECT_TRUE(world.pass(all));
  ASSERT_EQ(world.rolled.size(), 2U);
  EXPECT_EQ(world.rolled.back(), open->id());
  EXPECT_TRUE(world.pass(all));
  world.queue.run_for(Retention::kRollEveryMs - 1);
  EXPECT_TRUE(world.pass(all));
  EXPECT_EQ(world.rolled.size(), 2U) << "not again so soon";
  world.queue.run_for(1);
  EXPECT_TRUE(world.pass(all));
  EXPECT_EQ(world.rolled.size(), 3U);
}

TEST(Retention, APartitionInWhichNothingCanHaveExpiredIsNotLookedAt) {
  World world;
  const auto partition = world.partition(1);
  PartitionRules rules;
  auto& clock = world.queue.clock();
  rules.retention_ms = clock.wall_ms();  // the stamps are 1,000: a second is left
  rules.retention_bytes = 450;
  partition->set_rules(rules);
  world.add_open(partition, 4, 100);
  const auto is_looked_at = [&] {
    world.queue.run_for(1);
    EXPECT_TRUE(RetentionScan(world.list, world.reader, clock.wall_ms()).wanted_start(*partition));
    return partition->watch.looked_ms == clock.wall_ms();
  };
  EXPECT_TRUE(is_looked_at());
  EXPECT_FALSE(is_looked_at());
  partition->count_appended(149);
  EXPECT_FALSE(is_looked_at()) << "549 bytes, of which the first batch has 100";
  partition->count_appended(1);
  EXPECT_TRUE(is_looked_at());
  rules.retention_bytes = -1;
  partition->set_rules(rules);
  EXPECT_TRUE(is_looked_at()) << "other rules";
  EXPECT_FALSE(is_looked_at());
  partition->set_log_start(Offset{1});
  EXPECT_TRUE(is_looked_at()) << "another start";
  EXPECT_FALSE(is_looked_at());
  clock.skew_wall(-10);
  EXPECT_TRUE(is_looked_at()) << "the clock went back: what was ahead of it is another now";
  EXPECT_FALSE(is_looked_at());
  world.queue.run_for(1'000);
  EXPECT_TRUE(is_looked_at());
  EXPECT_EQ(partition->watch.start, Offset{4});
}

TEST(Appender, AFullSegmentsIndexIsTheKeepersAlone) {
  World world;
  AppenderLimits limits;
  limits.segment_bytes = 1 << 20;
  Appender appender{limits, world.image, world.runtime.clock, world.space, world.around};
  appender.start({});
  appender.offer_segment(*world.keeper.prepare_now());
  const auto partition =
      std::make_shared<LogPartition>(PartitionKey{topic_number(1), 0}, LocalPartition{1}, PartitionRules{});
  appender.push_control([&](Appender& log) { return log.put_created(partition, LeaderEpoch{0}); });
  std::weak_ptr<OpenIndex> full;
  for (int i = 0; i < 12; ++i) {  // the last one finds no room, and the next segment is not prepared
    Append request;
    request.partition = partition;
    request.batch = make_valid_batch({.values = {std::string(100'000, 'a')}});
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
}

}  // namespace
}  // namespace weir::log
