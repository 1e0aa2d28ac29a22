#include "base/posix_disk.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/errno_error.hpp"
#include "base/random.hpp"
#include "base/real_clock.hpp"
#include "base/temporary_folder.hpp"

namespace weir {
namespace {

std::vector<std::byte> random_bytes(std::size_t size, std::uint64_t seed) {
  Random random{seed};
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) {
    byte = static_cast<std::byte>(random.below(256));
  }
  return bytes;
}

TEST(PosixDisk, APipeIsNoFileAndHoldsNobodyWhoOpensIt) {
  const TemporaryFolder folder;
  PosixDisk disk;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  for (const bool read_only : {true, false}) {
    const auto opened = disk.open(folder.file("pipe"), {.read_only = read_only});
    EXPECT_FALSE(opened);
    EXPECT_TRUE(is_of_no_file(opened.error()));
  }
  ASSERT_TRUE(disk.make_directories(folder.file("folder")));
  EXPECT_TRUE(is_of_no_file(disk.open(folder.file("folder"), {}).error()));
  EXPECT_TRUE(is_of_no_file(disk.open(folder.file("folder"), {.read_only = true}).error()));
}

TEST(PosixDisk, WhatMayHaveBeenWrittenBehindAPositionIsNeverSteppedOver) {
  const TemporaryFolder folder;
  PosixDisk disk;
  const auto file = disk.open(folder.file("a"), {.create = true}).value();
  EXPECT_EQ(file->first_written(0).value(), 0) << "the size";
  ASSERT_TRUE(file->truncate(1 << 20));
  const auto nothing = file->first_written(0).value();
  EXPECT_TRUE(nothing == 1 << 20 || nothing == 0) << "a file system may not tell";
  const auto byte = random_bytes(1, 3);
  const Bytes part{byte};
  ASSERT_TRUE(file->write_at(500'000, {&part, 1}));
  EXPECT_LE(file->first_written(0).value(), 500'000);
  EXPECT_EQ(file->first_written(500'000).value(), 500'000);
  EXPECT_EQ(file->first_written(2 << 20).value(), 1 << 20);
}

TEST(PosixDisk, AGatheredWriteOverSeveralCallsReadsBackEqual) {
  TemporaryFolder folder;
  PosixDisk disk;
  const auto file = disk.open(folder.file("a"), {.create = true}).value();
  const auto whole = random_bytes((3U << 20U) + 777, 1);
  std::vector<Bytes> parts;
  parts.push_back(Bytes{whole}.first(2'500'000));
  parts.emplace_back();  // an empty part is no end
  for (std::size_t at = 2'500'000; at < whole.size(); at += 1000) {
    parts.push_back(Bytes{whole}.subspan(at, std::min<std::size_t>(1000, whole.size() - at)));
  }
  ASSERT_TRUE(file->write_at(5, parts));
  ASSERT_TRUE(file->sync());
  EXPECT_EQ(file->size().value(), std::ssize(whole) + 5);
  std::vector<std::byte> back(whole.size() + 100);
  EXPECT_EQ(file->read_at(5, back).value(), whole.size()) << "fewer bytes at the end of the file";
  back.resize(whole.size());
  EXPECT_TRUE(back == whole);
  const auto mapped = file->map().value();
  EXPECT_TRUE(std::equal(whole.begin(), whole.end(), mapped.view().begin() + 5));
}

TEST(PosixDisk, OnlyAFileThatIsReadByJumpsIsToldWhatWillBeRead) {
  TemporaryFolder folder;
  PosixDisk disk;
  const auto file = disk.open(folder.file("a"), {.create = true}).value();
  const auto whole = random_bytes(100'000, 2);
  const Bytes part{whole};
  ASSERT_TRUE(file->write_at(0, {&part, 1}));
  EXPECT_FALSE(file->will_need(0, 50'000));
  EXPECT_TRUE(disk.open(folder.file("a"), {.jumping = true}).value()->will_need(0, 50'000));
}

TEST(PosixDisk, ReservedRoomDoesNotChangeTheSize) {
  TemporaryFolder folder;
  PosixDisk disk;
  const auto file = disk.open(folder.file("a"), {.create = true}).value();
  ASSERT_TRUE(file->allocate(1 << 20));
  EXPECT_EQ(file->size().value(), 0);
  EXPECT_EQ(file->map().value().size(), 0U);
}

TEST(PosixDisk, OpenTellsMissingFromPresent) {
  TemporaryFolder folder;
  PosixDisk disk;
  EXPECT_EQ(disk.open(folder.file("a"), {}).error().code, Errc::not_found);
  ASSERT_TRUE(disk.open(folder.file("a"), {.create = true, .exclusive = true}));
  EXPECT_EQ(disk.open(folder.file("a"), {.create = true, .exclusive = true}).error().code, Errc::already_exists);
  EXPECT_TRUE(disk.open(folder.file("a"), {.create = true}));
  const auto reader = disk.open(folder.file("a"), {.read_only = true}).value();
  const auto text = as_bytes("x");
  EXPECT_EQ(reader->write_at(0, std::span{&text, 1}).error().code, Errc::disk_failed);
}

TEST(PosixDisk, DirectWritesOfWholeBlocksReadBack) {
  TemporaryFolder folder;
  PosixDisk disk;
  const auto opened = disk.open(folder.file("a"), {.create = true, .direct = true});
  if (!opened) {
    GTEST_SKIP() << "the file system of the temporary folder has no O_DIRECT";
  }
  const std::unique_ptr<std::byte, decltype(&std::free)> block{static_cast<std::byte*>(std::aligned_alloc(4096, 8192)),
                                                               &std::free};
  const MutableBytes memory{block.get(), 8192};
  std::fill(memory.begin(), memory.end(), std::byte{0x5a});
  const Bytes view{memory};
  ASSERT_TRUE((*opened)->write_at(4096, std::span{&view, 1}));
  std::fill(memory.begin(), memory.end(), std::byte{0});
  ASSERT_EQ((*opened)->read_at(4096, memory).value(), 8192U);
  EXPECT_TRUE(std::all_of(memory.begin(), memory.end(), [](std::byte b) { return b == std::byte{0x5a}; }));
}

TEST(PosixDisk, NamesAreListedSortedAndMoveAndGo) {
  TemporaryFolder folder;
  PosixDisk disk;
  ASSERT_TRUE(disk.make_directories(folder.file("x/y/z")));
  ASSERT_TRUE(disk.make_directories(folder.file("x/y/z"))) << "again is fine";
  for (const auto* name : {"b", "c", "a"}) {
    ASSERT_TRUE(disk.open(folder.file("x/y/z/") + name, {.create = true}));
  }
  ASSERT_TRUE(disk.rename(folder.file("x/y/z/c"), folder.file("x/y/z/d")));
  ASSERT_TRUE(disk.remove(folder.file("x/y/z/a")));
  ASSERT_TRUE(disk.sync_directory(folder.file("x/y/z")));
  EXPECT_EQ(disk.list(folder.file("x/y/z")).value(), (std::vector<std::string>{"b", "d"}));
  EXPECT_FALSE(disk.exists(folder.file("x/y/z/a")));
  EXPECT_EQ(disk.remove(folder.file("x/y/z/a")).error().code, Errc::not_found);
  EXPECT_EQ(disk.list(folder.file("nowhere")).error().code, Errc::not_found);
  EXPECT_EQ(disk.make_directories(folder.file("x/y/z/b")).error().code, Errc::already_exists);
}

TEST(PosixDisk, ASecondLockNamesTheHolderAndTheEndOfTheFirstFreesIt) {
  TemporaryFolder folder;
  PosixDisk disk;
  auto first = disk.lock(folder.file(".lock")).value();
  EXPECT_EQ(disk.lock(folder.file(".lock")).error(), (Error{Errc::in_use, ::getpid()}));
  first.reset();
  EXPECT_TRUE(disk.lock(folder.file(".lock")));
}

TEST(PosixDisk, AReplacedFileIsWholeAndAFileOverTheLimitIsNotRead) {
  TemporaryFolder folder;
  PosixDisk disk;
  ASSERT_TRUE(replace_file(disk, folder.file("m"), as_bytes("a longer first content")));
  ASSERT_TRUE(replace_file(disk, folder.file("m"), as_bytes("second")));
  EXPECT_EQ(as_text(read_file(disk, folder.file("m"), 6).value()), "second");
  EXPECT_EQ(read_file(disk, folder.file("m"), 5).error(), (Error{Errc::too_large, 6}));
  EXPECT_EQ(disk.list(folder.path()).value(), (std::vector<std::string>{"m"}));
}

TEST(PosixDisk, TheVolumeHasRoom) {
  TemporaryFolder folder;
  PosixDisk disk;
  EXPECT_GT(disk.total_bytes(folder.path()).value(), disk.free_bytes(folder.path()).value() - 1);
  EXPECT_GT(disk.free_files(folder.path()).value(), 0);
  EXPECT_EQ(disk.free_files(folder.file("nowhere")).error().code, Errc::not_found);
  EXPECT_EQ(disk.free_bytes(folder.file("nowhere")).error().code, Errc::not_found);
}

TEST(RealClock, MonotonicTimeAgreesInBothUnitsAndWallTimeIsAfterThisFileWasWritten) {
  const RealClock clock;
  const auto ms = clock.monotonic_ms();
  const auto ns = clock.monotonic_ns();
  EXPECT_GE(ns / 1'000'000, ms);
  EXPECT_LT(ns / 1'000'000, ms + 60'000);
  EXPECT_GT(clock.wall_ms(), 1'700'000'000'000);
}

}  // namespace
}  // namespace weir
