#include "coordinator/metadata/data_folder.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "sim/seams/seeds.hpp"
#include "sim/seams/sim_disk.hpp"

namespace weir::metadata {
namespace {

class DataFolderTest : public testing::Test {
 protected:
  Result<std::unique_ptr<DataFolder>> open(std::int32_t node_id = 1) {
    return DataFolder::open(disk_, "data", node_id, random_, why_);
  }
  void write(const std::string& path, std::string_view text) {
    ASSERT_TRUE(disk_.make_directories("data"));
    ASSERT_TRUE(replace_file(disk_, path, as_bytes(text)));
  }
  sim::SimDisk disk_{1};
  Random random_{7};
  std::string why_;
};

TEST_F(DataFolderTest, KeepsTheIdentityOfTheFirstStart) {
  Identity first;
  {
    const auto folder = open();
    ASSERT_TRUE(folder) << why_;
    EXPECT_TRUE((*folder)->first_start());
    EXPECT_FALSE((*folder)->clean_start());
    first = (*folder)->identity();
    EXPECT_EQ(first.cluster_id.size(), 22U);
    EXPECT_FALSE(first.directory_id.is_zero());
  }
  const auto again = open();
  ASSERT_TRUE(again) << why_;
  EXPECT_FALSE((*again)->first_start());
  EXPECT_EQ((*again)->identity(), first);
}

TEST_F(DataFolderTest, OnlyAMarkedStopIsCleanAndOnlyOnce) {
  {
    const auto folder = open();
    ASSERT_TRUE(folder) << why_;
    ASSERT_TRUE((*folder)->mark_clean_shutdown());
  }
  {
    const auto folder = open();
    ASSERT_TRUE(folder) << why_;
    EXPECT_TRUE((*folder)->clean_start());
  }
  const auto folder = open();
  ASSERT_TRUE(folder) << why_;
  EXPECT_FALSE((*folder)->clean_start());
}

TEST_F(DataFolderTest, ACleanShutdownFileCutShortIsNoCleanStart) {
  ASSERT_TRUE(open());
  write("data/clean-shutdown", "clean shut");
  const auto folder = open();
  ASSERT_TRUE(folder) << why_;
  EXPECT_FALSE((*folder)->clean_start());
  EXPECT_FALSE(disk_.exists("data/clean-shutdown"));
}

TEST_F(DataFolderTest, IsHeldByOneProcessAtATime) {
  const auto first = open();
  ASSERT_TRUE(first) << why_;
  const auto second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::in_use);
  EXPECT_EQ(why_, "data folder data is in use by process " + std::to_string(second.error().detail));
}

TEST_F(DataFolderTest, AFolderThatCannotBeMadeIsToldInWordsThatSayWhatToDo) {
  const std::vector<std::pair<Error, std::string>> rows{
      {{Errc::disk_failed, EACCES},
       "permission denied; the user that runs this needs the right to read and write there"},
      {{Errc::disk_failed, EROFS}, "its file system is read-only"},
      {{Errc::already_exists, ENOTDIR}, "there is a file in its place, or in its path"},
      {{Errc::disk_failed, EIO}, "disk failed (5): Input/output error"},
      {{Errc::disk_full, EACCES}, "disk full (13)"},
  };
  for (const auto& [error, words] : rows) {
    disk_.set_fault_hook([&error = error](sim::DiskOperation operation, const std::string&) {
      return operation == sim::DiskOperation::make_directories ? std::optional{error} : std::nullopt;
    });
    EXPECT_FALSE(open());
    EXPECT_EQ(why_, "cannot make the data folder data: " + words);
  }
}

TEST_F(DataFolderTest, RefusesAFolderThatKafkaFormatted) {
  write("data/meta.properties", "#\nversion=1\ncluster.id=4L6g3nShT-eMCtK--X86sw\nnode.id=1\n");
  const auto folder = open();
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, Errc::invalid_argument);
  EXPECT_NE(why_.find("formatted by Apache Kafka"), std::string::npos) << why_;
  EXPECT_FALSE(disk_.exists("data/meta.properties.tmp"));
}

TEST_F(DataFolderTest, RefusesKafkasMetadataEvenWithoutItsPropertiesFile) {
  write("data/bootstrap.checkpoint", "x");
  EXPECT_FALSE(open());
  EXPECT_NE(why_.find("bootstrap.checkpoint"), std::string::npos) << why_;
}

TEST_F(DataFolderTest, RefusesToMakeANewClusterOutOfOldData) {
  ASSERT_TRUE(open());
  ASSERT_TRUE(disk_.remove("data/meta.properties"));
  EXPECT_TRUE(open()) << "nothing but the identity was there";
  ASSERT_TRUE(disk_.make_directories("data/metadata"));
  ASSERT_TRUE(disk_.remove("data/meta.properties"));
  const auto folder = open();
  ASSERT_FALSE(folder);
  EXPECT_NE(why_.find("no meta.properties"), std::string::npos) << why_;
}

TEST_F(DataFolderTest, RefusesAnotherNodesFolder) {
  ASSERT_TRUE(open(2));
  EXPECT_TRUE(open(2)) << why_;
  EXPECT_FALSE(open(1));
  EXPECT_EQ(why_, "data folder data belongs to node 2, but node.id is 1");
}

TEST_F(DataFolderTest, SurvivesAPowerCutAtEveryOperationOfTheFirstStart) {
  for (const auto seed : sim::seeds(60)) {
    sim::SimDisk disk{seed};
    Random random{seed};
    disk.crash_at_operation(1 + seed % 15);
    std::optional<Identity> shown;
    {
      std::string why;
      if (const auto folder = DataFolder::open(disk, "data", 1, random, why)) {
        shown = (*folder)->identity();
      }
    }
    disk.crash(seed, sim::CrashMode::power_cut);
    std::string why;
    const auto folder = DataFolder::open(disk, "data", 1, random, why);
    ASSERT_TRUE(folder) << "seed " << seed << ": " << why;
    if (shown) {
      EXPECT_EQ((*folder)->identity(), *shown) << "seed " << seed;
    }
  }
}

TEST(MetaProperties, SaysWhoWroteTheFile) {
  Identity identity{.cluster_id = "4L6g3nShT-eMCtK--X86sw", .node_id = 3, .directory_id = Random{1}.uuid()};
  Identity read;
  const auto text = write_meta_properties(identity);
  EXPECT_EQ(read_meta_properties(text, read), MetaProperties::ours);
  EXPECT_EQ(read, identity);
  EXPECT_EQ(read_meta_properties("version=1\ncluster.id=a\nnode.id=1\n", read), MetaProperties::kafkas);
  EXPECT_EQ(read_meta_properties("weir.format=2\nfuture=x\n", read), MetaProperties::newer);
  EXPECT_EQ(read_meta_properties("weir.format=1\nversion=1\n", read), MetaProperties::malformed);
  EXPECT_EQ(read_meta_properties("weir.format=0\n", read), MetaProperties::malformed);
  EXPECT_EQ(read_meta_properties("", read), MetaProperties::malformed);
  EXPECT_EQ(read_meta_properties("no equals sign", read), MetaProperties::malformed);
}

TEST(MetaProperties, AnyCutOfTheFileIsRefused) {
  const Identity identity{.cluster_id = "4L6g3nShT-eMCtK--X86sw", .node_id = 3, .directory_id = Random{1}.uuid()};
  const auto text = write_meta_properties(identity);
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    Identity read;
    EXPECT_NE(read_meta_properties(std::string_view{text}.substr(0, size), read), MetaProperties::ours) << size;
  }
}

}  // namespace
}  // namespace weir::metadata
