// How many records lie between two offsets: against a model of made-up indexes, and on a log with damage and trimming.
#include <gtest/gtest.h>

#include <set>

#include "log/batch_cursor.hpp"
#include "log/test_log_read.hpp"
#include "sim/seams/sim_disk.hpp"

namespace weir::log {
namespace {

constexpr LocalPartition kLocal{3};

// Segments of one partition with batches, gaps and rows as the keeper would write them, and the set of all offsets.
class MadeUpLog {
 public:
  explicit MadeUpLog(std::uint64_t seed) : random_(seed), disk_(seed) { EXPECT_TRUE(disk_.make_directories("/d")); }

  void add_segment(bool sealed, bool damaged) {
    const SegmentId id{next_segment_++};
    const auto segment = std::make_shared<Segment>(id, SegmentSeed{7}, nullptr, "", "");
    auto& open = partition.begin_index(segment);
    const auto batches = random_.below(20);
    std::int64_t lost_here = 0;
    for (std::uint64_t i = 0; i < batches; ++i) {
      const auto size = 1 + static_cast<std::int64_t>(random_.below(9));
      appended_ += size;
      // Not in two neighbours: where both lost equally much, running counts look as if nothing were missing.
      if (damaged && lost_before_ == 0 && random_.below(3) == 0) {
        lost_here += size;
      } else {
        open.entries.append({Offset{next_}, Offset{next_ + size - 1}, 4096, 100, 0});
        for (auto offset = next_; offset < next_ + size; ++offset) {
          present.insert(offset);
        }
      }
      next_ += size;
    }
    lost_before_ = lost_here;
    if (sealed) {
      seal(segment, open, appended_ - lost_here);
    } else {
      segments.change([&](auto& members) { members.push_back({segment, nullptr}); });
    }
  }
  void forget_oldest_segment() {
    segments.change([](auto& members) { members.erase(members.begin()); });
    const auto first = segments.current()->members.front().index->find(kLocal);
    present.erase(present.begin(),
                  present.lower_bound(first->entry_count > 0 ? first->first_offset.value : first->next_offset.value));
  }
  [[nodiscard]] std::int64_t end() const { return next_; }

  SegmentList segments;
  LogPartition partition{{}, kLocal, {}};
  std::set<std::int64_t> present;

 private:
  void seal(const std::shared_ptr<Segment>& segment, const OpenIndex& open, std::int64_t record_count) {
    const auto path = "/d/" + std::to_string(segment->id().value);
    auto writer = IndexFileWriter::create(disk_, path, {segment->id(), segment->seed(), 1'000'000, 1});
    ASSERT_TRUE(writer);
    std::vector<std::byte> packed;
    open.entries.copy_packed(0, open.entries.size(), packed);
    IndexRow row;
    row.local = kLocal;
    row.entry_count = static_cast<std::uint32_t>(open.entries.size());
    row.first_offset = open.entries.empty() ? Offset{-1} : open.entries.at(0).base_offset;
    // What damage took from the end of the segment, its scan never saw.
    row.next_offset = Offset{present.empty() ? 0 : *present.rbegin() + 1};
    row.record_count = record_count;
    ASSERT_TRUE(writer->add(row, packed, {}));
    ASSERT_TRUE(writer->finish());
    auto index = IndexFile::open(SharedBytes::adopt(*read_file(disk_, path, 1 << 20)), segment->id(), segment->seed());
    ASSERT_TRUE(index) << to_string(index.error());
    segments.change([&](auto& members) { members.push_back({segment, *index}); });
    partition.drop_open_index(segment->id());
  }

