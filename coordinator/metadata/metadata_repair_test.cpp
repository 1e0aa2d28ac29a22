// Metadata that a start refuses: what can be read is kept, the rest is named, and no topic's data is dropped for it.
#include "coordinator/metadata/metadata_repair.hpp"

#include <gtest/gtest.h>

#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/internal_topics.hpp"
#include "coordinator/metadata/metadata_log.hpp"
#include "coordinator/metadata/plan_parts.hpp"
#include "protocol/gen/producer_ids_record.hpp"
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
        in_log_.partitions.push_back(
            {{record.topic_id, p}, LocalPartition{static_cast<std::uint32_t>(2 * i + p + 1)}, {}});
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
  // The folder `metadata` as it was behind so many batches, all else as it is now.
  void put_back_copy_of(int topics) {
    ASSERT_TRUE((*disk_.open(kLog, {}))->truncate(sizes_[static_cast<std::size_t>(topics)]));
    ASSERT_TRUE(disk_.remove("data/metadata/end"));
    const auto beside = *read_file(disk_, "data/metadata-end", 100);
    ASSERT_TRUE(disk_.remove("data/metadata-end"));
    ASSERT_TRUE(open(disk_)) << "and its own end mark";
    ASSERT_TRUE(replace_file(disk_, "data/metadata-end", beside));
  }
  sim::SimDisk disk_{1};
  Random random_{1};
  std::vector<Uuid> ids_;
  log::FoundPartitions in_log_;
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
  EXPECT_TRUE(disk_.exists(snapshot + ".damaged"));
}

TEST_F(MetadataRepairTest, AnEmptyMetadataBesideALogIsRefusedAndNoFirstStart) {
  for (const auto* beside : {"data/commitlog", "data/manifest"}) {
    const auto copy = disk_.clone(3);
    for (const auto& name : *copy->list("data/metadata")) {
      ASSERT_TRUE(copy->remove("data/metadata/" + name));
    }
    ASSERT_TRUE(copy->make_directories(beside));
    EXPECT_FALSE(MetadataLog::open(*copy, "data", why_)) << beside;
    EXPECT_NE(why_.find("`weir metadata repair data`"), std::string::npos) << why_;
    EXPECT_EQ(repair(*copy).topics, static_cast<std::size_t>(kTopics));
    EXPECT_TRUE(open(*copy)->find_topic(recovered_name(ids_[0])));
  }
}

TEST_F(MetadataRepairTest, AnInternalTopicComesBackUnderItsNameWithItsConfigs) {
  for (const auto name : {kOffsetsTopic, kTransactionTopic, kShareStateTopic}) {
    in_log_.partitions.push_back({{internal_topic_id(name), 49}, LocalPartition{99}, LeaderEpoch{7}});
  }
  ASSERT_TRUE(disk_.damage(kLog, sizes_[1] + 40, std::byte{0x10}));
  const auto report = repair(disk_);
  EXPECT_EQ(std::ranges::count(report.findings,
                               "topic __consumer_offsets of 50 partitions lost its records: it is "
                               "back, with the configs that its coordinator makes it with"),
            1);
  const auto image = open(disk_);
  for (const auto name : {kOffsetsTopic, kTransactionTopic, kShareStateTopic}) {
    const auto topic = image->find_topic(name);
    ASSERT_TRUE(topic) << name;
    EXPECT_EQ(topic->partitions.size(), 50U);
    EXPECT_EQ(topic->partitions[49].leader_epoch, LeaderEpoch{7});
    EXPECT_EQ(*topic->overrides, internal_topic_configs(name, 104'857'600));
  }
  EXPECT_EQ(image->find_topic(kOffsetsTopic)->overrides->at("cleanup.policy"), "compact");
}

TEST_F(MetadataRepairTest, PartitionsAndEpochsThatOnlyTheLogKnowsAreTaken) {
  in_log_.partitions[1].leader_epoch = LeaderEpoch{4};
  in_log_.partitions.insert(in_log_.partitions.begin() + 2, {{ids_[0], 3}, LocalPartition{90}, LeaderEpoch{2}});
  ASSERT_TRUE(disk_.damage(kLog, sizes_[4] + 40, std::byte{0x10}));
  const auto report = repair(disk_);
  const auto says = [&](const std::string& finding) { return std::ranges::count(report.findings, finding); };
  EXPECT_EQ(says("topic t0: 1 partition got the leader epoch that the log has seen"), 1);
  EXPECT_EQ(says("topic t0: 2 partitions came back from the log"), 1);
  EXPECT_EQ(std::ranges::count_if(report.findings, [](const auto& one) { return one.starts_with("topic t1"); }), 0);
  const auto topic = open(disk_)->find_topic(ids_[0]);
  ASSERT_EQ(topic->partitions.size(), 4U);
  EXPECT_EQ(topic->partitions[0].leader_epoch, LeaderEpoch{0});
  EXPECT_EQ(topic->partitions[1].leader_epoch, LeaderEpoch{4});
  EXPECT_EQ(topic->partitions[3].leader_epoch, LeaderEpoch{2});
}

