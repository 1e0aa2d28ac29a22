// What a repair of the metadata learns from the log, whatever is wrong with the files beside the records.
#include "log/find_partitions.hpp"

#include <gtest/gtest.h>

#include "base/posix_disk.hpp"
#include "log/segment_files.hpp"
#include "log/test_log.hpp"

namespace weir::log {
namespace {

const std::string kFirst = "data/commitlog/" + segment_file_name(SegmentId{1});

std::vector<PartitionKey> keys_of(const FoundPartitions& found) {
  std::vector<PartitionKey> keys;
  for (const auto& one : found.partitions) {
    keys.push_back(one.key);
  }
  return keys;
}

class FindPartitionsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(test.start());
    const auto one = test.create(2, 0);
    const auto two = test.create(1, 3);
    const auto gone = test.create(1, 1);
    test.append_now(one, {.values = {"a"}, .producer_id = 77, .producer_epoch = 0, .base_sequence = 0});
    test.append_now(two, {.values = {"b"}});
    test.append_now(gone, {.values = {"c"}, .producer_id = 99, .producer_epoch = 0, .base_sequence = 0});
    test.log->remove(gone->key());
    test.append_now(one, {.values = {"d", "e"}});
    ASSERT_TRUE(test.stop());
  }
  void expect_all(Disk& disk) {
    const auto found = find_partitions(disk, "data");
    ASSERT_TRUE(found) << to_string(found.error());
    EXPECT_EQ(keys_of(*found), (std::vector<PartitionKey>{{topic_number(1), 3}, {topic_number(2), 0}}));
    EXPECT_EQ(found->producer_id_max, 77);
    std::vector<std::int64_t> bases;
    const auto shown = show_batches(
        disk, "data", *found, {topic_number(2)},
        [&](const PartitionKey& key, const protocol::RecordBatchView& batch) {
          EXPECT_EQ(key, (PartitionKey{topic_number(2), 0}));
          bases.push_back(batch.base_offset());
        },
        [] { return false; });
    EXPECT_TRUE(shown);
    EXPECT_EQ(bases, (std::vector<std::int64_t>{0, 1}));
  }
  TestLog test{83};
};

TEST_F(FindPartitionsTest, AreThoseThatLiveByRisingKeyWithTheBatchesOfTheirTopics) {
  expect_all(test.disk);
}

TEST_F(FindPartitionsTest, AreFoundWithoutAManifestAndWithADamagedOne) {
  const auto damaged = test.disk.clone(1);
  ASSERT_TRUE(damaged->damage("data/manifest", 20, std::byte{1}));
  expect_all(*damaged);
  ASSERT_TRUE(test.disk.remove("data/manifest"));
  expect_all(test.disk);
}

TEST_F(FindPartitionsTest, AreFoundInASegmentWhoseHeaderIsDamaged) {
  ASSERT_TRUE(test.disk.damage(kFirst, 20, std::byte{1}));
  ASSERT_FALSE(read_segment_header(**test.disk.open(kFirst, {.read_only = true})));
  expect_all(test.disk);
}

TEST_F(FindPartitionsTest, AreNoneInAnEmptyFolder) {
  const auto found = find_partitions(test.disk, "elsewhere");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->partitions.empty());
}

// The index of the segment before has its state.
TEST(FindPartitions, OneThatWasDeletedInALaterSegmentIsNotFound) {
  TestLog test{84};
  ASSERT_TRUE(test.start());
  const auto stays = test.create(1, 0);
  const auto gone = test.create(2, 0);
  const auto fill_to = [&](std::int64_t segments) {
    while (test.log->statistics().segments < segments) {
      test.append_now(stays, {.values = {std::string(200'000, 'x')}});
    }
  };
  test.append_now(gone, {.values = {"a"}});
  fill_to(2);
  test.log->remove(gone->key());
  fill_to(4);
  ASSERT_TRUE(test.stop());
  const auto found = find_partitions(test.disk, "data");
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_EQ(keys_of(*found), (std::vector<PartitionKey>{stays->key()}));
}

// Its manifest holds no seeds: they are in the segments' headers alone.
TEST(FindPartitions, AreFoundInAFolderOfAnEarlyBuild) {
  PosixDisk disk;
  const auto found = find_partitions(disk, WEIR_SOURCE_DIR "/log/testdata/fixture-v1");
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_EQ(found->partitions.size(), 1U);
  EXPECT_EQ(found->partitions[0].local, LocalPartition{1});
  EXPECT_EQ(found->partitions[0].leader_epoch, LeaderEpoch{1});
}

TEST(FindPartitions, OfAnEarlyBuildWithoutTheHeaderOfOneSegmentAreThoseOfTheOthers) {
  PosixDisk disk;
  const std::string from{WEIR_SOURCE_DIR "/log/testdata/fixture-v1/"};
  sim::SimDisk copy{1};
  ASSERT_TRUE(copy.make_directories("data/commitlog"));
  ASSERT_TRUE(replace_file(copy, "data/manifest", *read_file(disk, from + "manifest", 1 << 20)));
  for (const auto& name : *disk.list(from + "commitlog")) {
    ASSERT_TRUE(replace_file(copy, "data/commitlog/" + name, *read_file(disk, from + "commitlog/" + name, 1 << 20)));
  }
  ASSERT_TRUE(copy.damage(kFirst, 20, std::byte{1}));
  const auto found = find_partitions(copy, "data");
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_EQ(found->partitions.size(), 1U);
  EXPECT_EQ(found->partitions[0].local, LocalPartition{1});
}

}  // namespace
}  // namespace weir::log
