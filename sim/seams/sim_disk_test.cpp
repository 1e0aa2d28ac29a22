#include "sim/seams/sim_disk.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "sim/seams/seeds.hpp"

namespace weir::sim {
namespace {

void put(File& file, std::int64_t position, std::string_view text) {
  const auto bytes = as_bytes(text);
  ASSERT_TRUE(file.write_at(position, std::span{&bytes, 1}));
}

std::string text_of(SimDisk& disk, const std::string& path) {
  const auto content = read_file(disk, path, 1 << 20);
  return content ? std::string(as_text(*content)) : "<" + to_string(content.error()) + ">";
}

std::shared_ptr<File> durable_file(SimDisk& disk, const std::string& path, std::string_view text) {
  auto file = disk.open(path, {.create = true}).value();
  put(*file, 0, text);
  EXPECT_TRUE(file->sync());
  EXPECT_TRUE(disk.sync_directory("/"));
  return file;
}

TEST(SimDisk, ProcessDeathKeepsAllThatWasWrittenAndAPowerCutOnlyWhatWasSynced) {
  std::set<std::string> after_cut;
  for (const auto seed : seeds(50)) {
    SimDisk disk{seed};
    const auto file = durable_file(disk, "/a", "safe");
    put(*file, 4, " and not");
    disk.crash(seed, CrashMode::process_death);
    EXPECT_EQ(text_of(disk, "/a"), "safe and not") << "seed " << seed;
    EXPECT_EQ(file->size().error().code, Errc::closed) << "handles of the dead process are closed";
    disk.crash(seed, CrashMode::power_cut);
    after_cut.insert(text_of(disk, "/a"));
    EXPECT_EQ(text_of(disk, "/a").substr(0, 4), "safe") << "seed " << seed;
  }
  EXPECT_TRUE(after_cut.contains("safe"));
  EXPECT_TRUE(after_cut.contains("safe and not"));
}

TEST(SimDisk, APowerCutTearsAtSectorsAndReorders) {
  bool torn = false;
  bool reordered = false;
  for (const auto seed : seeds(200)) {
    SimDisk disk{seed};
    const auto file = durable_file(disk, "/a", std::string(2048, '.'));
    put(*file, 0, std::string(1024, 'x'));
    put(*file, 1024, std::string(1024, 'y'));
    disk.crash(seed, CrashMode::power_cut);
    const auto text = text_of(disk, "/a");
    ASSERT_EQ(text.size(), 2048U);
    for (std::size_t sector = 0; sector < 4; ++sector) {
      const auto part = text.substr(sector * 512, 512);
      EXPECT_EQ(part.find_first_not_of(part[0]), std::string::npos) << "a sector is whole, seed " << seed;
    }
    torn = torn || text[0] != text[512];
    reordered = reordered || (text[0] == '.' && text[512] == '.' && text[1024] == 'y');
  }
  EXPECT_TRUE(torn);
  EXPECT_TRUE(reordered);
}

TEST(SimDisk, ANameIsDurableOnlyAfterItsFolderWasSynced) {
  int lost = 0;
  int kept = 0;
  for (const auto seed : seeds(50)) {
    SimDisk disk{seed};
    durable_file(disk, "/durable", "d");
    const auto file = disk.open("/new", {.create = true}).value();
    put(*file, 0, "n");
    ASSERT_TRUE(file->sync()) << "syncs the content, not the name";
    disk.crash(seed, CrashMode::power_cut);
    (disk.exists("/new") ? kept : lost) += 1;
    EXPECT_EQ(text_of(disk, "/durable"), "d");
  }
  EXPECT_GT(lost, 5);
  EXPECT_GT(kept, 5);
}

TEST(SimDisk, AReplacedFileIsOldOrNewAndNeverMixedOrMissing) {
  for (const auto seed : seeds(200)) {
    SimDisk disk{seed};
    ASSERT_TRUE(replace_file(disk, "/m", as_bytes("old")));
    disk.crash_at_operation(1 + seed % 6);
    const auto replaced = replace_file(disk, "/m", as_bytes("newer"));
    disk.crash(seed, CrashMode::power_cut);
    const auto text = text_of(disk, "/m");
    EXPECT_TRUE(text == "newer" || (!replaced && text == "old")) << text << " seed " << seed;
  }
}

TEST(SimDisk, ARenameAndARemovalThatWereNotSyncedMayComeBack) {
  std::set<std::string> outcomes;
  for (const auto seed : seeds(100)) {
    SimDisk disk{seed};
    durable_file(disk, "/a", "a");
    durable_file(disk, "/b", "b");
    ASSERT_TRUE(disk.rename("/a", "/c"));
    ASSERT_TRUE(disk.remove("/b"));
    EXPECT_EQ(disk.list("/").value(), (std::vector<std::string>{"c"}));
    disk.crash(seed, CrashMode::power_cut);
    std::string names;
    for (const auto& name : disk.list("/").value()) {
      names += name;
    }
    outcomes.insert(names);
  }
  EXPECT_EQ(outcomes, (std::set<std::string>{"ab", "a", "bc", "c"}));
}

TEST(SimDisk, WhatLiesInALostFolderIsLostWithIt) {
  SimDisk disk{1};
  ASSERT_TRUE(disk.make_directories("/data/log"));
  const auto file = disk.open("/data/log/1", {.create = true}).value();
  ASSERT_TRUE(disk.sync_directory("/data/log"));
  EXPECT_EQ(disk.open("/nowhere/1", {.create = true}).error().code, Errc::not_found);
  bool lost = false;
  for (const auto seed : seeds(20)) {
    const auto copy = disk.clone(seed);
    copy->crash(seed, CrashMode::power_cut);
    EXPECT_TRUE(!copy->exists("/data/log/1") || copy->exists("/data/log"));
    lost = lost || !copy->exists("/data/log/1");
  }
  EXPECT_TRUE(lost);
}

TEST(SimDisk, TheArmedOperationAndAllLaterOnesFailUntilTheCrash) {
  SimDisk disk{1};
  const auto file = disk.open("/a", {.create = true}).value();
  disk.crash_at_operation(2);
  put(*file, 0, "one");
  EXPECT_FALSE(disk.crashed());
  const auto text = as_bytes("two");
  EXPECT_EQ(file->write_at(3, std::span{&text, 1}).error().code, Errc::closed);
  EXPECT_TRUE(disk.crashed());
  EXPECT_EQ(file->sync().error().code, Errc::closed);
  EXPECT_EQ(disk.open("/a", {}).error().code, Errc::closed);
  disk.crash(1, CrashMode::process_death);
  EXPECT_EQ(text_of(disk, "/a").substr(0, 3), "one");
}

TEST(SimDisk, AFailedSyncIsNotMadeGoodByTheNextOne) {
  int lost = 0;
  for (const auto seed : seeds(50)) {
    SimDisk disk{seed};
    const auto file = durable_file(disk, "/a", "....");
    put(*file, 0, "data");
    disk.set_fault_hook([](DiskOperation operation, const std::string&) -> std::optional<Error> {
      return operation == DiskOperation::sync ? std::optional{Error{Errc::disk_failed, EIO}} : std::nullopt;
    });
    EXPECT_EQ(file->sync().error(), (Error{Errc::disk_failed, EIO}));
    disk.set_fault_hook({});
    EXPECT_TRUE(file->sync()) << "as Linux does";
    EXPECT_EQ(text_of(disk, "/a"), "data") << "the page cache still has it";
    disk.crash(seed, CrashMode::power_cut);
    lost += text_of(disk, "/a") == "...." ? 1 : 0;
  }
  EXPECT_GT(lost, 5);
}

TEST(SimDisk, AFullDiskAnswersDiskFullAndReservedRoomCanStillBeWritten) {
  SimDisk disk{1};
  disk.set_capacity(100);
  const auto reserved = disk.open("/r", {.create = true}).value();
  ASSERT_TRUE(reserved->allocate(60));
  EXPECT_EQ(disk.free_bytes("/").value(), 40);
  const auto other = disk.open("/o", {.create = true}).value();
  const auto text = as_bytes("0123456789012345678901234567890123456789X");
  EXPECT_EQ(other->write_at(0, std::span{&text, 1}).error(), (Error{Errc::disk_full, 40}));
  put(*reserved, 0, std::string(60, 'r'));
  EXPECT_EQ(reserved->allocate(100).error().code, Errc::disk_full);
}

TEST(SimDisk, DirectFilesRefuseWhatTheKernelWouldRefuse) {
  SimDisk disk{1};
  const auto file = disk.open("/a", {.create = true, .direct = true}).value();
  const auto text = as_bytes("short");
  EXPECT_EQ(file->write_at(0, std::span{&text, 1}).error(), (Error{Errc::disk_failed, EINVAL}));
}

TEST(SimDisk, OperationsAreCountedByKindAndTheLockHasOneHolder) {
  SimDisk disk{1};
  durable_file(disk, "/a", "x");
  EXPECT_EQ(disk.count(DiskOperation::sync), 1U);
  EXPECT_EQ(disk.count(DiskOperation::write), 1U);
  EXPECT_EQ(disk.changing_operations(), 4U) << "create, write, sync, sync_directory";
  auto held = disk.lock("/.lock").value();
  EXPECT_EQ(disk.lock("/.lock").error().code, Errc::in_use);
  disk.crash(1, CrashMode::process_death);
  const auto next = disk.lock("/.lock");
  EXPECT_TRUE(next) << "a dead process holds no lock";
  held.reset();
  EXPECT_EQ(disk.lock("/.lock").error().code, Errc::in_use) << "and cannot release the next one's";
}

TEST(SimDisk, ACloneIsIndependentAndDamageIsSeenByReaders) {
  SimDisk disk{1};
  const auto file = durable_file(disk, "/a", "abc");
  const auto copy = disk.clone(2);
  put(*file, 0, "XYZ");
  EXPECT_EQ(text_of(*copy, "/a"), "abc");
  ASSERT_TRUE(copy->damage("/a", 1, std::byte{0x01}));
  EXPECT_EQ(text_of(*copy, "/a"), "acc");
  EXPECT_EQ(copy->damage("/a", 3, std::byte{1}).error().code, Errc::out_of_range);
}

TEST(SimDisk, TheSameSeedsLoseTheSameBytes) {
  const auto run = [](std::uint64_t seed) {
    SimDisk disk{seed};
    std::string all;
    for (int i = 0; i < 5; ++i) {
      const auto name = "/f" + std::to_string(i);
      const auto file = disk.open(name, {.create = true}).value();
      put(*file, 0, std::string(3000, static_cast<char>('a' + i)));
    }
    disk.crash(seed, CrashMode::power_cut);
    for (const auto& name : disk.list("/").value()) {
      all += name + "=" + text_of(disk, "/" + name) + ";";
    }
    return all;
  };
  std::set<std::string> different;
  for (const auto seed : seeds(20)) {
    EXPECT_EQ(run(seed), run(seed)) << "seed " << seed;
    different.insert(run(seed));
  }
  EXPECT_GT(different.size(), 10U);
}

}  // namespace
}  // namespace weir::sim
