#include "coordinator/metadata/metadata_log.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/errno_error.hpp"
#include "coordinator/metadata/image_builder.hpp"
#include "protocol/gen/topic_record.hpp"
#include "sim/seams/sim_disk.hpp"

namespace weir::metadata {
namespace {

class MetadataLogTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(disk_.make_directories("data"));
    ASSERT_TRUE(disk_.sync_directory("."));
  }
  bool open() {
    log_.reset();
    auto opened = MetadataLog::open(disk_, "data", why_);
    if (!opened) {
      return false;
    }
    log_ = std::move(opened->log);
    image_ = opened->image;
    findings_ = opened->findings;
    return true;
  }
  RecordList topic(const std::string& name) {
    protocol::TopicRecord record;
    record.name = name;
    record.topic_id = random_.uuid();
    RecordList records;
    records.add(record, 0);
    return records;
  }
  void add(const std::string& name) {
    const auto records = topic(name);
    ASSERT_TRUE(log_->append(records, 1));
    ImageBuilder builder{*image_};
    ASSERT_TRUE(builder.apply_all(image_->end_offset(), records));
    image_ = builder.build();
  }
  void snapshot() { ASSERT_TRUE(log_->write_snapshot(*image_, 1)); }
  std::int64_t size_of(const std::string& path) { return std::ssize(*read_file(disk_, path, 1 << 20)); }

  static constexpr const char* kMark = "data/metadata/end";
  static constexpr const char* kMarkBeside = "data/metadata-end";
  static constexpr const char* kFirst = "data/metadata/00000000000000000000.log";
  sim::SimDisk disk_{1};
  Random random_{1};
  std::unique_ptr<MetadataLog> log_;
  ImagePointer image_;
  std::vector<std::string> findings_;
  std::string why_;
};

TEST_F(MetadataLogTest, ShowsAfterARestartWhatWasAppended) {
  ASSERT_TRUE(open()) << why_;
  add("a");
  add("b");
  const auto before = image_;
  ASSERT_TRUE(open()) << why_;
  EXPECT_TRUE(*image_ == *before);
  EXPECT_TRUE(findings_.empty());
  EXPECT_EQ(log_->end_offset(), Offset{2});
}

TEST_F(MetadataLogTest, CutsATornTailAndSaysSo) {
  ASSERT_TRUE(open()) << why_;
  add("a");
  const auto good = size_of(kFirst);
  add("b");
  const auto whole = size_of(kFirst);
  for (auto size = whole - 1; size > good; size -= 7) {
    const auto copy = disk_.clone(9);
    ASSERT_TRUE((*copy->open(kFirst, {}))->truncate(size));
    ASSERT_TRUE(copy->remove(kMark)) << "an append that was cut off has not raised it";
    ASSERT_TRUE(copy->remove(kMarkBeside));
    std::string why;
    const auto opened = MetadataLog::open(*copy, "data", why);
    ASSERT_TRUE(opened) << why;
    EXPECT_NE(opened->image->find_topic("a"), nullptr);
    EXPECT_EQ(opened->image->find_topic("b"), nullptr);
    ASSERT_EQ(opened->findings.size(), 1U);
    EXPECT_NE(opened->findings[0].find(kFirst), std::string::npos);
  }
}

TEST_F(MetadataLogTest, RefusesALogThatWasChangedInTheMiddleAndNamesIt) {
  ASSERT_TRUE(open()) << why_;
  add("a");
  const auto first = size_of(kFirst);
  add("b");
  add("c");
  log_.reset();
  for (std::int64_t at = 0; at < first; ++at) {
    if (at >= 12 && at < 16) {
      continue;  // the leader epoch, which no checksum covers and nobody reads
    }
    const auto copy = disk_.clone(9);
    ASSERT_TRUE(copy->damage(kFirst, at, std::byte{0x10}));
    std::string why;
    EXPECT_FALSE(MetadataLog::open(*copy, "data", why)) << "byte " << at;
    EXPECT_NE(why.find(kFirst), std::string::npos) << why;
  }
}

