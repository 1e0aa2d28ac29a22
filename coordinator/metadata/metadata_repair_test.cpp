// Metadata that a start refuses: what can be read is kept, the rest is named, and no topic's data is dropped for it.
#include "coordinator/metadata/metadata_repair.hpp"

#include <gtest/gtest.h>

#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/metadata_log.hpp"
#include "coordinator/metadata/plan_parts.hpp"
#include "protocol/gen/topic_record.hpp"
#include "sim/seams/sim_disk.hpp"

namespace weir::metadata {
namespace {

constexpr int kTopics = 5;
constexpr const char* kLog = "data/metadata/00000000000000000000.log";
const Identity kIdentity{"cluster", 1, Uuid{}};

std::string recovered_name(const Uuid& id) {
  std::string name{"recovered-"};
  name += to_string(id);
  return name;
}

class MetadataRepairTest : public testing::Test {
 protected:
  // kTopics topics of two partitions each, a batch each, in one log file without a snapshot.
  void SetUp() override {
    ASSERT_TRUE(disk_.make_directories("data"));
    ASSERT_TRUE(disk_.sync_directory("."));
    auto opened = MetadataLog::open(disk_, "data", why_);
    ASSERT_TRUE(opened) << why_;
    for (int i = 0; i < kTopics; ++i) {
      sizes_.push_back(std::ssize(*read_file(disk_, kLog, 1 << 20)));
      RecordList records;
      protocol::TopicRecord record;
      record.name = "t" + std::to_string(i);
      record.topic_id = random_.uuid();
      ids_.push_back(record.topic_id);
      records.add(record, 0);
      for (int p = 0; p < 2; ++p) {
        add_partition(records, record.topic_id, p, new_partition(kIdentity));
        in_log_.push_back({record.topic_id, p});
      }
      ASSERT_TRUE(opened->log->append(records, 1));
    }
    sizes_.push_back(std::ssize(*read_file(disk_, kLog, 1 << 20)));
  }
  MetadataRepair repair(Disk& disk) {
    auto report = repair_metadata(disk, "data", kIdentity, in_log_, 1, why_);
    EXPECT_TRUE(report) << why_;
    return report ? std::move(*report) : MetadataRepair{};
  }
  ImagePointer open(Disk& disk) {
    auto opened = MetadataLog::open(disk, "data", why_);
    EXPECT_TRUE(opened) << why_;
    return opened ? opened->image : nullptr;
  }
  sim::SimDisk disk_{1};
  Random random_{1};
  std::vector<Uuid> ids_;
  std::vector<log::PartitionKey> in_log_;
  std::vector<std::int64_t> sizes_;
  std::string why_;
};

TEST_F(MetadataRepairTest, ASoundFolderIsLeftAlone) {
  const auto before = *disk_.list("data/metadata");
  const auto report = repair(disk_);
  EXPECT_TRUE(report.was_sound);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(*disk_.list("data/metadata"), before);
}

TEST_F(MetadataRepairTest, AnyDamagedByteCostsOneTopicItsNameAndNoTopicItsData) {
  for (std::int64_t at = sizes_[1]; at < sizes_[5]; at += at < sizes_[2] || at >= sizes_[4] ? 1 : 37) {
    SCOPED_TRACE("byte " + std::to_string(at));
    const auto hit = std::ranges::upper_bound(sizes_, at) - sizes_.begin() - 1;
    const auto copy = disk_.clone(9);
    ASSERT_TRUE(copy->damage(kLog, at, std::byte{0x10}));
    std::string why;
    if (MetadataLog::open(*copy, "data", why)) {
      continue;  // the leader epoch of a batch, which no checksum covers and nobody reads
    }
    EXPECT_NE(why.find("`weir metadata repair data`"), std::string::npos) << why;
    const auto report = repair(*copy);
    EXPECT_EQ(report.topics, static_cast<std::size_t>(kTopics));
    const auto image = open(*copy);
    ASSERT_TRUE(image);
    for (int i = 0; i < kTopics; ++i) {
      const auto topic = image->find_topic(ids_[static_cast<std::size_t>(i)]);
      ASSERT_TRUE(topic);
      EXPECT_EQ(topic->partitions.size(), 2U);
      const auto name = "t" + std::to_string(i);
      const auto recovered = recovered_name(topic->id);
      EXPECT_TRUE(topic->name == name || (i == hit && topic->name == recovered)) << topic->name;
    }
    EXPECT_TRUE(copy->exists(std::string{kLog}.append(".damaged")));
    EXPECT_TRUE(repair(*copy).was_sound);
  }
}

TEST_F(MetadataRepairTest, WhatIsAppendedAfterARepairIsThereAtTheNextStart) {
  ASSERT_TRUE(disk_.damage(kLog, sizes_[2] + 40, std::byte{0x10}));
  repair(disk_);
  auto opened = MetadataLog::open(disk_, "data", why_);
  ASSERT_TRUE(opened) << why_;
  RecordList records;
  protocol::TopicRecord record;
  record.name = "later";
  record.topic_id = random_.uuid();
  records.add(record, 0);
  ASSERT_TRUE(opened->log->append(records, 1));
  opened->log.reset();
  EXPECT_TRUE(open(disk_)->find_topic("later"));
}

TEST_F(MetadataRepairTest, AMissingLogAndADamagedSnapshotLeaveTheTopicsWithoutTheirNames) {
  {
    auto opened = MetadataLog::open(disk_, "data", why_);
    ASSERT_TRUE(opened->log->write_snapshot(*opened->image, 1));
  }
  std::string snapshot{"data/metadata/"};
  snapshot += snapshot_name(Offset{3 * kTopics});
  ASSERT_TRUE(disk_.damage(snapshot, 100, std::byte{1}));
  ASSERT_TRUE(disk_.remove(kLog));
  EXPECT_FALSE(MetadataLog::open(disk_, "data", why_));
  const auto report = repair(disk_);
  EXPECT_EQ(report.topics, static_cast<std::size_t>(kTopics));
  EXPECT_TRUE(open(disk_)->find_topic(recovered_name(ids_[3])));
}

TEST_F(MetadataRepairTest, ACrashAnywhereInARepairLeavesAFolderThatCanBeRepairedOrOpened) {
  ASSERT_TRUE(disk_.damage(kLog, sizes_[1] + 40, std::byte{0x10}));
  for (std::uint64_t number = 1; number < 60; ++number) {
    SCOPED_TRACE("operation " + std::to_string(number));
    const auto copy = disk_.clone(number);
    copy->crash_at_operation(number);
    static_cast<void>(repair_metadata(*copy, "data", kIdentity, in_log_, 1, why_));
    copy->crash(number, sim::CrashMode::power_cut);
    repair(*copy);
    const auto image = open(*copy);
    ASSERT_TRUE(image);
    EXPECT_EQ(image->topic_count(), static_cast<std::size_t>(kTopics));
  }
}

}  // namespace
}  // namespace weir::metadata
