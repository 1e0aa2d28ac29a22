#include "coordinator/metadata/data_folder.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "sim/seams/seeds.hpp"
#include "sim/seams/sim_disk.hpp"

namespace weir::metadata {
namespace {

constexpr const char* kFile = "data/meta.properties";
constexpr const char* kCopy = "data/metadata/meta.properties";

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
    EXPECT_FALSE((*folder)->clean_end());
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
    ASSERT_TRUE((*folder)->mark_clean_shutdown(LogPosition{8192}));
  }
  {
    const auto folder = open();
    ASSERT_TRUE(folder) << why_;
    EXPECT_EQ((*folder)->clean_end(), LogPosition{8192});
  }
  const auto folder = open();
  ASSERT_TRUE(folder) << why_;
  EXPECT_FALSE((*folder)->clean_end());
}

TEST_F(DataFolderTest, ACleanShutdownFileWithoutAWholeEndIsNoCleanStart) {
  ASSERT_TRUE(open());
  // The third one: an older version named no end.
  for (const auto* text : {"", "clean shut", "clean shutdown, format 1\n", "clean shutdown, format 2\nlog.end=\n",
                           "clean shutdown, format 2\nlog.end=81", "clean shutdown, format 2\nlog.end=-1\n",
                           "clean shutdown, format 2\nlog.end=8192x\n"}) {
    write("data/clean-shutdown", text);
    const auto folder = open();
    ASSERT_TRUE(folder) << why_;
    EXPECT_FALSE((*folder)->clean_end()) << text;
    EXPECT_FALSE(disk_.exists("data/clean-shutdown"));
  }
}

TEST_F(DataFolderTest, IsHeldByOneProcessAtATime) {
  const auto first = open();
  ASSERT_TRUE(first) << why_;
  const auto second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::in_use);
  EXPECT_EQ(why_, "data folder data is in use by process " + std::to_string(second.error().detail) +
                      "; stop it, or name another folder with --data");
}

TEST_F(DataFolderTest, AFolderThatCannotBeMadeIsToldInWordsThatSayWhatToDo) {
  const std::vector<std::pair<Error, std::string>> rows{
      {{Errc::disk_failed, EACCES},
       "permission denied; the user that runs this needs the right to read and write there"},
      {{Errc::disk_failed, EROFS}, "its file system is read-only"},
      {{Errc::already_exists, ENOTDIR}, "there is a file in its place, or in its path"},
      {{Errc::disk_failed, EIO}, "disk failed: Input/output error (errno 5)"},
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

TEST_F(DataFolderTest, EitherIdentityFileBringsTheOtherBackWhereverItWasChangedCutOrRemoved) {
  ASSERT_TRUE(open());
  const auto sound = *read_file(disk_, kFile, 1 << 20);
  ASSERT_EQ(*read_file(disk_, kCopy, 1 << 20), sound);
  const auto first = *open();
  const auto comes_back = [&](sim::SimDisk& disk) {
    std::string why;
    const auto folder = DataFolder::open(disk, "data", 1, random_, why);
    ASSERT_TRUE(folder) << why;
    EXPECT_EQ((*folder)->identity(), first->identity());
    EXPECT_EQ(*read_file(disk, kFile, 1 << 20), sound);
    EXPECT_EQ(*read_file(disk, kCopy, 1 << 20), sound);
  };
  for (const auto* path : {kFile, kCopy}) {
    for (std::size_t at = 0; at < sound.size(); ++at) {
      SCOPED_TRACE(std::string{path} + ", byte " + std::to_string(at));
      const auto changed = disk_.clone(at);
      ASSERT_TRUE(changed->damage(path, static_cast<std::int64_t>(at), std::byte{0x02}));
      comes_back(*changed);
      const auto cut = disk_.clone(at);
      ASSERT_TRUE(replace_file(*cut, path, Bytes{sound}.first(at)));
      comes_back(*cut);
    }
    const auto gone = disk_.clone(1);
    ASSERT_TRUE(gone->remove(path));
    comes_back(*gone);
  }
}

TEST_F(DataFolderTest, OldDataWithoutAnyIdentityIsNotMadeANewCluster) {
  ASSERT_TRUE(open());
  ASSERT_TRUE(disk_.remove(kFile));
  ASSERT_TRUE(disk_.remove(kCopy));
  const auto missing = open();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::not_found);
  EXPECT_EQ(
      why_,
      "data/meta.properties is missing, and so is its copy data/metadata/meta.properties; put one of them back, or "
      "make them again with `weir metadata repair data`");
  write(kFile, "weir.format=1\nversion=1\ncluster.id=4L6g");
  const auto cut = open();
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, Errc::corrupt);
  EXPECT_NE(why_.find("meta.properties is damaged, and so is its copy"), std::string::npos) << why_;
  write(kFile, "version=1\ncluster.id=4L6g3nShT-eMCtK--X86sw\nnode.id=1\n");
  EXPECT_FALSE(open());
  EXPECT_NE(why_.find("`weir metadata repair data`"), std::string::npos) << "a changed weir.format looks like Kafka's";
}