TEST_F(MetadataLogTest, RefusesALogWhoseLastBatchWasChangedOrCutThoughItWasWhole) {
  ASSERT_TRUE(open()) << why_;
  add("a");
  const auto first = size_of(kFirst);
  add("b");
  const auto whole = size_of(kFirst);
  log_.reset();
  for (auto at = first; at < whole; ++at) {
    const auto flipped = disk_.clone(9);
    ASSERT_TRUE(flipped->damage(kFirst, at, std::byte{0x10}));
    const auto cut = disk_.clone(9);
    ASSERT_TRUE((*cut->open(kFirst, {}))->truncate(at));
    for (const auto& copy : {flipped.get(), cut.get()}) {
      std::string why;
      const bool is_epoch = copy == flipped.get() && at - first >= 12 && at - first < 16;
      EXPECT_EQ(MetadataLog::open(*copy, "data", why).has_value(), is_epoch) << "byte " << at;
      EXPECT_EQ(why.find(kFirst) != std::string::npos, !is_epoch) << why;
    }
  }
}

TEST_F(MetadataLogTest, RefusesAFolderThatLostItsLastLogOrAllFiles) {
  ASSERT_TRUE(open()) << why_;
  add("a");
  log_.reset();
  ASSERT_TRUE(disk_.remove(kFirst));
  EXPECT_FALSE(open());
  EXPECT_NE(why_.find("lacks the log file that holds offset 0"), std::string::npos) << why_;
}

// The cache alone would have it, and take it for written: what follows would not be whole after a power cut.
TEST_F(MetadataLogTest, WhatIsBehindAFailedSyncIsCutOffAlsoForAStartWithoutRoomForANewFile) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    SetUp();
    ASSERT_TRUE(open()) << why_;
    add("before " + std::to_string(seed));
    disk_.set_fault_hook([](auto what, const auto& path) -> std::optional<Error> {
      const bool is_hit = what == sim::DiskOperation::sync && path.ends_with(".log");
      return is_hit ? std::optional{error_of_failed_sync(ENOSPC)} : std::nullopt;
    });
    EXPECT_FALSE(log_->append(topic("refused " + std::to_string(seed)), 1));
    log_.reset();
    disk_.crash(seed, sim::CrashMode::process_death);
    disk_.set_fault_hook([](auto what, const auto& path) -> std::optional<Error> {
      const bool is_hit = what == sim::DiskOperation::create && !path.ends_with("/end.tmp");
      return is_hit ? std::optional{error_of_errno(ENOSPC)} : std::nullopt;
    });
    const auto synced = image_;
    ASSERT_TRUE(open()) << why_;
    EXPECT_TRUE(*image_ == *synced) << "what was refused";
    add("behind " + std::to_string(seed));
    const auto before = image_;
    log_.reset();
    disk_.crash(seed, sim::CrashMode::power_cut);
    disk_.set_fault_hook({});
    ASSERT_TRUE(open()) << why_;
    EXPECT_TRUE(*image_ == *before);
  }
}

TEST_F(MetadataLogTest, AShortageAtTheFileBehindASnapshotLeavesTheLogUsable) {
  ASSERT_TRUE(open()) << why_;
  for (const int number : {ENOSPC, EMFILE}) {
    for (const auto operation : {sim::DiskOperation::create, sim::DiskOperation::allocate}) {
      add("before " + std::to_string(image_->end_offset().value));
      disk_.set_fault_hook([&](auto what, const auto& path) -> std::optional<Error> {
        return what == operation && path.ends_with(".log") ? std::optional{error_of_errno(number)} : std::nullopt;
      });
      static_cast<void>(log_->write_snapshot(*image_, 1).has_value());
      disk_.set_fault_hook({});
      add("behind " + std::to_string(image_->end_offset().value));
      const auto before = image_;
      ASSERT_TRUE(open()) << why_;
      EXPECT_TRUE(*image_ == *before);
    }
  }
}

TEST_F(MetadataLogTest, ADamagedEndMarkClaimsNothing) {
  ASSERT_TRUE(open()) << why_;
  add("a");
  log_.reset();
  for (const auto& [damaged, other] : {std::pair{kMark, kMarkBeside}, std::pair{kMarkBeside, kMark}}) {
    for (std::int64_t at = 0; at < size_of(damaged); ++at) {
      const auto copy = disk_.clone(9);
      ASSERT_TRUE(copy->damage(damaged, at, std::byte{0x40}));
      std::string why;
      EXPECT_TRUE(MetadataLog::open(*copy->clone(9), "data", why)) << why;
      ASSERT_TRUE((*copy->open(kFirst, {}))->truncate(1));
      EXPECT_FALSE(MetadataLog::open(*copy->clone(9), "data", why)) << "the other one claims it";
      ASSERT_TRUE(copy->remove(other));
      EXPECT_TRUE(MetadataLog::open(*copy, "data", why)) << why;
    }
  }
}

