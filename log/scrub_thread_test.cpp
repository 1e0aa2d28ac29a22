// The scrub while others publish the next version of the segment list: a roll, a seal, a removal at any moment.
#include <gtest/gtest.h>

#include <thread>

#include "log/scrub.hpp"
#include "log/test_log.hpp"

namespace weir::log {
namespace {

constexpr std::int64_t kSegments = 5;  // sealed ones

class ScrubThreads : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(test.start());
    const auto partition = test.create(1, 0);
    while (test.log->statistics().segments <= kSegments) {
      test.append_now(partition, {.values = {std::string(300'000, 'x')}});
    }
    ASSERT_TRUE(test.stop());
    for (std::uint64_t number = 1; number <= kSegments; ++number) {
      add(SegmentId{number});
    }
  }
  void add(SegmentId id) {
    const auto path = "data/commitlog/" + segment_file_name(id);
    const auto index_path = "data/commitlog/" + index_file_name(id);
    auto file = test.disk.open(path, {});
    ASSERT_TRUE(file);
    const auto header = read_segment_header(**file);
    ASSERT_TRUE(header);
    auto index = IndexFile::open(test.disk, index_path, id, header->seed);
    ASSERT_TRUE(index) << to_string(index.error());
    const auto segment = std::make_shared<Segment>(id, header->seed, std::move(*file), path, index_path);
    segment->begin(header->start);
    segment->set_valid_end((*index)->facts().valid_end);
    all.push_back({segment, *index});
  }
  // All but the `number` oldest: what a removal leaves, or with 0 what there was again.
  void publish_without(std::ptrdiff_t number) {
    list.change([&](auto& members) { members.assign(all.begin() + number, all.end()); });
  }

  TestLog test{71};
  std::vector<SegmentSet::Member> all;
  SegmentList list;
  DamageReport damage{nullptr};
  Scrub scrub(std::int64_t bytes_per_turn) {
    return Scrub{test.disk, list, damage, nullptr, test.queue.clock(), {.bytes_per_turn = bytes_per_turn}};
  }
};

// Freed memory is seen for certain by the address sanitizer, else by luck.
TEST_F(ScrubThreads, AVersionPublishedWhileItOpensAFileIsNotWalkedAfterItIsFreed) {
  publish_without(0);
  auto reading = scrub(4 << 20);  // a segment a turn
  int opened = 0;
  test.disk.set_fault_hook([&](auto operation, const auto&) {
    if (operation == sim::DiskOperation::open) {
      publish_without(++opened % 2);
    }
    return std::optional<Error>{};
  });
  for (int turn = 0; turn < 2 * kSegments; ++turn) {
    static_cast<void>(reading.turn());
  }
  EXPECT_GT(opened, kSegments);
  test.disk.set_fault_hook({});
}

TEST_F(ScrubThreads, VersionsPublishedAtAnyMomentByAnotherThreadAreHeldWhileTheyAreRead) {
  publish_without(0);
  auto reading = scrub(16 << 10);  // what it reads is soon removed, and it looks for the next one
  std::atomic<bool> goes_on{true};
  std::thread publisher([&] {
    for (std::ptrdiff_t round = 0; goes_on.load(); ++round) {
      publish_without(round % kSegments);
    }
  });
  for (int turn = 0; turn < 80; ++turn) {
    static_cast<void>(reading.turn());
  }
  goes_on.store(false);
  publisher.join();
}

}  // namespace
}  // namespace weir::log
