#include "log/memory_store.hpp"

#include <gtest/gtest.h>

#include "log/test_batch.hpp"

namespace weir::log {
namespace {

constexpr LeaderEpoch kEpoch{3};

class MemoryStoreTest : public testing::Test {
 protected:
  Offset append(const std::vector<std::string>& values, Millis timestamp = 1000, Millis now = 2000) {
    return store.append(make_valid_batch({.values = values, .timestamp = timestamp}), kEpoch, now);
  }
  static protocol::BatchFacts facts_of(const std::vector<std::string>& values) {
    return make_valid_batch({.values = values}).facts();
  }

  MemoryStore store{Offset{100}};
};

TEST_F(MemoryStoreTest, GivesNoOffsetThatIsNotGranted) {
  EXPECT_FALSE(store.covers(facts_of({"a"})));
  store.grant(Offset{102});
  EXPECT_TRUE(store.covers(facts_of({"a", "b"})));
  EXPECT_FALSE(store.covers(facts_of({"a", "b", "c"})));
  EXPECT_EQ(append({"a", "b"}), Offset{100});
  EXPECT_FALSE(store.covers(facts_of({"c"})));
  store.grant(Offset{101});
  EXPECT_EQ(store.granted_end(), Offset{102}) << "what was granted stays so";
}

TEST_F(MemoryStoreTest, KeepsWholeBatchesWithTheirOffsetsAndEpochAndASoundChecksum) {
  store.grant(Offset{1000});
  append({"a"});
  append({"b", "c"});
  append({"d"});
  EXPECT_EQ(store.log_end(), Offset{104});
  EXPECT_EQ(store.find(Offset{0}), 0U) << "below the first: the first";
  EXPECT_EQ(store.find(Offset{101}), 1U);
  EXPECT_EQ(store.find(Offset{102}), 1U);
  EXPECT_EQ(store.find(Offset{103}), 2U);
  EXPECT_EQ(store.find(Offset{104}), 3U);
  const auto batch = protocol::RecordBatchView::parse(store.at(1).bytes.view());
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->base_offset(), 101);
  EXPECT_EQ(batch->last_offset(), 102);
  EXPECT_EQ(batch->leader_epoch(), kEpoch.value);
  EXPECT_TRUE(batch->crc_ok());
}

TEST_F(MemoryStoreTest, CountsWhatItHasAndWhatItDrops) {
  store.grant(Offset{1000});
  append({std::string(100, 'x')});
  const auto first = store.cost();
  EXPECT_EQ(first, store.size_bytes() + kMemoryBatchOverhead);
  append({std::string(300, 'y')});
  const auto both = store.cost();
  const auto held = store.at(0).bytes;
  const auto dropped = store.drop_oldest();
  EXPECT_EQ(dropped.batches, 1);
  EXPECT_EQ(dropped.cost, first);
  EXPECT_EQ(store.cost(), both - first);
  EXPECT_EQ(store.log_start(), Offset{101});
  EXPECT_TRUE(protocol::RecordBatchView::parse(held.view())->crc_ok()) << "a reader still holds it";
  EXPECT_EQ(store.clear().cost, both - first);
  EXPECT_EQ(store.cost(), 0);
  EXPECT_EQ(store.log_start(), Offset{102});
  EXPECT_EQ(store.log_end(), Offset{102}) << "offsets stay given";
  EXPECT_EQ(store.drop_oldest().batches, 0);
}

TEST_F(MemoryStoreTest, AStartInsideABatchKeepsTheBatch) {
  store.grant(Offset{1000});
  append({"a", "b", "c"});
  append({"d"});
  EXPECT_EQ(store.move_start(Offset{101}).batches, 0);
  EXPECT_EQ(store.log_start(), Offset{101});
  EXPECT_EQ(store.move_start(Offset{50}).batches, 0);
  EXPECT_EQ(store.log_start(), Offset{101}) << "it never goes back";
  EXPECT_EQ(store.move_start(Offset{103}).batches, 1);
  EXPECT_EQ(store.move_start(Offset{999}).batches, 1);
  EXPECT_EQ(store.log_start(), Offset{104}) << "at most the log end";
}

TEST_F(MemoryStoreTest, RetentionGoesByTheStampButNotByOneInTheFutureAndBySize) {
  store.grant(Offset{1000});
  append({"old"}, 1000, 1000);
  append({"stamped ahead"}, 9'000'000, 1500);
  append({"without a stamp"}, -1, 1600);
  append({"new"}, 1900, 1900);
  const PartitionRules by_time{.retention_ms = 500};
  EXPECT_EQ(store.retain(by_time, 1500).batches, 0) << "just not older";
  EXPECT_EQ(store.retain(by_time, 1501).batches, 1);
  EXPECT_EQ(store.retain(by_time, 2101).batches, 2);
  EXPECT_EQ(store.log_start(), Offset{103});
  const auto one = store.size_bytes();
  append({"new"}, 1900, 1900);
  EXPECT_EQ(store.retain({.retention_ms = -1, .retention_bytes = one + 1}, 5000).batches, 0);
  EXPECT_EQ(store.retain({.retention_ms = -1, .retention_bytes = one}, 5000).batches, 1);
  EXPECT_EQ(store.retain({.delete_old = false, .retention_ms = 0}, 9999).batches, 0);
}

}  // namespace
}  // namespace weir::log