// Each as it was behind its batch: the folder alone is consistent, with its own end mark.
TEST_F(MetadataLogTest, WhatIsNoEndMarkIsPutAsideMadeAgainAndNamedOnce) {
  ASSERT_TRUE(open()) << why_;
  add("a");
  log_.reset();
  const auto good = *read_file(disk_, kMark, 100);
  auto grown = good;
  grown.push_back(std::byte{'x'});
  auto changed = good;
  changed[9] ^= std::byte{1};
  for (const auto& bad : {grown, changed, std::vector<std::byte>(3, std::byte{7})}) {
    for (const std::string path : {kMark, kMarkBeside}) {
      ASSERT_TRUE(replace_file(disk_, path, bad));
      ASSERT_TRUE(open()) << why_;
      EXPECT_EQ(findings_,
                std::vector{path + " was not a valid end mark: recreated, the old content is in " + path + ".damaged"});
      EXPECT_EQ(*read_file(disk_, path, 100), good);
      EXPECT_EQ(*read_file(disk_, path + ".damaged", 100), bad);
      ASSERT_TRUE(open()) << why_;
      EXPECT_TRUE(findings_.empty());
    }
  }
}

TEST_F(MetadataLogTest, AnEmptyFolderInTheMarksPlaceGoesAndAFullOneIsNamedAtEachStart) {
  ASSERT_TRUE(open()) << why_;
  add("a");
  ASSERT_TRUE(disk_.remove(kMark));
  ASSERT_TRUE(disk_.make_directories(kMark));
  ASSERT_TRUE(open()) << why_;
  EXPECT_EQ(findings_, std::vector{std::string{kMark} + " was not a valid end mark: recreated"});
  EXPECT_EQ(*read_file(disk_, kMark, 100), *read_file(disk_, kMarkBeside, 100));
  ASSERT_TRUE(disk_.remove(kMark));
  ASSERT_TRUE(disk_.make_directories(std::string{kMark} + "/of somebody"));
  for (int start = 0; start < 2; ++start) {
    ASSERT_TRUE(open()) << why_;
    ASSERT_EQ(findings_.size(), 1U);
    EXPECT_TRUE(findings_[0].starts_with(std::string{kMark} + " is not a valid end mark and cannot be recreated"))
        << findings_[0];
    add("b" + std::to_string(start));
  }
}

TEST_F(MetadataLogTest, WhatAPowerCutLeavesOfANewMarkIsWrittenOverWithoutAWord) {
  ASSERT_TRUE(open()) << why_;
  add("a");
  const auto good = *read_file(disk_, kMark, 100);
  for (const std::size_t size : {std::size_t{0}, good.size()}) {
    ASSERT_TRUE(replace_file(disk_, kMark, std::vector<std::byte>(size)));
    ASSERT_TRUE(open()) << why_;
    EXPECT_TRUE(findings_.empty());
    EXPECT_EQ(*read_file(disk_, kMark, 100), good);
  }
}

TEST_F(MetadataLogTest, AnOlderCopyOfTheFolderIsRefusedAndTheSentenceSaysWhatItIsAndWhatToDo) {
  ASSERT_TRUE(open()) << why_;
  std::vector<std::unique_ptr<sim::SimDisk>> copies;
  for (int i = 0; i < 6; ++i) {
    add("t" + std::to_string(i));
    if (i % 2 == 1) {
      snapshot();
    }
    copies.push_back(disk_.clone(9));
  }
  log_.reset();
  const auto newest = *read_file(disk_, kMarkBeside, 100);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    std::string why;
    EXPECT_TRUE(MetadataLog::open(*copies[i], "data", why)) << "a copy of the whole data folder: " << why;
    ASSERT_TRUE(replace_file(*copies[i], kMarkBeside, newest));
    const bool is_newest = i + 1 == copies.size();
    EXPECT_EQ(MetadataLog::open(*copies[i], "data", why).has_value(), is_newest) << i;
    if (!is_newest) {
      EXPECT_EQ(why, "the metadata in data/metadata end at offset " + std::to_string(i + 1) +
                         ", but this node's metadata were at 6 already (data/metadata-end): it is an older copy, and "
                         "what was made since would be deleted; put back the newest copy of the folder metadata, or "
                         "keep what can be read with `weir metadata repair data`");
    }
  }
}

