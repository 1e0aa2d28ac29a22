// Identity files that a start refuses: made again from what is left, or refused with what the operator must say.
#include "coordinator/metadata/identity_repair.hpp"

#include <gtest/gtest.h>

#include "coordinator/metadata/data_folder.hpp"
#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/metadata_log.hpp"
#include "sim/seams/sim_disk.hpp"

namespace weir::metadata {
namespace {

constexpr const char* kFile = "data/meta.properties";
constexpr const char* kCopy = "data/metadata/meta.properties";

class IdentityRepairTest : public testing::Test {
 protected:
  // A folder of node 3 whose metadata has its registration.
  void SetUp() override {
    const auto folder = DataFolder::open(disk_, "data", 3, random_, why_);
    ASSERT_TRUE(folder) << why_;
    identity_ = (*folder)->identity();
    auto opened = MetadataLog::open(disk_, "data", why_);
    ASSERT_TRUE(opened) << why_;
    BrokerRegistration broker;
    broker.id = 3;
    broker.epoch = 0;
    broker.directories = {identity_.directory_id};
    RecordList records;
    add_broker(records, broker);
    ASSERT_TRUE(opened->log->append(records, 1));
    ASSERT_TRUE(disk_.make_directories("data/commitlog"));
  }
  Result<RepairedIdentity> repair(const IdentityWish& wish = {}) {
    return repair_identity(disk_, "data", wish, random_, why_);
  }
  void expect_a_start_with(const Identity& identity) {
    const auto folder = DataFolder::open(disk_, "data", identity.node_id, random_, why_);
    ASSERT_TRUE(folder) << why_;
    EXPECT_EQ((*folder)->identity(), identity);
  }
  void write(const std::string& path, const Identity& identity) {
    ASSERT_TRUE(replace_file(disk_, path, as_bytes(write_meta_properties(identity))));
  }
  sim::SimDisk disk_{1};
  Random random_{7};
  Identity identity_;
  std::string why_;
};

TEST_F(IdentityRepairTest, WhatIsSoundIsLeftAlone) {
  const auto repaired = repair();
  ASSERT_TRUE(repaired) << why_;
  EXPECT_EQ(repaired->identity, identity_);
  EXPECT_TRUE(repaired->findings.empty());
  EXPECT_FALSE(repair({.cluster_id = "another", .node_id = {}}));
  EXPECT_NE(why_.find("says the cluster id " + identity_.cluster_id), std::string::npos) << why_;
}

TEST_F(IdentityRepairTest, OneFileBringsTheOtherBack) {
  for (const auto* path : {kFile, kCopy}) {
    ASSERT_TRUE(disk_.damage(path, 120, std::byte{1}));
    const auto repaired = repair();
    ASSERT_TRUE(repaired) << why_;
    EXPECT_EQ(repaired->findings.size(), 1U);
    EXPECT_TRUE(disk_.exists(std::string{path}.append(".damaged")));
    expect_a_start_with(identity_);
  }
}

TEST_F(IdentityRepairTest, WithoutBothTheOperatorSaysTheClusterAndTheMetadataTheRest) {
  ASSERT_TRUE(disk_.remove(kFile));
  ASSERT_TRUE(disk_.remove(kCopy));
  EXPECT_FALSE(repair());
  EXPECT_NE(why_.find("say it: `weir metadata repair --cluster-id ID data`"), std::string::npos) << why_;
  const auto repaired = repair({.cluster_id = identity_.cluster_id, .node_id = {}});
  ASSERT_TRUE(repaired) << why_;
  EXPECT_EQ(repaired->identity, identity_);
  expect_a_start_with(identity_);
}

TEST_F(IdentityRepairTest, WhatIsLeftOfADamagedFileIsSaidAndNotBelieved) {
  ASSERT_TRUE(disk_.damage(kFile, 120, std::byte{1}));
  ASSERT_TRUE(disk_.remove(kCopy));
  EXPECT_FALSE(repair());
  EXPECT_NE(why_.find("what is left of them says "), std::string::npos) << why_;
}

TEST_F(IdentityRepairTest, WithoutFilesAndMetadataTheOperatorSaysTheNodeToo) {
  for (const auto& name : *disk_.list("data/metadata")) {
    ASSERT_TRUE(disk_.remove("data/metadata/" + name));
  }
  ASSERT_TRUE(disk_.remove(kFile));
  const auto repaired = repair({.cluster_id = identity_.cluster_id, .node_id = 3});
  ASSERT_TRUE(repaired) << why_;
  EXPECT_EQ(repaired->identity.cluster_id, identity_.cluster_id);
  EXPECT_EQ(repaired->identity.node_id, 3);
  EXPECT_FALSE(repaired->identity.directory_id.is_zero());
  EXPECT_NE(repaired->findings.at(0).find("a new directory id"), std::string::npos);
  expect_a_start_with(repaired->identity);
}

TEST_F(IdentityRepairTest, OfTwoThatDisagreeTheOneThatTheOperatorNamesStays) {
  auto other = identity_;
  other.cluster_id = "4L6g3nShT-eMCtK--X86sw";
  for (const auto& wanted : {identity_, other}) {
    write(kFile, other);
    write(kCopy, identity_);
    EXPECT_FALSE(repair());
    EXPECT_FALSE(repair({.cluster_id = "neither", .node_id = {}}));
    EXPECT_NE(why_.find("--cluster-id"), std::string::npos) << why_;
    ASSERT_TRUE(repair({.cluster_id = wanted.cluster_id, .node_id = {}})) << why_;
    expect_a_start_with(wanted);
  }
}

TEST_F(IdentityRepairTest, AFolderOfKafkaIsNotTouched) {
  sim::SimDisk kafkas{1};
  ASSERT_TRUE(kafkas.make_directories("data"));
  ASSERT_TRUE(replace_file(kafkas, kFile, as_bytes(std::string_view{"version=1\ncluster.id=x\nnode.id=1\n"})));
  EXPECT_FALSE(repair_identity(kafkas, "data", {.cluster_id = "x", .node_id = {}}, random_, why_));
  EXPECT_NE(why_.find("Apache Kafka"), std::string::npos) << why_;
  EXPECT_FALSE(kafkas.exists("data/metadata"));
}

}  // namespace
}  // namespace weir::metadata