  Random random_;
  sim::SimDisk disk_;
  std::uint64_t next_segment_ = 1;
  std::int64_t next_ = 0;
  std::int64_t appended_ = 0;
  std::int64_t lost_before_ = 0;
};

TEST(RecordsBetween, AgreesWithTheSetOfAllOffsets) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{seed};
    MadeUpLog log{seed + 1000};
    const auto sealed = random.below(6);
    const bool with_damage = random.below(2) == 0;
    for (std::uint64_t i = 0; i < sealed; ++i) {
      log.add_segment(true, with_damage && random.below(2) == 0);
    }
    if (sealed > 1 && random.below(2) == 0) {
      log.forget_oldest_segment();
    }
    for (auto open = random.below(3); open > 0; --open) {
      log.add_segment(false, with_damage && random.below(2) == 0);
    }
    for (int i = 0; i < 200; ++i) {
      const auto limit = static_cast<std::uint64_t>(log.end()) + 4;
      const auto from = static_cast<std::int64_t>(random.below(limit));
      const auto to = static_cast<std::int64_t>(random.below(limit));
      const auto counted = BatchCursor{log.segments, log.partition}.count(Offset{from}, Offset{to});
      ASSERT_TRUE(counted) << to_string(counted.error());
      const auto expected = from >= to ? 0 : std::distance(log.present.lower_bound(from), log.present.lower_bound(to));
      ASSERT_EQ(*counted, expected) << from << " to " << to;
    }
  }
}

std::string value_of(int number, std::size_t size) {
  auto text = std::to_string(number) + ":";
  text.resize(size, '.');
  return text;
}

std::int64_t between(const TestLog& test, std::int64_t from, std::int64_t to) {
  const auto counted = test.log->records_between(*test.find(1, 0), Offset{from}, Offset{to});
  EXPECT_TRUE(counted) << to_string(counted.error());
  return counted ? *counted : -1;
}

TEST(RecordsBetween, CountsOverSegmentsFromTheMiddleOfBatchesAndNotBelowTheStartOrBehindTheHighWatermark) {
  TestLog test{1};
  ASSERT_TRUE(test.start());
  const auto partition = test.create(1, 0);
  EXPECT_EQ(between(test, 0, 100), 0) << "an empty partition";
  for (int i = 0; i < 900; ++i) {
    ASSERT_FALSE(test.append_now(partition, {.values = {value_of(i, 2'000), value_of(i, 2'000)}}, Acks::leader).error);
  }
  ASSERT_GE(test.log->statistics().segments, 3);
  EXPECT_EQ(between(test, 0, 1800), 1800);
  EXPECT_EQ(between(test, -5, 1'000'000), 1800) << "bounded by what there is";
  EXPECT_EQ(between(test, 7, 9), 2) << "from the middle of a batch into the middle of the next";
  EXPECT_EQ(between(test, 1799, 1800), 1);
  EXPECT_EQ(between(test, 1800, 1800), 0);
  EXPECT_EQ(between(test, 10, 3), 0);
  bool moved = false;
  test.log->move_start(partition, Offset{501}, *test.runtime->io.front(),
                       [&](const Result<Offset>& done) { moved = done.has_value(); });
  test.queue.run_until_idle();
  ASSERT_TRUE(moved);
  EXPECT_EQ(between(test, 0, 1800), 1299) << "the log starts in the middle of a batch";
  ASSERT_TRUE(test.stop());
  ASSERT_TRUE(test.start(true));
  EXPECT_EQ(between(test, 0, 1800), 1299) << "from index files alone";
}

TEST(RecordsBetween, WhatDamageTookIsNotCountedInASegmentThatWasSealedAtTheStart) {
  TestLog test{2};
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  for (int i = 0; i < 20; ++i) {
    test.append_now(test.find(1, 0), {.values = {value_of(i, 3'000)}});
  }
  test.crash(sim::CrashMode::process_death);
  ASSERT_TRUE(
      test.disk.damage("data/commitlog/" + segment_file_name(SegmentId{1}), 10 * 4096 + 2'000, std::byte{0x10}));
  ASSERT_TRUE(test.start());
  ASSERT_EQ(test.log->statistics().recovery_damaged_ranges, 1);
  EXPECT_EQ(test.find(1, 0)->high_watermark(), Offset{20});
  EXPECT_EQ(between(test, 0, 20), 19);
  EXPECT_EQ(between(test, 0, 20), std::ssize(*test.read_all(*test.find(1, 0))));
  test.append_now(test.find(1, 0), {.values = {value_of(20, 3'000)}});
  EXPECT_EQ(between(test, 0, 21), 20);
  EXPECT_EQ(between(test, 19, 21), 2);
}

}  // namespace
}  // namespace weir::log
