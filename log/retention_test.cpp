// What a pass of retention may drop while partitions come and go, and what the log role leaves in a full segment.
#include "log/retention.hpp"

#include <gtest/gtest.h>

#include "log/appender.hpp"
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
    WEIR_CHECK(keeper.admit(*segment, true, 8192).has_value());
    of->begin_index(segment).entries.append({of->log_end(), of->log_end(), 4200, 100, 1'000});
    of->set_log_end(of->log_end() + 1);
    of->begin_life({});
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
  std::int64_t end = 0;
};

TEST(Retention, APartitionMadeDuringAPassKeepsItsSegments) {
  World world;
  DamageReport damage{nullptr};
  const LogReader reader{world.list, world.image, world.cache, damage};
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
