#include "log/state_entry.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "log/entry.hpp"

namespace weir::log {
namespace {

PartitionState partition(std::uint32_t local) {
  Random random{local};
  PartitionState state;
  state.local.value = local;
  state.key = {random.uuid(), static_cast<std::int32_t>(local % 7)};
  state.log_start.value = 5;
  state.log_end.value = 100 + local;
  state.durable_end.value = 90;
  state.high_watermark.value = 90;
  state.record_count = 77;
  state.leader_epoch.value = 3;
  state.epochs.assign(LeaderEpoch{1}, Offset{5});
  state.epochs.assign(LeaderEpoch{3}, Offset{50});
  return state;
}

TEST(StateItems, EveryTypeComesBackEqual) {
  std::vector<std::byte> packed(kPackedIndexEntrySize * 2);
  pack({Offset{5}, Offset{6}, 4096, 90, 1}, packed.data());
  pack({Offset{7}, Offset{9}, 4200, 95, 2}, packed.data() + kPackedIndexEntrySize);
  std::vector<std::byte> body;
  append_item(body, NodeState{LocalPartition{12}});
  append_item(body, partition(4));
  append_item(body, ProducersItem{LocalPartition{4}, as_bytes("snapshot")});
  append_item(body, IndexItem{LocalPartition{4}, packed});

  StateItemReader reader{body};
  EXPECT_EQ(std::get<NodeState>(*reader.next().value()), NodeState{LocalPartition{12}});
  EXPECT_EQ(std::get<PartitionState>(*reader.next().value()), partition(4));
  const auto producers = std::get<ProducersItem>(*reader.next().value());
  EXPECT_EQ(producers.local, LocalPartition{4});
  EXPECT_EQ(as_text(producers.snapshot), "snapshot");
  const auto index = std::get<IndexItem>(*reader.next().value());
  EXPECT_EQ(index.count(), 2U);
  EXPECT_EQ(index.at(1), (IndexEntry{Offset{7}, Offset{9}, 4200, 95, 2}));
  EXPECT_FALSE(reader.next().value().has_value());
}

TEST(StateItems, APrefixGivesTheWholeItemsAndThenAnError) {
  std::vector<std::byte> body;
  append_item(body, NodeState{LocalPartition{12}});
  const auto first = body.size();
  append_item(body, partition(4));
  for (std::size_t size = 1; size < body.size(); ++size) {
    StateItemReader reader{Bytes{body}.first(size)};
    auto item = reader.next();
    for (; item && *item; item = reader.next()) {
    }
    EXPECT_EQ(item.has_value(), size == first) << size;
  }
}

TEST(StateItems, AnUnknownTypeIsSkippedFrom128OnAndRefusedBelow) {
  std::vector<std::byte> body;
  append_item(body, NodeState{LocalPartition{1}});
  append_item(body, NodeState{LocalPartition{2}});
  store_le(body, 0, std::uint32_t{128});
  EXPECT_EQ(std::get<NodeState>(*StateItemReader{body}.next().value()), NodeState{LocalPartition{2}});
  store_le(body, 0, std::uint32_t{127});
  EXPECT_EQ(StateItemReader{body}.next().error(), (Error{Errc::unsupported, 127}));
}

TEST(StateItems, EndsThatContradictEachOtherAreCorrupt) {
  auto state = partition(1);
  state.high_watermark = state.log_end + 1;
  std::vector<std::byte> body;
  append_item(body, state);
  EXPECT_EQ(StateItemReader{body}.next().error().code, Errc::corrupt);
}

TEST(StateChunker, SplitsTheStateOfManyPartitionsIntoSmallNumberedChunks) {
  StateChunker chunker;
  chunker.add(NodeState{LocalPartition{9}});
  for (std::uint32_t i = 0; i < 5000; ++i) {
    chunker.add(partition(i));
  }
  const auto chunks = chunker.finish();
  EXPECT_GT(chunks.size(), 1U);
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    EXPECT_LE(chunks[i].size(), kStateChunkBytes);
    const auto chunk = decode_state_chunk(chunks[i]);
    ASSERT_TRUE(chunk);
    EXPECT_EQ(chunk->number, i);
    StateItemReader reader{chunk->items};
    for (auto item = reader.next(); item && *item; item = reader.next()) {
      if (const auto* state = std::get_if<PartitionState>(&**item)) {
        EXPECT_EQ(*state, partition(found++));
      }
    }
  }
  EXPECT_EQ(found, 5000U);
}

TEST(StateChunker, TheStateOfAnEmptyLogIsOneEmptyChunk) {
  const auto chunks = StateChunker{}.finish();
  ASSERT_EQ(chunks.size(), 1U);
  EXPECT_TRUE(decode_state_chunk(chunks[0])->items.empty());
}

TEST(StateChunker, TheLongestEpochListFitsAnEntry) {
  auto state = partition(1);
  for (std::int32_t i = 4; i < 4 + static_cast<std::int32_t>(EpochList::kEpochsMax); ++i) {
    state.epochs.assign(LeaderEpoch{i}, Offset{50 + i});
  }
  state.log_end.value = 1'000'000;
  StateChunker chunker;
  chunker.add(NodeState{});
  chunker.add(state);
  for (const auto& chunk : chunker.finish()) {
    EXPECT_LE(chunk.size(), kControlPayloadMax);
  }
}

}  // namespace
}  // namespace weir::log
