// A write or sync that failed: nothing is acknowledged after it, not by the next process either, until somebody says
// so; and what the page cache only claims to have is never served by a later start.
#include <gtest/gtest.h>

#include <cerrno>

#include "base/logging.hpp"
#include "base/posix_disk.hpp"
#include "base/temporary_folder.hpp"
#include "log/allow_writes.hpp"
#include "log/device_file.hpp"
#include "log/manifest.hpp"
#include "log/test_log_read.hpp"

namespace weir::log {
namespace {

constexpr Error kBroken{Errc::disk_failed, EIO};

struct Fault {
  sim::DiskOperation operation;
  IoMode io;
};

class ReadOnly : public testing::TestWithParam<Fault> {
 protected:
  void fail_from_now_on(std::string_view ending) {
    test.disk.set_fault_hook(
        [operation = GetParam().operation, ending = std::string{ending}](auto what, const auto& path) {
          return what == operation && path.ends_with(ending) ? std::optional{kBroken} : std::nullopt;
        });
  }
  void start_log() {
    test.options.io = GetParam().io;
    ASSERT_TRUE(test.start());
    test.create(1, 0);
    for (int i = 0; i < 5; ++i) {
      ASSERT_FALSE(append(i).error);
    }
  }
  AppendOutcome append(int number) { return test.append_now(test.find(1, 0), {.values = {std::to_string(number)}}); }
  std::size_t count() { return test.read_all(*test.find(1, 0))->size(); }
  TestLog test{51};
};

TEST_P(ReadOnly, IsRememberedAcrossRestartsUntilWritesAreAllowed) {
  start_log();
  fail_from_now_on(".log");
  EXPECT_TRUE(append(5).error);
  EXPECT_EQ(append(6).error, Error{Errc::read_only});
  test.disk.set_fault_hook({});
  EXPECT_EQ(append(7).error, Error{Errc::read_only}) << "a disk that works again says nothing about what it forgot";
  test.crash(sim::CrashMode::process_death);
  for (int again = 0; again < 2; ++again) {
    const LogCapture lines;
    ASSERT_TRUE(test.start());
    EXPECT_TRUE(std::ranges::any_of(lines.lines(), [](const auto& line) {
      return line.find("read-only") != std::string::npos &&
             line.find("weir log allow-writes data") != std::string::npos;
    }));
    EXPECT_TRUE(test.log->statistics().read_only);
    EXPECT_EQ(append(8).error, Error{Errc::read_only});
    EXPECT_GE(count(), 5U);
    ASSERT_TRUE(test.stop());
  }
  EXPECT_EQ(allow_writes(test.disk, "data").value(), EIO);
  EXPECT_EQ(allow_writes(test.disk, "data").value(), 0);
  ASSERT_TRUE(test.start());
  const auto before = count();
  EXPECT_EQ(append(9).base_offset, Offset{static_cast<std::int64_t>(before)});
  EXPECT_EQ(count(), before + 1);
}

// The kernel takes the pages of a failed sync for clean: what a process reads is not what the next boot will find.
class AfterAFailedSync : public testing::TestWithParam<IoMode> {};

TEST_P(AfterAFailedSync, TheNextStartBelievesTheDeviceAndNotThePageCache) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TestLog one{seed};
    one.options.io = GetParam();
    ASSERT_TRUE(one.start());
    one.create(1, 0);
    ASSERT_FALSE(one.append_now(one.find(1, 0), {.values = {"kept"}}).error);
    one.disk.set_fault_hook([](auto what, const auto& path) {
      return what == sim::DiskOperation::sync && path.ends_with(".log") ? std::optional{kBroken} : std::nullopt;
    });
    for (int i = 0; i < 10; ++i) {
      one.append(one.find(1, 0), {.values = {std::to_string(i)}}, Acks::all);
    }
    one.queue.run_until_idle();
    one.disk.set_fault_hook({});
    one.crash(sim::CrashMode::process_death);
    if (seed % 2 == 0) {
      EXPECT_EQ(allow_writes(one.disk, "data").value(), EIO);  // before any start has looked
    }
    ASSERT_TRUE(one.start());
    EXPECT_EQ(one.log->statistics().read_only, seed % 2 != 0);
    const auto seen = one.read_all(*one.find(1, 0));
    ASSERT_TRUE(seen);
    ASSERT_GE(seen->size(), 1U);
    one.crash(sim::CrashMode::power_cut);
    ASSERT_TRUE(one.start());
    const auto kept = one.read_all(*one.find(1, 0));
    ASSERT_TRUE(kept);
    EXPECT_EQ(*kept, *seen) << "what a start has shown does not go away";
  }
}