TEST_F(DataFolderTest, AFileOfAnEarlierVersionIsTakenAndGetsItsChecksumAndItsCopy) {
  constexpr std::string_view kOld{
      "# Who this data folder belongs to. Made by Weir at its first start; do not edit.\nweir.format=1\nversion=1\n"
      "cluster.id=4L6g3nShT-eMCtK--X86sw\nnode.id=1\ndirectory.id=pmiT0wIlSzK2Gq7uSx9x5A\n"};
  write(kFile, kOld);
  ASSERT_TRUE(disk_.make_directories("data/metadata"));
  const auto folder = open();
  ASSERT_TRUE(folder) << why_;
  EXPECT_EQ((*folder)->identity().cluster_id, "4L6g3nShT-eMCtK--X86sw");
  EXPECT_EQ(to_string((*folder)->identity().directory_id), "pmiT0wIlSzK2Gq7uSx9x5A");
  for (const auto* path : {kFile, kCopy}) {
    EXPECT_EQ(as_text(*read_file(disk_, path, 1 << 20)), write_meta_properties((*folder)->identity())) << path;
  }
  EXPECT_FALSE(disk_.exists("data/meta.properties.damaged"));
}

TEST_F(DataFolderTest, TwoSoundFilesThatDisagreeAreForTheOperatorToJudge) {
  ASSERT_TRUE(open());
  const Identity other{.cluster_id = "4L6g3nShT-eMCtK--X86sw", .node_id = 1, .directory_id = Random{1}.uuid()};
  write(kFile, write_meta_properties(other));
  const auto folder = open();
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, Errc::corrupt);
  EXPECT_NE(why_.find("cluster.id=4L6g3nShT-eMCtK--X86sw"), std::string::npos) << why_;
  EXPECT_NE(why_.find("`weir metadata repair --cluster-id ID data`"), std::string::npos) << why_;
}

TEST_F(DataFolderTest, AFullDiskIsNoReasonToRefuseAnIdentityThatIsKnown) {
  ASSERT_TRUE(open());
  ASSERT_TRUE(disk_.damage(kFile, 100, std::byte{1}));
  disk_.set_capacity(1);
  EXPECT_TRUE(open()) << why_;
  disk_.set_capacity(1 << 20);
  EXPECT_TRUE(open()) << why_;
}

TEST_F(DataFolderTest, RefusesAnotherNodesFolder) {
  ASSERT_TRUE(open(2));
  EXPECT_TRUE(open(2)) << why_;
  EXPECT_FALSE(open(1));
  EXPECT_EQ(
      why_,
      "data folder data belongs to node 2, but node.id is 1; start with --set node.id=2, or give this node a folder "
      "of its own");
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
  EXPECT_EQ(read_meta_properties(std::string_view{text}.substr(0, text.rfind("weir.checksum")), read),
            MetaProperties::unchecked);
  EXPECT_EQ(read, identity);
  EXPECT_EQ(read_meta_properties("version=1\ncluster.id=a\nnode.id=1\n", read), MetaProperties::kafkas);
  EXPECT_EQ(read_meta_properties("weir.format=2\nfuture=x\n", read), MetaProperties::newer);
  EXPECT_EQ(read_meta_properties("weir.format=1\nversion=1\n", read), MetaProperties::malformed);
  EXPECT_EQ(read_meta_properties("weir.format=0\n", read), MetaProperties::malformed);
  EXPECT_EQ(read_meta_properties("", read), MetaProperties::malformed);
  EXPECT_EQ(read_meta_properties("no equals sign", read), MetaProperties::malformed);
}

TEST(MetaProperties, AnyChangedLetterIsNoticedOrChangesNothing) {
  const Identity identity{.cluster_id = "4L6g3nShT-eMCtK--X86sw", .node_id = 3, .directory_id = Random{1}.uuid()};
  const auto text = write_meta_properties(identity);
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      auto changed = text;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      Identity read;
      const auto kind = read_meta_properties(changed, read);
      EXPECT_TRUE(kind == MetaProperties::malformed || (kind == MetaProperties::unchecked && read == identity))
          << changed;
    }
  }
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