TEST_F(MetadataLogTest, AFolderOfAnEarlyBuildGetsTheMarksThatItLacksAtItsFirstStart) {
  ASSERT_TRUE(open()) << why_;
  add("a");
  log_.reset();
  const auto beside = *read_file(disk_, kMarkBeside, 100);
  for (const auto* missing : {kMark, kMarkBeside}) {
    ASSERT_TRUE(disk_.remove(missing));
    ASSERT_TRUE(open()) << why_;
    EXPECT_TRUE(findings_.empty());
    EXPECT_EQ(*read_file(disk_, missing, 100), beside) << missing;
  }
}

TEST_F(MetadataLogTest, AMarkThatCannotBeWrittenHoldsUpNothing) {
  disk_.set_fault_hook([](auto what, const auto& path) -> std::optional<Error> {
    const bool is_hit = what == sim::DiskOperation::create && (path == kMark || path == kMarkBeside);
    return is_hit ? std::optional{error_of_errno(ENOSPC)} : std::nullopt;
  });
  ASSERT_TRUE(open()) << why_;
  add("a");
  EXPECT_FALSE(disk_.exists(kMark) || disk_.exists(kMarkBeside));
  disk_.set_fault_hook({});
  add("b");
  EXPECT_EQ(*read_file(disk_, kMark, 100), *read_file(disk_, kMarkBeside, 100));
  ASSERT_TRUE(open()) << why_;
  EXPECT_NE(image_->find_topic("b"), nullptr);
}

TEST_F(MetadataLogTest, KeepsTwoSnapshotsAndTheLogsSinceTheOlder) {
  ASSERT_TRUE(open()) << why_;
  for (int i = 0; i < 5; ++i) {
    add("t" + std::to_string(i));
    snapshot();
  }
  add("tail");
  const auto before = image_;
  EXPECT_EQ(
      *disk_.list("data/metadata"),
      (std::vector<std::string>{"00000000000000000004-0000000001.checkpoint", "00000000000000000004.log",
                                "00000000000000000005-0000000001.checkpoint", "00000000000000000005.log", "end"}));
  ASSERT_TRUE(open()) << why_;
  EXPECT_TRUE(*image_ == *before);
}

TEST_F(MetadataLogTest, ADamagedNewestSnapshotCostsNothing) {
  ASSERT_TRUE(open()) << why_;
  add("a");
  snapshot();
  add("b");
  snapshot();
  add("c");
  const auto before = image_;
  ASSERT_TRUE(disk_.damage("data/metadata/00000000000000000002-0000000001.checkpoint", 90, std::byte{1}));
  ASSERT_TRUE(open()) << why_;
  EXPECT_TRUE(*image_ == *before);
  ASSERT_EQ(findings_.size(), 1U);
  EXPECT_NE(findings_[0].find("00000000000000000002"), std::string::npos);
}

TEST_F(MetadataLogTest, WithoutAnyGoodSnapshotTheStartIsRefused) {
  ASSERT_TRUE(open()) << why_;
  for (int i = 0; i < 3; ++i) {
    add("t" + std::to_string(i));
    snapshot();
  }
  for (const auto* end : {"2", "3"}) {
    ASSERT_TRUE(disk_.damage("data/metadata/0000000000000000000" + std::string{end} + "-0000000001.checkpoint", 90,
                             std::byte{1}));
  }
  EXPECT_FALSE(open());
  EXPECT_NE(why_.find("lacks the log file"), std::string::npos) << why_;
}

TEST_F(MetadataLogTest, AMissingLogFileIsRefused) {
  ASSERT_TRUE(open()) << why_;
  add("a");
  snapshot();
  add("b");
  snapshot();
  ASSERT_TRUE(disk_.remove("data/metadata/00000000000000000001.log"));
  EXPECT_TRUE(open()) << "the newest snapshot does not need it: " << why_;
  ASSERT_TRUE(disk_.remove("data/metadata/00000000000000000002.log"));
  EXPECT_FALSE(open());
}

TEST_F(MetadataLogTest, ASnapshotIsReadWholeOrNotAtAll) {
  ASSERT_TRUE(open()) << why_;
  add("a");
  const auto content = *make_snapshot(*image_, 1);
  for (std::size_t size = 0; size <= content.size(); ++size) {
    ImageBuilder builder{MetadataImage{}};
    EXPECT_EQ(read_snapshot(Bytes{content}.first(size), builder).has_value(), size == content.size()) << size;
  }
}

}  // namespace
}  // namespace weir::metadata
