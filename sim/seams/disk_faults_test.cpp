#include "sim/seams/disk_faults.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/errno_error.hpp"
#include "sim/seams/seeds.hpp"
#include "sim/seams/sim_disk.hpp"

namespace weir::sim {
namespace {

class DiskFaultsOnADisk : public testing::Test {
 protected:
  DiskFaultsOnADisk() {
    EXPECT_TRUE(disk.make_directories("/d"));
    file = disk.open("/d/a", {.create = true}).value();
    EXPECT_TRUE(put("kept"));
    EXPECT_TRUE(file->sync());
    EXPECT_TRUE(disk.sync_directory("/d"));
    EXPECT_TRUE(disk.sync_directory("/"));
  }
  Result<void> put(std::string_view text, std::int64_t position = 0) {
    const auto bytes = as_bytes(text);
    return file->write_at(position, std::span{&bytes, 1});
  }
  std::string text() {
    const auto content = read_file(disk, "/d/a", 1 << 20);
    return content ? std::string(as_text(*content)) : "<" + to_string(content.error()) + ">";
  }
  // What the operation answers, whichever it is.
  Result<void> perform(DiskOperation operation) {
    std::array<std::byte, 4> memory{};
    const auto none = [](const auto& result) { return result ? Result<void>{} : Result<void>{result.error()}; };
    switch (operation) {
      case DiskOperation::open: return none(disk.open("/d/a", {}));
      case DiskOperation::create: return none(disk.open("/d/new" + std::to_string(++made), {.create = true}));
      case DiskOperation::write: return put("more");
      case DiskOperation::read: return none(file->read_at(0, memory));
      case DiskOperation::sync: return file->sync();
      case DiskOperation::truncate: return file->truncate(4);
      case DiskOperation::allocate: return file->allocate(100);
      case DiskOperation::rename: return disk.rename("/d/a", "/d/a");
      case DiskOperation::remove: {
        EXPECT_TRUE(disk.open("/d/gone", {.create = true}));
        return disk.remove("/d/gone");
      }
      case DiskOperation::make_directories: return disk.make_directories("/d");
      case DiskOperation::sync_directory: return disk.sync_directory("/d");
      case DiskOperation::list: return none(disk.list("/d"));
      case DiskOperation::map: return none(file->map());
      case DiskOperation::lock: return none(disk.lock("/d/.lock"));
      case DiskOperation::ask_size: return none(file->size());
      case DiskOperation::ask_room: return none(disk.free_bytes("/d"));
    }
    return Errc::unsupported;
  }
  SimDisk disk{7};
  std::shared_ptr<File> file;
  int made = 0;
};

TEST_F(DiskFaultsOnADisk, EveryOperationFailsWithEveryErrnoThatItKnowsAndOnlyOnce) {
  for (std::size_t number = 0; number < kDiskOperations; ++number) {
    const auto operation = static_cast<DiskOperation>(number);
    for (const auto error : DiskFaults::errnos_of(operation)) {
      SCOPED_TRACE(std::string{to_string(operation)} + " errno " + std::to_string(error));
      disk.fail({.operation = operation, .error = error});
      const auto told = disk.faults_met().size();
      const auto failed = perform(operation);
      if (error == EINTR) {
        EXPECT_TRUE(failed) << "it is repeated";
      } else {
        ASSERT_FALSE(failed);
        const bool is_sync = operation == DiskOperation::sync || operation == DiskOperation::sync_directory;
        EXPECT_EQ(failed.error(), is_sync ? error_of_failed_sync(error) : error_of_errno(error));
      }
      EXPECT_EQ(disk.faults_met().size(), told + 1);
      EXPECT_TRUE(perform(operation));
      disk.heal();
    }
  }
}

TEST_F(DiskFaultsOnADisk, TheNthOfAKindAndOfAPathFailsAndAsManyBehindItAsAskedFor) {
  disk.fail({.operation = DiskOperation::write, .path = "other"});
  disk.fail({.operation = DiskOperation::write, .path = "/a", .error = EIO, .number = 2, .times = 2});
  EXPECT_TRUE(put("1"));
  EXPECT_FALSE(put("2"));
  EXPECT_TRUE(file->sync());
  EXPECT_FALSE(put("3"));
  EXPECT_TRUE(put("4"));
  disk.fail({.error = EIO, .times = DiskFault::kForEver});
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(put("5"));
  }
  disk.heal();
  EXPECT_TRUE(put("6"));
}

TEST_F(DiskFaultsOnADisk, ByChanceTheSeedPicksWhichFailAndWithWhichErrno) {
  std::map<std::string, int> kinds;
  disk.fail({.operation = DiskOperation::write, .one_in = 4});
  int failed = 0;
  for (int i = 0; i < 400; ++i) {
    failed += put("x") ? 0 : 1;
  }
  EXPECT_GT(failed, 40);
  EXPECT_LT(failed, 160);
  for (const auto& one : disk.faults_met()) {
    ++kinds[to_string(one)];
  }
  EXPECT_EQ(kinds.size(), DiskFaults::errnos_of(DiskOperation::write).size());
}

TEST_F(DiskFaultsOnADisk, AFailedWriteMayHaveDoneAPartAndAFailedReadHasScribbled) {
  std::set<std::size_t> sizes;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(file->truncate(0));
    disk.fail({.operation = DiskOperation::write, .error = ENOSPC});
    ASSERT_EQ(put("0123456789").error().code, Errc::disk_full);
    sizes.insert(text().size());
  }
  EXPECT_TRUE(sizes.contains(0));
  EXPECT_GT(sizes.size(), 4U);
  ASSERT_TRUE(put("0123456789"));
  bool scribbled = false;
  for (int i = 0; i < 20; ++i) {
    std::string memory(10, '.');
    disk.fail({.operation = DiskOperation::read, .error = EIO});
    ASSERT_FALSE(file->read_at(0, std::as_writable_bytes(std::span{memory})));
    scribbled = scribbled || memory != std::string(10, '.');
  }
  EXPECT_TRUE(scribbled);
}

