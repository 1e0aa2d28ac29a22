// A controller on a simulated machine that can crash and start again. For tests; one thread.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "coordinator/metadata/controller.hpp"
#include "protocol/gen/create_topics.hpp"
#include "protocol/gen/delete_topics.hpp"
#include "protocol/gen/incremental_alter_configs.hpp"
#include "sim/seams/sim_runtime.hpp"

namespace weir::metadata {

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
  int set_retention(const std::string& name, std::uint64_t retention_ms) {
    protocol::IncrementalAlterConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = static_cast<std::int8_t>(ResourceType::topic);
    resource.resource_name = name;
    resource.configs.push_back({.name = "retention.ms",
                                .config_operation = 0,
                                .value = protocol::Text{std::to_string(retention_ms)},
                                .unknown_tags = {}});
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
      default: return set_retention(name, value) == 0;
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

}  // namespace weir::metadata