TEST_F(MetadataRepairTest, NoProducerIdThatALostRecordMayHaveGivenOutIsGivenOutAgain) {
  std::vector<std::int64_t> ends;
  constexpr int kBlocks = 4;
  {
    auto opened = MetadataLog::open(disk_, "data", why_);
    ASSERT_TRUE(opened) << why_;
    for (int block = 1; block <= kBlocks; ++block) {
      ends.push_back(std::ssize(*read_file(disk_, kLog, 1 << 20)));
      RecordList records;
      protocol::ProducerIdsRecord record;
      record.next_producer_id = block * 1000;
      records.add(record, 0);
      ASSERT_TRUE(opened->log->append(records, 1));
    }
  }
  for (const auto at : ends) {
    const auto copy = disk_.clone(5);
    ASSERT_TRUE(copy->damage(kLog, at + 40, std::byte{0x10}));
    repair(*copy);
    EXPECT_GE(open(*copy)->next_producer_id(), kBlocks * 1000) << at;
  }
  in_log_.producer_id_max = 123'456;
  ASSERT_TRUE(disk_.damage(kLog, 40, std::byte{0x10}));
  repair(disk_);
  EXPECT_GT(open(disk_)->next_producer_id(), 123'456);
}

// The end mark alone knows of them: the file ends behind a whole batch.
TEST_F(MetadataRepairTest, RecordsThatAreMissingAtTheEndCountAsLostOnes) {
  std::int64_t size = 0;
  {
    auto opened = MetadataLog::open(disk_, "data", why_);
    ASSERT_TRUE(opened) << why_;
    for (int block = 1; block <= 4; ++block) {
      RecordList records;
      protocol::ProducerIdsRecord record;
      record.next_producer_id = block * 1000;
      records.add(record, 0);
      ASSERT_TRUE(opened->log->append(records, 1));
      size = block == 1 ? std::ssize(*read_file(disk_, kLog, 1 << 20)) : size;
    }
  }
  ASSERT_TRUE((*disk_.open(kLog, {}))->truncate(size));
  const auto report = repair(disk_);
  const auto end = 3 * kTopics + 4;
  EXPECT_EQ(report.findings.at(0),
            "data/metadata lacks its last records, " + std::to_string(end - 3) + " to " + std::to_string(end - 1));
  EXPECT_GE(open(disk_)->next_producer_id(), 4'000);
  EXPECT_GE(open(disk_)->end_offset(), Offset{end}) << "no offset is given twice";
}

TEST_F(MetadataRepairTest, AnOlderCopyCostsNoTopicThatWasMadeSinceItsData) {
  put_back_copy_of(2);
  EXPECT_FALSE(MetadataLog::open(disk_, "data", why_));
  const auto copy = disk_.clone(4);
  const auto report = repair(disk_);
  EXPECT_FALSE(report.was_sound);
  EXPECT_EQ(report.findings.at(0), "data/metadata lacks its last records, 6 to 14");
  const auto image = open(disk_);
  ASSERT_TRUE(image);
  EXPECT_GE(image->end_offset(), Offset{3 * kTopics}) << "no offset is given twice";
  for (int i = 0; i < kTopics; ++i) {
    const auto id = ids_[static_cast<std::size_t>(i)];
    const auto topic = image->find_topic(id);
    ASSERT_TRUE(topic) << i;
    EXPECT_EQ(topic->name, i < 2 ? "t" + std::to_string(i) : recovered_name(id));
    EXPECT_EQ(topic->partitions.size(), 2U);
  }
  EXPECT_TRUE(repair(disk_).was_sound);
  // The same copy again: the repair has raised the mark, before any start.
  ASSERT_TRUE(replace_file(*copy, "data/metadata-end", *read_file(disk_, "data/metadata-end", 100)));
  EXPECT_FALSE(MetadataLog::open(*copy, "data", why_));
}

TEST_F(MetadataRepairTest, ACrashAnywhereInARepairOfAnOlderCopyLeavesNoFolderThatLacksATopic) {
  put_back_copy_of(1);
  for (std::uint64_t number = 1; number < 60; ++number) {
    for (const auto mode : {sim::CrashMode::power_cut, sim::CrashMode::process_death}) {
      SCOPED_TRACE("operation " + std::to_string(number));
      const auto copy = disk_.clone(number);
      copy->crash_at_operation(number);
      static_cast<void>(repair_metadata(*copy, "data", kIdentity, in_log_, 1, why_));
      copy->crash(number, mode);
      std::string why;
      if (const auto opened = MetadataLog::open(*copy, "data", why)) {
        EXPECT_EQ(opened->image->topic_count(), static_cast<std::size_t>(kTopics)) << "taken by a start";
      }
      repair(*copy);
      const auto image = open(*copy);
      ASSERT_TRUE(image);
      EXPECT_EQ(image->topic_count(), static_cast<std::size_t>(kTopics));
    }
  }
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