TEST_F(DiskFaultsOnADisk, BeyondTheLimitNoFileIsOpenedUntilAnotherIsClosed) {
  EXPECT_EQ(disk.open_files(), 1U);
  disk.limit_open_files(2);
  auto second = disk.open("/d/b", {.create = true}).value();
  EXPECT_EQ(disk.open("/d/c", {.create = true}).error(), error_of_errno(EMFILE));
  EXPECT_FALSE(disk.exists("/d/c"));
  EXPECT_EQ(disk.list("/d").error(), error_of_errno(EMFILE));
  EXPECT_TRUE(disk.rename("/d/b", "/d/e")) << "which needs none";
  second.reset();
  EXPECT_TRUE(disk.sync_directory("/d"));
  auto lock = disk.lock("/d/.lock").value();
  EXPECT_EQ(disk.open_files(), 2U);
  EXPECT_FALSE(disk.open("/d/a", {}));
  disk.crash(1, CrashMode::process_death);
  EXPECT_EQ(disk.open_files(), 0U) << "the dead hold none";
  lock.reset();
  file.reset();
  EXPECT_EQ(disk.open_files(), 0U);
}

TEST_F(DiskFaultsOnADisk, WhatWasNeverWrittenIsToldByPage) {
  ASSERT_TRUE(file->truncate(5 * 4096));
  EXPECT_EQ(file->first_unwritten(0).value(), 4096);
  EXPECT_EQ(file->first_written(0).value(), 0);
  EXPECT_EQ(file->first_written(4096).value(), 5 * 4096) << "the size: nothing behind it";
  ASSERT_TRUE(put("x", 4096));
  EXPECT_EQ(file->first_unwritten(0).value(), 8192);
  EXPECT_EQ(file->first_unwritten(10'000).value(), 10'000);
  ASSERT_TRUE(put("x", 4 * 4096));
  EXPECT_EQ(file->first_written(8192).value(), 4 * 4096);
  EXPECT_EQ(file->first_written(4 * 4096 + 7).value(), 4 * 4096 + 7);
  ASSERT_TRUE(put(std::string(3 * 4096, 'x'), 8192));
  EXPECT_EQ(file->first_unwritten(0).value(), 5 * 4096);
}

}  // namespace
}  // namespace weir::sim
