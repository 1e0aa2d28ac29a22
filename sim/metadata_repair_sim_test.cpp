// The whole broker, one flipped bit anywhere in its metadata log or an older copy of the folder `metadata` put back,
// `weir metadata repair`, and a start: no group may lose a committed offset by it, and no topic that a group reads its
// name.
#include <gtest/gtest.h>

#include <map>

#include "coordinator/metadata/data_folder.hpp"
#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/internal_topics.hpp"
#include "coordinator/metadata/metadata_log.hpp"
#include "coordinator/metadata/metadata_repair.hpp"
#include "coordinator/metadata/plan_parts.hpp"
#include "log/find_partitions.hpp"
#include "protocol/errors.hpp"
#include "protocol/gen/find_coordinator.hpp"
#include "protocol/gen/offset_commit.hpp"
#include "protocol/gen/offset_fetch.hpp"
#include "protocol/gen/topic_record.hpp"
#include "sim/seams/seeds.hpp"
#include "sim/sim_producer.hpp"

namespace weir::sim {
namespace {
using namespace protocol;

constexpr const char* kLog = "data/metadata/00000000000000000000.log";
constexpr std::int32_t kOffsetsPartitions = 4;  // as small_broker_config()
constexpr int kGroups = 8;
constexpr int kRegions = 12;
const SimTopic kTopic{"orders", 3};

std::string group_name(int number) {
  return "group" + std::to_string(number);
}

// What an early build left before its first record: the topic under a random id.
void plant_old_offsets_topic(Disk& disk, Random& random) {
  std::string why;
  const auto folder = metadata::DataFolder::open(disk, "data", 1, random, why);
  ASSERT_TRUE(folder) << why;
  const auto opened = metadata::MetadataLog::open(disk, "data", why);
  ASSERT_TRUE(opened) << why;
  TopicRecord record;
  record.name = std::string{metadata::kOffsetsTopic};
  record.topic_id = random.uuid();
  metadata::RecordList records;
  records.add(record, 0);
  for (const auto& [key, value] : metadata::internal_topic_configs(metadata::kOffsetsTopic, 1 << 20)) {
    metadata::add_config(records, {metadata::ResourceType::topic, record.name.str()}, key, value);
  }
  for (std::int32_t i = 0; i < kOffsetsPartitions; ++i) {
    metadata::add_partition(records, record.topic_id, i, metadata::new_partition((*folder)->identity()));
  }
  ASSERT_TRUE(opened->log->append(records, 1));
}

class MetadataRepairSim : public testing::TestWithParam<bool> {
 protected:
  template <class Request, class Response>
  Response call(World& world, const Request& request) {
    const auto answer = world.call<Request, Response>(*connection_, request);
    EXPECT_TRUE(answer) << to_string(answer.error());
    return answer ? answer->response : Response{};
  }
  void connect(World& world) {
    connection_.reset();
    auto opened = world.connect();
    ASSERT_TRUE(opened);
    connection_ = *opened;
  }
  void commit_all(World& world) {
    ASSERT_TRUE(create_topic(world, kTopic, {}));
    connect(world);
    FindCoordinatorRequest find;
    find.coordinator_keys = {group_name(0)};
    for (int i = 0; i < 50; ++i) {
      const auto found = call<FindCoordinatorRequest, FindCoordinatorResponse>(world, find);
      if (found.coordinators.at(0).error_code == 0) {
        break;
      }
    }
    for (int i = 0; i < kGroups; ++i) {
      OffsetCommitRequest request;
      request.group_id = group_name(i);
      auto& topic = request.topics.emplace_back();
      const auto image = world.broker().services().controller.image();
      topic.name = kTopic.name;
      topic.topic_id = image->find_topic(std::string_view{kTopic.name})->id;
      topic.partitions.push_back({.partition_index = i % 3, .committed_offset = 100 + i});
      std::int16_t error = -1;
      for (int retry = 0; retry < 100 && error != 0; ++retry) {
        error =
            call<OffsetCommitRequest, OffsetCommitResponse>(world, request).topics.at(0).partitions.at(0).error_code;
      }
      ASSERT_EQ(error, 0);
    }
  }
  std::int64_t committed(World& world, int number) {
    OffsetFetchRequest request;
    auto& asked = request.groups.emplace_back();
    asked.group_id = group_name(number);
    asked.topics.reset();  // all of them
    const auto answer = call<OffsetFetchRequest, OffsetFetchResponse>(world, request);
    const auto& group = answer.groups.at(0);
    if (group.error_code != 0) {
      return -2;
    }
    return group.topics.empty() ? -1 : group.topics[0].partitions.at(0).committed_offset;
  }
  void repair(World& world) {
    std::string why;
    metadata::Identity identity = metadata::read_identity(world.disk(), "data/meta.properties")->identity;
    const auto found = log::find_partitions(world.disk(), "data");
    ASSERT_TRUE(found) << to_string(found.error());
    const auto report = metadata::repair_metadata(world.disk(), "data", identity, *found, 1, why);
    ASSERT_TRUE(report) << why;
    for (const auto& finding : report->findings) {
      EXPECT_EQ(finding.find("recovered-"), std::string::npos) << finding;
    }
  }
  void expect_all(World& world) {
    const auto image = world.broker().services().controller.image();
    const auto& offsets = image->find_topic(metadata::kOffsetsTopic);
    ASSERT_TRUE(offsets);
    EXPECT_EQ(offsets->partitions.size(), static_cast<std::size_t>(kOffsetsPartitions));
    EXPECT_EQ(offsets->overrides->at("cleanup.policy"), "compact");
    ASSERT_TRUE(image->find_topic(std::string_view{kTopic.name}));
    connect(world);
    for (int i = 0; i < kGroups; ++i) {
      std::int64_t offset = -2;
      for (int retry = 0; retry < 100 && offset == -2; ++retry) {
        offset = committed(world, i);
      }
      EXPECT_EQ(offset, 100 + i) << group_name(i);
    }
  }

