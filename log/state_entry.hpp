// State items: what the log knows beside its batches, as bytes. State entries (each arrival segment begins with them),
// index deltas and sealed index files carry the same items. Pure, any thread.
//
// An item is {type, size, bytes}. Types from 128 on may be skipped by a reader that does not know them.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "log/epoch_list.hpp"
#include "log/offset_index.hpp"
#include "log/partition.hpp"
#include "log/producer_state.hpp"
#include "log/truncation_list.hpp"

namespace weir::log {

struct NodeState {
  LocalPartition next_local;  // the number that the next new partition gets
  friend bool operator==(const NodeState&, const NodeState&) = default;
};

struct PartitionState {
  LocalPartition local;
  PartitionKey key;
  Offset log_start;
  Offset log_end;  // as of the position the item stands for: the state entry's own, or the delta's covered end
  Offset durable_end;
  Offset high_watermark;
  Offset reserved_end{-1};        // memory topics: no offset below is ever given again; -1 if none is reserved
  std::int64_t record_count = 0;  // data records appended since the last truncation (as in the index directory)
  LeaderEpoch leader_epoch;       // current one; may have no record yet
  EpochList epochs;
  TruncationList truncations;
  friend bool operator==(const PartitionState&, const PartitionState&) = default;
};

struct ProducersItem {  // a piece of ProducerTable::encode(); a partition may have several
  LocalPartition local;
  Bytes snapshot;
};

struct IndexItem {  // entries of one partition, packed as in OffsetIndex; only in deltas
  LocalPartition local;
  Bytes packed;
  [[nodiscard]] std::size_t count() const { return packed.size() / kPackedIndexEntrySize; }
  [[nodiscard]] IndexEntry at(std::size_t number) const {
    return unpack(packed.subspan(number * kPackedIndexEntrySize, kPackedIndexEntrySize).data());
  }
};

using StateItem = std::variant<NodeState, PartitionState, ProducersItem, IndexItem>;

void append_item(std::vector<std::byte>& out, const NodeState& item);
void append_item(std::vector<std::byte>& out, const PartitionState& item);
void append_item(std::vector<std::byte>& out, const ProducersItem& item);
void append_item(std::vector<std::byte>& out, const IndexItem& item);

class StateItemReader {
 public:
  explicit StateItemReader(Bytes body) : rest_(body) {}
  // nullopt at the end. truncated, corrupt, or unsupported (a type below 128 that this build does not know).
  Result<std::optional<StateItem>> next();

 private:
  Bytes rest_;
};

// State entries are chunks, so that the state of 50,000 partitions needs no huge entry. A payload is {chunk number,
// items}; all but the last are flagged `continued`.
inline constexpr std::size_t kStateChunkBytes = 256U << 10U;

class StateChunker {
 public:
  template <class Item>
  void add(const Item& item) {
    append_item(item_, item);
    place();
  }
  // The payloads in order, at least one. The chunker is empty again.
  std::vector<std::vector<std::byte>> finish();

 private:
  void place();
  std::vector<std::vector<std::byte>> chunks_;
  std::vector<std::byte> item_;
};

struct StateChunk {
  std::uint32_t number = 0;
  Bytes items;  // for StateItemReader
};
Result<StateChunk> decode_state_chunk(Bytes payload);

}  // namespace weir::log
