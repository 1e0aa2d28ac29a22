#include "coordinator/metadata/controller.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/logging.hpp"
#include "coordinator/metadata/metadata_log.hpp"
#include "coordinator/metadata/producer_ids.hpp"
#include "protocol/errors.hpp"
#include "protocol/gen/create_topics.hpp"
#include "protocol/gen/delete_topics.hpp"
#include "protocol/gen/incremental_alter_configs.hpp"
#include "sim/seams/seeds.hpp"
#include "sim/seams/sim_runtime.hpp"

namespace weir::metadata {
namespace {

// A controller on a simulated machine that can crash and start again.
struct ControllerWorld {
  explicit ControllerWorld(std::uint64_t seed_of_all)
      : seed(seed_of_all), queue(seed_of_all), disk(seed_of_all + 1), network(queue, seed_of_all + 2) {
    EXPECT_TRUE(disk.make_directories("data"));
    EXPECT_TRUE(disk.sync_directory("."));
  }

  bool start() {
    process = std::make_unique<sim::SimRuntime>(queue, disk, network, seed + 3 + starts++);
    runtime.emplace(process->runtime());
    auto opened = Controller::open("data", identity, settings, *runtime, why);
    controller = opened ? std::move(*opened) : nullptr;
    return controller != nullptr;
  }
  void stop() {
    queue.run_until_idle();
    process->kill();
    controller.reset();
    runtime.reset();
    process.reset();
  }
  void crash(std::uint64_t crash_seed, sim::CrashMode mode) {
    stop();
    disk.crash(crash_seed, mode);
  }

  int create(const std::string& name, std::int32_t partitions = 1, bool validate_only = false) {
    protocol::CreateTopicsRequest request;
    request.validate_only = validate_only;
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    topic.num_partitions = partitions;
    topic.replication_factor = 1;
    std::optional<int> code;
    controller->create_topics(request, process->io(0),
                              [&](const auto& response) { code = response.topics.at(0).error_code; });
    queue.run_until_idle();
    return code.value_or(-99);
  }
  int remove(const std::string& name) {
    protocol::DeleteTopicsRequest request;
    request.topic_names.emplace_back(name);
    std::optional<int> code;
    controller->delete_topics(request, process->io(0),
                              [&](const auto& response) { code = response.responses.at(0).error_code; });
    queue.run_until_idle();
    return code.value_or(-99);
  }
  int set_config(ResourceType type, const std::string& resource_name, const std::string& name,
                 const std::string& value) {
    protocol::IncrementalAlterConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = static_cast<std::int8_t>(type);
    resource.resource_name = resource_name;
    resource.configs.push_back(
        {.name = name, .config_operation = 0, .value = protocol::Text{value}, .unknown_tags = {}});
    std::optional<int> code;
    controller->incremental_alter_configs(request, process->io(0),
                                          [&](const auto& response) { code = response.responses.at(0).error_code; });
    queue.run_until_idle();
    return code.value_or(-99);
  }
  // One change, remembered so that a restart can be judged. True if it was answered as done.
  bool random_change(Random& random) {
    const auto name = "t" + std::to_string(random.below(8));
    const auto value = random.below(1000);
    attempt = {.name = name, .kind = static_cast<int>(random.below(3)), .value = value};
    switch (attempt.kind) {
      case 0: return create(name, static_cast<std::int32_t>(1 + value % 5)) == 0;
      case 1: return remove(name) == 0;
      default: return set_config(ResourceType::topic, name, "retention.ms", std::to_string(value)) == 0;
    }
  }
  // After a restart: is the image `last`, or `last` with the last attempt done?
  [[nodiscard]] bool is_state_or_successor(const MetadataImage& last) const {
    const auto now = controller->image();
    if (*now == last) {
      return true;
    }
    bool others_equal = true;
    last.for_each_topic([&](const Topic& topic) {
      const auto& found = now->find_topic(topic.name);
      const bool same = found && found->id == topic.id && found->partitions == topic.partitions &&
                        *found->overrides == *topic.overrides;
      others_equal = others_equal && (same || topic.name == attempt.name);
    });
    const auto& found = now->find_topic(attempt.name);
    const auto& before = last.find_topic(attempt.name);
    switch (attempt.kind) {
      case 0:
        return others_equal && found != nullptr && before == nullptr && now->topic_count() == last.topic_count() + 1 &&
               found->partitions.size() == 1 + attempt.value % 5;
      case 1:
        return others_equal && found == nullptr && before != nullptr && now->topic_count() + 1 == last.topic_count();
      default:
        return others_equal && found != nullptr && before != nullptr && found->id == before->id &&
               found->overrides->at("retention.ms") == std::to_string(attempt.value);
    }
  }