  std::shared_ptr<client::Connection> connection_;  // goes before its world
};

TEST_P(MetadataRepairSim, AFlippedBitInTheMetadataLogCostsNoCommittedOffset) {
  int repairs = 0;
  for (const auto seed : seeds(3)) {
    for (int region = 0; region < kRegions; ++region) {
      SCOPED_TRACE("WEIR_SEED=" + std::to_string(seed) + ", region " + std::to_string(region));
      World world{seed};
      Random random{seed};
      if (GetParam()) {
        plant_old_offsets_topic(world.disk(), random);
      }
      ASSERT_TRUE(world.start_broker()) << world.why();
      commit_all(world);
      world.crash(CrashMode::process_death);
      const auto size = std::ssize(*read_file(world.disk(), kLog, 1 << 20));
      const auto at = size * region / kRegions + static_cast<std::int64_t>(random.below(20));
      ASSERT_TRUE(
          world.disk().damage(kLog, std::min(at, size - 1), std::byte{static_cast<unsigned char>(1U << seed % 8U)}));
      if (!world.start_broker()) {
        EXPECT_NE(world.why().find("`weir metadata repair data`"), std::string::npos) << world.why();
        repair(world);
        ++repairs;
        ASSERT_TRUE(world.start_broker()) << world.why();
      }
      expect_all(world);
      connection_.reset();
    }
  }
  EXPECT_GE(repairs, kRegions) << "damage that nothing notices proves nothing";
}

using Files = std::map<std::string, std::vector<std::byte>>;

Files files_of(Disk& disk) {
  Files files;
  for (const auto& name : *disk.list("data/metadata")) {
    files[name] = *read_file(disk, "data/metadata/" + name, 1 << 20);
  }
  return files;
}

void put_back(Disk& disk, const Files& files) {
  for (const auto& name : *disk.list("data/metadata")) {
    ASSERT_TRUE(disk.remove("data/metadata/" + name));
  }
  for (const auto& [name, content] : files) {
    ASSERT_TRUE(replace_file(disk, "data/metadata/" + name, content));
  }
}

TEST_P(MetadataRepairSim, AnOlderCopyOfTheMetadataIsRefusedAndARepairOfItCostsNoCommittedOffset) {
  for (const auto seed : seeds(5)) {
    SCOPED_TRACE("WEIR_SEED=" + std::to_string(seed));
    World world{seed};
    Random random{seed};
    if (GetParam()) {
      plant_old_offsets_topic(world.disk(), random);
    }
    ASSERT_TRUE(world.start_broker()) << world.why();
    const auto older = files_of(world.disk());
    commit_all(world);
    world.crash(seed % 2 == 0 ? CrashMode::process_death : CrashMode::power_cut);
    const auto newest = files_of(world.disk());
    put_back(world.disk(), older);
    if (!world.start_broker()) {
      EXPECT_NE(world.why().find("it is an older copy"), std::string::npos) << world.why();
      EXPECT_NE(world.why().find("`weir metadata repair data`"), std::string::npos) << world.why();
      if (random.chance(2)) {
        put_back(world.disk(), newest);
      } else {
        repair(world);
      }
      ASSERT_TRUE(world.start_broker()) << world.why();
      expect_all(world);
    } else {
      EXPECT_EQ(seed % 2, 1U) << "only a power cut takes the mark away";
    }
    connection_.reset();
  }
}

INSTANTIATE_TEST_SUITE_P(FoldersOfNowAndOfEarlyBuilds, MetadataRepairSim, testing::Bool());

}  // namespace
}  // namespace weir::sim
