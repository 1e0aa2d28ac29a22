// Files beside the log's own: what a death left goes, what somebody put there stays and is named.
#include "log/unknown_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/logging.hpp"
#include "base/posix_disk.hpp"
#include "base/temporary_folder.hpp"
#include "log/index_layout.hpp"
#include "log/test_log_read.hpp"

namespace weir::log {
namespace {

const std::string kFolder = "data/commitlog/";

std::string segment_name(std::uint64_t number) {
  return segment_file_name(SegmentId{number});
}
std::string index_name(std::uint64_t number) {
  return index_file_name(SegmentId{number});
}

class UnknownFiles : public testing::TestWithParam<IoMode> {
 protected:
  void SetUp() override {
    test.options.io = GetParam();
    ASSERT_TRUE(test.start());
    test.create(1, 0);
    append("first");
  }
  void append(const std::string& value) {
    const auto outcome = test.append_now(test.find(1, 0), {.values = {value}});
    ASSERT_FALSE(outcome.error) << to_string(*outcome.error);
  }
  void put(const std::string& path, Bytes content) {
    const auto file = test.disk.open(path, {.create = true});
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->write_at(0, {&content, 1}));
  }
  void put_text(const std::string& path) { put(path, as_bytes(std::string_view{"mine"})); }
  static std::vector<std::byte> header_of(std::uint64_t number) {
    SegmentHeader header;
    header.id = SegmentId{number};
    header.seed = SegmentSeed{0x1234567890abcdef};
    std::vector<std::byte> bytes(kSegmentHeaderSize);
    encode(header, bytes);
    return bytes;
  }
  // Its one line about files, or "".
  std::string restart() {
    test.kill();
    const LogCapture lines;
    const auto started = test.start();
    EXPECT_TRUE(started) << to_string(started.error());
    std::string said;
    for (const auto& line : lines.lines()) {
      if (line.find("left alone") != std::string::npos) {
        EXPECT_EQ(said, "") << "one line a start";
        said = line;
      }
    }
    return said;
  }
  TestLog test{71};
};

TEST_P(UnknownFiles, WhatADeathLeavesBehindGoesWithoutAWord) {
  const std::vector<std::byte> zeros(1 << 16);
  put(kFolder + segment_name(7), {});            // prepared, never named
  put(kFolder + segment_name(8), zeros);         // the same, in direct mode
  put(kFolder + segment_name(9), header_of(3));  // the same, from the pool
  put(kFolder + index_name(7), encode_index_header(IndexForm::sealed, SegmentId{7}, SegmentSeed{5}));
  put(kFolder + index_name(8) + ".tmp", {});
  EXPECT_EQ(restart(), "");
  for (const auto number : {7U, 8U, 9U}) {
    EXPECT_FALSE(test.disk.exists(kFolder + segment_name(number))) << number;
    EXPECT_FALSE(test.disk.exists(kFolder + index_name(number))) << number;
  }
  EXPECT_FALSE(test.disk.exists(kFolder + index_name(8) + ".tmp"));
}

TEST_P(UnknownFiles, WhatSomebodyPutThereIsLeftAloneAndNamedAtEachStart) {
  const std::vector<std::string> names{segment_name(1) + ".bak", "a copy of " + segment_name(1),
                                       segment_name(40),         index_name(1) + ".bak",
                                       index_name(41),           "notes"};
  const auto copy = header_of(1);
  for (const auto& name : names) {
    name.ends_with(".bak") || name.starts_with("a copy") ? put(kFolder + name, copy) : put_text(kFolder + name);
  }
  ASSERT_TRUE(test.disk.make_directories(kFolder + "empty"));
  ASSERT_TRUE(test.disk.make_directories(kFolder + "full/inside"));
  for (int start = 0; start < 2; ++start) {
    const auto said = restart();
    for (const auto& name : names) {
      EXPECT_TRUE(test.disk.exists(kFolder + name)) << name;
      EXPECT_NE(said.find(name), std::string::npos) << said;
    }
    EXPECT_TRUE(test.disk.exists(kFolder + "empty"));
    EXPECT_TRUE(test.disk.exists(kFolder + "full"));
    append("another");
  }
  EXPECT_EQ(test.read_all(*test.find(1, 0))->size(), 3U);
}

TEST_P(UnknownFiles, ZerosAreOursOnlyIfNothingFollowsThem) {
  std::vector<std::byte> written(100'000);
  put(kFolder + index_name(40), written);
  put(kFolder + segment_name(41), written);
  written.back() = std::byte{1};
  put(kFolder + index_name(42), written);
  put(kFolder + segment_name(43), written);
  const std::array left{index_name(42), segment_name(43), segment_name(44)};
  {
    const auto sparse = test.disk.open(kFolder + segment_name(44), {.create = true});
    const Bytes text = as_bytes(std::string_view{"mine"});
    ASSERT_TRUE((*sparse)->write_at(1LL << 20, {&text, 1}));
    const auto prepared = test.disk.open(kFolder + segment_name(45), {.create = true});
    ASSERT_TRUE((*prepared)->truncate(8LL << 20));
  }
  const auto said = restart();
  for (const auto& name : left) {
    EXPECT_TRUE(test.disk.exists(kFolder + name)) << name;
    EXPECT_NE(said.find(name), std::string::npos) << said;
  }
  for (const auto& name : {index_name(40), segment_name(41), segment_name(45)}) {
    EXPECT_FALSE(test.disk.exists(kFolder + name)) << name;
  }
}

TEST_P(UnknownFiles, AFolderWithASegmentsNameIsLeftAloneAndNamed) {
  ASSERT_TRUE(test.disk.make_directories(kFolder + segment_name(50)));
  EXPECT_NE(restart().find(segment_name(50)), std::string::npos);
  EXPECT_TRUE(test.disk.exists(kFolder + segment_name(50)));
}

TEST(UnknownFilesOnDisk, APipeWithASegmentsNameIsNotOursAndHoldsNobodyUp) {
  const TemporaryFolder folder;
  PosixDisk disk;
  for (const auto& name : {segment_name(50), index_name(50)}) {
    ASSERT_EQ(::mkfifo(folder.file(name).c_str(), 0600), 0);
    EXPECT_FALSE(is_file_of_ours(disk, folder.path(), name));
  }
  const auto left = remove_leftovers(disk, folder.path(), {});
  ASSERT_TRUE(left);
  EXPECT_EQ(*left, (std::vector{index_name(50), segment_name(50)}));
}

TEST(UnknownFilesOnDisk, APreparedSegmentIsOursHoweverLargeItIs) {
  const TemporaryFolder folder;
  PosixDisk disk;
  const auto file = disk.open(folder.file(segment_name(7)), {.create = true}).value();
  ASSERT_TRUE(file->allocate(200LL << 20));
  ASSERT_TRUE(file->truncate(200LL << 20));
  EXPECT_TRUE(is_file_of_ours(disk, folder.path(), segment_name(7)));
  EXPECT_TRUE(is_file_of_ours(disk, folder.path(), segment_name(7))) << "and when the cache has its front";
  const Bytes text = as_bytes(std::string_view{"mine"});
  ASSERT_TRUE(file->write_at(150LL << 20, {&text, 1}));
  EXPECT_FALSE(is_file_of_ours(disk, folder.path(), segment_name(7)));
}

TEST_P(UnknownFiles, ANameThatTheNextSegmentWouldHaveIsSteppedOver) {
  put_text(kFolder + segment_name(3));
  put_text(kFolder + index_name(4));
  for (int i = 0; i < 6; ++i) {
    restart();
    append("another");
  }
  EXPECT_EQ(as_text(*read_file(test.disk, kFolder + segment_name(3), 100)), "mine");
  EXPECT_EQ(as_text(*read_file(test.disk, kFolder + index_name(4), 100)), "mine");
  EXPECT_FALSE(test.disk.exists(kFolder + segment_name(4)));
  EXPECT_EQ(test.read_all(*test.find(1, 0))->size(), 7U);
}

TEST_P(UnknownFiles, InThePoolTheyAreNeitherUsedNorRemoved) {
  ASSERT_TRUE(test.disk.make_directories("data/pool/folder"));
  put_text("data/pool/notes");
  put_text("data/pool/" + segment_name(5));
  put("data/pool/" + segment_name(6), header_of(6));  // ours, of another size
  const auto said = restart();
  EXPECT_NE(said.find("data/pool: " + segment_name(5)), std::string::npos) << said;
  EXPECT_NE(said.find("notes"), std::string::npos) << said;
  EXPECT_TRUE(test.disk.exists("data/pool/notes"));
  EXPECT_TRUE(test.disk.exists("data/pool/folder"));
  EXPECT_TRUE(test.disk.exists("data/pool/" + segment_name(5)));
  EXPECT_FALSE(test.disk.exists("data/pool/" + segment_name(6)));
}

TEST_P(UnknownFiles, ASegmentThatTheStartDropsIsGoneWhateverIsInIt) {
  // Named in the manifest, and its header was never written: what a power cut leaves of the newest segment.
  test.kill();
  {
    const auto manifest = Manifest::open(test.disk, "data/manifest", 1);
    ASSERT_TRUE(manifest);
    const std::array<ManifestEdit, 1> edits{AddSegment{SegmentId{30}, SegmentRole::arrival, 0, LogPosition{1LL << 40}}};
    ASSERT_TRUE((*manifest)->append(edits));
  }
  put_text(kFolder + segment_name(30));
  EXPECT_EQ(restart(), "");
  EXPECT_FALSE(test.disk.exists(kFolder + segment_name(30)));
}

INSTANTIATE_TEST_SUITE_P(Modes, UnknownFiles, testing::Values(IoMode::buffered, IoMode::direct));

TEST(ListFiles, NamesTenAndCountsTheRest) {
  std::vector<std::string> names{"a"};
  EXPECT_EQ(list_files("f", names), "f: a");
  names.resize(12, "b");
  EXPECT_EQ(list_files("f", names), "f: a, b, b, b, b, b, b, b, b, b and 2 more");
  EXPECT_EQ(list_files("f", {}), "");
}

}  // namespace
}  // namespace weir::log