INSTANTIATE_TEST_SUITE_P(BothModes, AfterAFailedSync, testing::Values(IoMode::buffered, IoMode::direct));

TEST_P(ReadOnly, AFailingManifestCannotTakeTheMarkAndTheLogIsReadOnlyAllTheSame) {
  start_log();
  fail_from_now_on("");
  EXPECT_TRUE(append(5).error);
  EXPECT_EQ(append(6).error, Error{Errc::read_only});
  test.disk.set_fault_hook({});
  test.crash(sim::CrashMode::process_death);
  ASSERT_TRUE(test.start());
  EXPECT_GE(count(), 5U);
}

INSTANTIATE_TEST_SUITE_P(Faults, ReadOnly,
                         testing::Values(Fault{sim::DiskOperation::write, IoMode::buffered},
                                         Fault{sim::DiskOperation::sync, IoMode::buffered},
                                         Fault{sim::DiskOperation::write, IoMode::direct},
                                         Fault{sim::DiskOperation::sync, IoMode::direct}));

TEST(ReadOnly, AMarkIsTakenByAManifestWrittenAnewWhenTheOldOneHasFailed) {
  sim::SimDisk disk{1};
  ASSERT_TRUE(disk.make_directories("d"));
  auto manifest = Manifest::open(disk, "d/manifest", 1).value();
  int failures = 1;
  disk.set_fault_hook([&](auto what, const auto&) {
    return what == sim::DiskOperation::sync && failures-- > 0 ? std::optional{kBroken} : std::nullopt;
  });
  const std::array<ManifestEdit, 1> edit{AddSegment{SegmentId{1}, SegmentRole::arrival, 0, {}}};
  EXPECT_FALSE(manifest->append(edit));
  EXPECT_TRUE(manifest->mark_read_only(EIO));
  const auto again = Manifest::open(disk, "d/manifest", 2).value();
  EXPECT_EQ(again->state().read_only_cause, EIO);
  EXPECT_TRUE(again->state().segments.empty());
}

TEST(DeviceFile, GivesTheBytesOfAFileFromAnyPlaceAndEndsWhereItEnds) {
  TemporaryFolder folder;
  PosixDisk disk;
  const auto path = folder.file("a");
  std::vector<std::byte> content(3 * (1 << 20) + 777);
  Random random{7};
  for (auto& byte : content) {
    byte = static_cast<std::byte>(random.below(256));
  }
  {
    const auto file = disk.open(path, {.create = true}).value();
    const Bytes part{content};
    ASSERT_TRUE(file->write_at(0, {&part, 1}));
  }
  const auto device = DeviceFile::open(disk, path).value();
  for (int i = 0; i < 200; ++i) {
    const auto from = random.below(content.size() + 5'000);
    std::vector<std::byte> read(random.below(i % 10 == 0 ? content.size() : 10'000));
    const auto count = device->read_at(static_cast<std::int64_t>(from), read);
    ASSERT_TRUE(count);
    const auto left = content.size() - std::min<std::size_t>(from, content.size());
    ASSERT_EQ(*count, std::min(left, read.size()));
    EXPECT_TRUE(std::equal(read.begin(), read.begin() + static_cast<std::ptrdiff_t>(*count),
                           content.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(from, content.size()))));
  }
}

}  // namespace
}  // namespace weir::log
