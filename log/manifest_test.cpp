#include "log/manifest.hpp"

#include <gtest/gtest.h>

#include "log/manifest_layout.hpp"
#include "sim/seams/sim_disk.hpp"

namespace weir::log {
namespace {

constexpr std::uint64_t kSeed = 77;
constexpr const char* kPath = "/d/manifest";
constexpr std::int64_t kLarge = 1 << 24;

// Edits that fit the state, as a log would make them.
std::vector<ManifestEdit> random_edits(Random& random, const ManifestState& state) {
  std::vector<ManifestEdit> edits;
  auto next = state;
  for (auto count = 1 + random.below(3); count > 0; --count) {
    ManifestEdit edit = CleanPoint{next.clean_point + static_cast<std::int64_t>(random.below(1000))};
    const auto id = next.segments.empty() ? SegmentId{} : next.segments.rbegin()->first;
    switch (random.below(7)) {
      case 0:
      case 1: edit = AddSegment{next.next_segment, SegmentRole::sorted, 3, next.clean_point}; break;
      case 2:
        if (id.value != 0 && !next.segments[id].sealed) {
          edit = SealSegment{id, static_cast<std::int64_t>(random.below(10'000)), random.chance(2)};
        }
        break;
      case 3:
        if (!next.segments.empty()) {
          edit = RemoveSegment{next.segments.begin()->first};
        }
        break;
      case 4: edit = NextNumbers{next.next_segment, next.next_local + 1}; break;
      case 5: {
        const LocalPartition local{static_cast<std::uint32_t>(random.below(5))};
        edit = StartOffset{local, next.starts[local] + static_cast<std::int64_t>(random.below(50))};
        break;
      }
      default: edit = ForgetPartition{{static_cast<std::uint32_t>(random.below(5))}}; break;
    }
    EXPECT_TRUE(next.apply(edit));
    edits.push_back(edit);
  }
  return edits;
}

std::unique_ptr<Manifest> open(Disk& disk, std::uint64_t seed = kSeed) {
  auto manifest = Manifest::open(disk, kPath, seed);
  EXPECT_TRUE(manifest);
  return manifest ? std::move(*manifest) : nullptr;
}

TEST(Manifest, ComesBackAsItWasAfterAnyEdits) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{seed};
    sim::SimDisk disk{seed};
    ASSERT_TRUE(disk.make_directories("/d"));
    auto manifest = open(disk);
    ManifestState model;
    for (int i = 0; i < 100; ++i) {
      const auto edits = random_edits(random, model);
      ASSERT_TRUE(manifest->append(edits));
      for (const auto& edit : edits) {
        ASSERT_TRUE(model.apply(edit));
      }
      EXPECT_EQ(manifest->state(), model);
      if (random.chance(10)) {
        manifest = open(disk, seed);
        EXPECT_EQ(manifest->state(), model);
        EXPECT_EQ(manifest->torn_bytes(), 0);
      }
    }
    EXPECT_EQ(decode_manifest(encode_manifest(model, 5)).value().state, model) << "rewritten";
  }
}

TEST(Manifest, EditsThatContradictTheStateWriteNothing) {
  sim::SimDisk disk{1};
  ASSERT_TRUE(disk.make_directories("/d"));
  auto manifest = open(disk);
  const std::vector<ManifestEdit> good{AddSegment{.id = SegmentId{1}}, SealSegment{SegmentId{1}, 5000, true}};
  ASSERT_TRUE(manifest->append(good));
  const auto before = read_file(disk, kPath, kLarge).value();
  const std::vector<std::vector<ManifestEdit>> bad{
      {AddSegment{.id = SegmentId{1}}},
      {SealSegment{SegmentId{1}, 5001, true}},
      {SealSegment{SegmentId{2}, 1, true}},
      {RemoveSegment{SegmentId{3}}},
      {AddSegment{.id = SegmentId{7}}, RemoveSegment{SegmentId{3}}},
      {NextNumbers{SegmentId{1}, LocalPartition{1}}},
  };
  for (const auto& edits : bad) {
    EXPECT_EQ(manifest->append(edits).error().code, Errc::invalid_argument);
  }
  EXPECT_EQ(read_file(disk, kPath, kLarge).value(), before);
  EXPECT_EQ(manifest->state().segments.size(), 1U) << "none of an atomic change was kept";
  const std::vector<ManifestEdit> again{SealSegment{SegmentId{1}, 5000, false}};
  EXPECT_TRUE(manifest->append(again)) << "the same end again: only the index went";
}

class ThreeRecords : public testing::Test {
 protected:
  ThreeRecords() {
    bytes = encode_manifest({}, kSeed);
    starts.push_back(bytes.size());
    for (std::uint64_t i = 1; i <= 2; ++i) {
      const std::vector<ManifestEdit> edits{AddSegment{.id = SegmentId{i}}, CleanPoint{{static_cast<std::int64_t>(i)}}};
      const auto record = encode_manifest_record(edits, i + 1, kSeed);
      bytes.insert(bytes.end(), record.begin(), record.end());
      starts.push_back(bytes.size());
    }
  }
  std::vector<std::byte> bytes;
  std::vector<std::size_t> starts;  // where the second and third record begin, and the end
};

TEST_F(ThreeRecords, ATornTailIsCutAndTheRestStays) {
  for (auto size = kManifestHeaderSize; size <= bytes.size(); ++size) {
    const auto content = decode_manifest(Bytes{bytes}.first(size));
    ASSERT_TRUE(content) << size;
    const auto whole = size < starts[0] ? kManifestHeaderSize : *std::prev(std::ranges::upper_bound(starts, size));
    EXPECT_EQ(content->valid_size, static_cast<std::int64_t>(whole)) << size;
    EXPECT_EQ(content->torn_bytes, static_cast<std::int64_t>(size - whole)) << size;
  }
  for (std::size_t size = 0; size < kManifestHeaderSize; ++size) {
    EXPECT_EQ(decode_manifest(Bytes{bytes}.first(size)).error().code, Errc::truncated);
  }
}

TEST_F(ThreeRecords, AFlippedBitInTheMiddleIsCorruptAndInTheLastRecordATornTail) {
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto content = decode_manifest(bytes);
    if (bit / 8 < starts[1]) {
      // The bytes between a record and the next multiple of 8 mean nothing.
      const bool unused = content.has_value() && content->torn_bytes == 0 && content->records == 3;
      EXPECT_TRUE(unused || !content) << "bit " << bit;
    } else {
      ASSERT_TRUE(content) << "bit " << bit;
    }
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  bytes[starts[0] + 20] ^= std::byte{1};
  EXPECT_EQ(decode_manifest(bytes).error(), (Error{Errc::corrupt, static_cast<std::int64_t>(starts[0])}));
}

TEST_F(ThreeRecords, AMissingRecordIsCorrupt) {
  bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(starts[0]),
              bytes.begin() + static_cast<std::ptrdiff_t>(starts[1]));
  EXPECT_EQ(decode_manifest(bytes).error().code, Errc::corrupt);
}

TEST(Manifest, IsRewrittenWhenItHasGrownAndLosesNothing) {
  sim::SimDisk disk{1};
  ASSERT_TRUE(disk.make_directories("/d"));
  auto manifest = open(disk);
  std::int64_t largest = 0;
  bool shrank = false;
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < 40'000; ++i) {
    const std::vector<ManifestEdit> edits{CleanPoint{{i}}};
    ASSERT_TRUE(manifest->append(edits));
    if (i % 500 == 0) {
      const auto size = disk.open(kPath, {.read_only = true}).value()->size().value();
      shrank = shrank || size < before;
      largest = std::max(largest, size);
      before = size;
    }
  }
  EXPECT_TRUE(shrank);
  EXPECT_LT(largest, Manifest::kRewriteAt + (32 << 10));
  EXPECT_EQ(open(disk, 99)->state(), manifest->state());
}

TEST(Manifest, AfterAFailedSyncNothingMoreIsTaken) {
  sim::SimDisk disk{1};
  ASSERT_TRUE(disk.make_directories("/d"));
  auto manifest = open(disk);
  disk.set_fault_hook([](sim::DiskOperation operation, const std::string&) {
    return operation == sim::DiskOperation::sync ? std::optional{Error{Errc::disk_failed, 5}} : std::nullopt;
  });
  const std::vector<ManifestEdit> edits{CleanPoint{{10}}};
  EXPECT_EQ(manifest->append(edits).error().code, Errc::disk_failed);
  disk.set_fault_hook({});
  EXPECT_EQ(manifest->append(edits).error().code, Errc::read_only);
  EXPECT_EQ(manifest->state().clean_point, LogPosition{0});
}

TEST(Manifest, OnAFullDiskSmallEditsHaveRoomOfTheirOwnAndALargeOneIsRefusedAndChangesNothing) {
  sim::SimDisk disk{1};
  ASSERT_TRUE(disk.make_directories("/d"));
  auto manifest = open(disk);
  const std::vector<ManifestEdit> large(100'000, CleanPoint{{10}});
  const std::vector<ManifestEdit> small{CleanPoint{{5}}};
  disk.set_capacity(disk.used_bytes());
  EXPECT_EQ(manifest->append(large).error().code, Errc::disk_full);
  EXPECT_EQ(manifest->state().clean_point, LogPosition{0});
  EXPECT_TRUE(manifest->append(small));
  EXPECT_EQ(open(disk)->state().clean_point, LogPosition{5});
}

// Every changing disk operation once as the last one: what append() promised is there, and at most the edit under way.
TEST(Manifest, APowerCutAtAnyOperationLosesNoPromisedEdit) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{seed};
    sim::SimDisk disk{seed};
    ASSERT_TRUE(disk.make_directories("/d"));
    ASSERT_TRUE(disk.sync_directory("/"));
    auto manifest = open(disk);
    ManifestState promised;
    auto pending = promised;
    disk.crash_at_operation(1 + random.below(40));
    while (true) {
      const auto edits = random_edits(random, promised);
      pending = promised;
      for (const auto& edit : edits) {
        ASSERT_TRUE(pending.apply(edit));
      }
      if (!manifest->append(edits)) {
        break;
      }
      promised = pending;
    }
    disk.crash(seed, sim::CrashMode::power_cut);
    manifest = open(disk, seed + 1);
    ASSERT_NE(manifest, nullptr);
    EXPECT_TRUE(manifest->state() == promised || manifest->state() == pending);
    const auto again = open(disk, seed + 2);
    EXPECT_EQ(again->state(), manifest->state());
    EXPECT_EQ(again->torn_bytes(), 0);
  }
}

}  // namespace
}  // namespace weir::log