  struct Attempt {
    std::string name;
    int kind = 0;
    std::uint64_t value = 0;
  };
  std::uint64_t seed;
  sim::EventQueue queue;
  sim::SimDisk disk;
  sim::SimNetwork network;
  std::unique_ptr<sim::SimRuntime> process;
  std::optional<Runtime> runtime;
  std::unique_ptr<Controller> controller;
  ControllerSettings settings;
  Identity identity{.cluster_id = "c", .node_id = 1, .directory_id = Random{5}.uuid()};
  std::string why;
  std::uint64_t starts = 0;
  Attempt attempt;
};

TEST(Controller, AnswersATopicOnlyAfterItsRecordsAreSyncedAndItsListenersWereTold) {
  ControllerWorld world{1};
  struct Listener : MetadataListener {
    void applied(const MetadataImage& before, const MetadataImage& after, const ImageChanges& changes) override {
      ++calls;
      created += changes.topics_created.size();
      syncs_when_told = world->disk.count(sim::DiskOperation::sync);
      EXPECT_EQ(before.find_topic("t"), nullptr);
      EXPECT_NE(after.find_topic("t"), nullptr);
      EXPECT_EQ(world->controller->image()->find_topic("t"), nullptr) << "published before the listener returned";
    }
    void metadata_failed() override { ADD_FAILURE(); }
    ControllerWorld* world = nullptr;
    int calls = 0;
    std::size_t created = 0;
    std::uint64_t syncs_when_told = 0;
  } listener;
  listener.world = &world;
  ASSERT_TRUE(world.start());
  world.controller->add_listener(listener);
  const auto syncs_before = world.disk.count(sim::DiskOperation::sync);
  EXPECT_EQ(world.create("t"), 0);
  EXPECT_EQ(listener.calls, 1);
  EXPECT_EQ(listener.created, 1U);
  EXPECT_EQ(listener.syncs_when_told, syncs_before + 1);
  EXPECT_NE(world.controller->image()->find_topic("t"), nullptr);
}

TEST(Controller, ValidationAloneWritesNothing) {
  ControllerWorld world{1};
  ASSERT_TRUE(world.start());
  const auto writes = world.disk.count(sim::DiskOperation::write);
  EXPECT_EQ(world.create("t", 3, true), 0);
  EXPECT_EQ(world.controller->image()->find_topic("t"), nullptr);
  EXPECT_EQ(world.disk.count(sim::DiskOperation::write), writes);
}

// Whoever depends on what is not known hears it before the request does; the next start does not make the change.
TEST(Controller, AFailedSyncAnswers56AndStopsAllChangesUntilTheNextStart) {
  ControllerWorld world{1};
  const LogCapture quiet;
  struct Listener : MetadataListener {
    void applied(const MetadataImage&, const MetadataImage&, const ImageChanges&) override {}
    void metadata_failed() override { ++failures; }
    int failures = 0;
  } listener;
  ASSERT_TRUE(world.start());
  world.controller->add_listener(listener);
  bool failing = true;
  world.disk.set_fault_hook([&](sim::DiskOperation operation, const std::string&) {
    return failing && operation == sim::DiskOperation::sync ? std::optional<Error>{{Errc::disk_failed, 5}}
                                                            : std::nullopt;
  });
  EXPECT_EQ(world.create("t"), 56);
  EXPECT_EQ(world.controller->image()->find_topic("t"), nullptr);
  EXPECT_EQ(listener.failures, 1);
  failing = false;
  EXPECT_EQ(world.create("u"), 56) << "a failed sync is never followed by another try";
  EXPECT_EQ(world.controller->image()->find_topic("u"), nullptr);
  world.stop();
  ASSERT_TRUE(world.start());
  EXPECT_EQ(world.controller->image()->find_topic("t"), nullptr);
  EXPECT_EQ(world.create("v"), 0);
}

TEST(Controller, AFullDiskRefusesAChangeAndLaterTakesTheNext) {
  ControllerWorld world{1};
  const LogCapture quiet;
  ASSERT_TRUE(world.start());
  bool full = true;
  world.disk.set_fault_hook([&](sim::DiskOperation operation, const std::string&) {
    return full && operation == sim::DiskOperation::write ? std::optional<Error>{{Errc::disk_full, 0}} : std::nullopt;
  });
  EXPECT_EQ(world.create("t"), 56);
  full = false;
  EXPECT_EQ(world.create("t"), 0);
  const auto image = world.controller->image();
  world.stop();
  ASSERT_TRUE(world.start()) << world.why;
  EXPECT_TRUE(*world.controller->image() == *image);
}

// A stop would wait for all of them, and nobody hears their answers.
TEST(Controller, WhatIsQueuedWhenAStopBeginsIsAnsweredAsNotDoneAndWhatWasAnsweredStays) {
  ControllerWorld world{9};
  ASSERT_TRUE(world.start());
  ASSERT_EQ(world.create("answered"), 0);
  constexpr int kQueued = 50;
  std::vector<protocol::CreateTopicsRequest> requests(kQueued);
  std::vector<int> codes;
  for (int i = 0; i < kQueued; ++i) {
    auto& topic = requests[static_cast<std::size_t>(i)].topics.emplace_back();
    topic.name = "queued" + std::to_string(i);
    topic.num_partitions = topic.replication_factor = 1;
    world.controller->create_topics(requests[static_cast<std::size_t>(i)], world.process->io(0),
                                    [&](const auto& response) { codes.push_back(response.topics.at(0).error_code); });
  }
  bool is_stopped = false;
  world.controller->stop(world.process->io(0), [&] { is_stopped = true; });
  world.queue.run_until_idle();
  EXPECT_TRUE(is_stopped);
  EXPECT_EQ(codes, std::vector<int>(kQueued, 56));
  world.stop();
  ASSERT_TRUE(world.start());
  EXPECT_TRUE(world.controller->image()->find_topic(std::string_view{"answered"}));
  EXPECT_FALSE(world.controller->image()->find_topic(std::string_view{"queued0"}));
  world.stop();
}

TEST(Controller, TwoAutoCreationsAtTheSameTimeMakeOneTopic) {
  ControllerWorld world{1};
  ASSERT_TRUE(world.start());
  std::vector<protocol::ErrorCode> errors;
  for (int i = 0; i < 2; ++i) {
    world.controller->auto_create({"t"}, world.process->io(0),
                                  [&](const auto& results) { errors.push_back(results.at(0).error); });
  }
  world.queue.run_until_idle();
  EXPECT_EQ(errors, (std::vector{protocol::ErrorCode::none, protocol::ErrorCode::none}));
  EXPECT_EQ(world.controller->image()->topic_count(), 1U);
}

TEST(Controller, LeaderEpochsGoUpBeforeAnythingRunsAndStayUp) {
  ControllerWorld world{1};
  ASSERT_TRUE(world.start());
  EXPECT_EQ(world.create("t"), 0);
  const auto id = world.controller->image()->find_topic("t")->id;
  const std::vector<log::PartitionKey> keys{{id, 0}};
  EXPECT_TRUE(world.controller->bump_leader_epochs(keys));
  EXPECT_EQ(world.controller->image()->find_topic("t")->partitions[0].leader_epoch, LeaderEpoch{1});
  world.stop();
  ASSERT_TRUE(world.start());
  EXPECT_EQ(world.controller->image()->find_topic("t")->partitions[0].leader_epoch, LeaderEpoch{1});
}

TEST(ProducerIds, AreNeverGivenTwiceAlsoAfterACrash) {
  ControllerWorld world{1};
  std::set<std::int64_t> given;
  for (int start = 0; start < 3; ++start) {
    ASSERT_TRUE(world.start()) << world.why;
    ProducerIdSource source{*world.controller};
    int answers = 0;
    for (int i = 0; i < 2500; ++i) {
      source.next(world.process->io(static_cast<std::size_t>(i) % 2), [&](const Result<std::int64_t>& id) {
        ASSERT_TRUE(id);
        EXPECT_TRUE(given.insert(*id).second) << *id;
        ++answers;
      });
    }
    world.queue.run_until_idle();
    EXPECT_EQ(answers, 2500);
    world.crash(static_cast<std::uint64_t>(start), sim::CrashMode::power_cut);
  }
}

TEST(ProducerIds, AFailureIsToldToAllThatWait) {
  ControllerWorld world{1};
  const LogCapture quiet;
  ASSERT_TRUE(world.start());
  world.disk.set_fault_hook([](sim::DiskOperation operation, const std::string&) {
    return operation == sim::DiskOperation::sync ? std::optional<Error>{{Errc::disk_failed, 5}} : std::nullopt;
  });
  ProducerIdSource source{*world.controller};
  int failures = 0;
  for (int i = 0; i < 3; ++i) {
    source.next(world.process->io(0), [&](const Result<std::int64_t>& id) { failures += id ? 0 : 1; });
  }
  world.queue.run_until_idle();
  EXPECT_EQ(failures, 3);
}

TEST(Controller, WhatIsSetForBrokersAndGroupsIsInASnapshotAndActsBeforeAnybodyCanAsk) {
  EffectiveConfig first{Config{}};
  EffectiveConfig second{Config{}};
  ControllerWorld world{17};
  world.settings.config = &first;
  world.settings.snapshot_after_bytes = 1;  // after every change
  ASSERT_TRUE(world.start()) << world.why;
  EXPECT_EQ(world.set_config(ResourceType::broker, "", "message.max.bytes", "2000"), 0);
  EXPECT_EQ(world.set_config(ResourceType::broker, "1", "max.connections", "7"), 0);
  EXPECT_EQ(world.set_config(ResourceType::group, "g", "consumer.session.timeout.ms", "46000"), 0);
  EXPECT_EQ(first.current()->message_max_bytes, 2000);
  world.crash(3, sim::CrashMode::power_cut);
  world.settings.config = &second;
  ASSERT_TRUE(world.start()) << world.why;
  EXPECT_EQ(second.current()->message_max_bytes, 2000);
  EXPECT_EQ(second.current()->max_connections, 7);
  EXPECT_EQ(second.fixed().message_max_bytes, Config{}.message_max_bytes);
  EXPECT_EQ(world.controller->image()->overrides(ResourceType::group, "g")->at("consumer.session.timeout.ms"), "46000");
}

// Random work, small snapshots, a crash at a random disk operation: what was answered is there, and at most the one
// change that was under way besides.
TEST(ControllerSim, ARestartShowsTheLastAnsweredStateOrOneChangeMore) {
  for (const auto seed : sim::seeds(200)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const LogCapture quiet;
    Random random{seed};
    ControllerWorld world{seed};
    world.settings.snapshot_after_bytes = 2000;
    ImagePointer last;
    for (int life = 0; life < 3; ++life) {
      ASSERT_TRUE(world.start()) << world.why;
      if (last != nullptr) {
        ASSERT_TRUE(world.is_state_or_successor(*last)) << "life " << life;
      }
      last = world.controller->image();
      world.disk.crash_at_operation(1 + random.below(120));
      for (int step = 0; step < 40 && !world.disk.crashed(); ++step) {
        if (world.random_change(random)) {
          last = world.controller->image();
        }
      }
      world.crash(random.next(), random.chance(2) ? sim::CrashMode::power_cut : sim::CrashMode::process_death);
    }
  }
}

TEST(ControllerSim, SnapshotAndTailMakeTheSameImageAsTheWholeLog) {
  for (const auto seed : sim::seeds(20)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random first_random{seed};
    Random second_random{seed};
    ControllerWorld with_snapshots{seed};
    with_snapshots.settings.snapshot_after_bytes = 1500;
    ControllerWorld without{seed};
    ASSERT_TRUE(with_snapshots.start());
    ASSERT_TRUE(without.start());
    for (int step = 0; step < 60; ++step) {
      with_snapshots.random_change(first_random);
      without.random_change(second_random);
    }
    with_snapshots.stop();
    without.stop();
    ASSERT_TRUE(with_snapshots.start()) << with_snapshots.why;
    ASSERT_TRUE(without.start()) << without.why;
    EXPECT_TRUE(*with_snapshots.controller->image() == *without.controller->image());
    const auto names = with_snapshots.disk.list("data/metadata");
    ASSERT_TRUE(names);
    EXPECT_EQ(std::ranges::count_if(*names, [](const auto& name) { return name.ends_with(".checkpoint"); }), 2);
  }
}

}  // namespace
}  // namespace weir::metadata
