#include "log/state_entry.hpp"

#include "log/entry.hpp"

#include "log/little_endian.hpp"

namespace weir::log {
namespace {

enum class ItemType : std::uint8_t { node = 1, partition = 2, producers = 3, index = 4 };
constexpr std::uint8_t kMayBeSkippedFrom = 128;
constexpr std::size_t kItemHeaderSize = 8;  // type, three zero bytes, size
constexpr std::size_t kChunkHeaderSize = 8;

// Writes the header, lets `body` append the rest, then fills in the size.
template <class Body>
void put_item(std::vector<std::byte>& out, ItemType type, const Body& body) {
  const auto at = out.size();
  put(out, static_cast<std::uint32_t>(type));
  put(out, std::uint32_t{0});
  body();
  store_le(out, at + 4, static_cast<std::uint32_t>(out.size() - at - kItemHeaderSize));
}

Result<NodeState> decode_node(Bytes bytes) {
  LittleReader reader{bytes};
  NodeState state;
  state.next_local.value = reader.take<std::uint32_t>();
  const auto reserved = reader.take<std::uint32_t>();
  if (!reader.at_end() || reserved != 0) {
    return {Errc::corrupt, static_cast<std::int64_t>(bytes.size())};
  }
  return state;
}

Result<PartitionState> decode_partition(Bytes bytes) {
  LittleReader reader{bytes};
  PartitionState state;
  state.local.value = reader.take<std::uint32_t>();
  state.key.index = reader.take<std::int32_t>();
  state.key.topic_id = reader.take_uuid();
  state.log_start.value = reader.take<std::int64_t>();
  state.log_end.value = reader.take<std::int64_t>();
  state.durable_end.value = reader.take<std::int64_t>();
  state.high_watermark.value = reader.take<std::int64_t>();
  state.reserved_end.value = reader.take<std::int64_t>();
  state.record_count = reader.take<std::int64_t>();
  state.leader_epoch.value = reader.take<std::int32_t>();
  const auto reserved = reader.take<std::uint32_t>();
  if (reader.failed()) {
    return {Errc::truncated, static_cast<std::int64_t>(bytes.size())};
  }
  const bool ordered = state.log_start.value >= 0 && state.log_start <= state.log_end &&
                       state.durable_end <= state.log_end && state.high_watermark <= state.log_end;
  if (reserved != 0 || !ordered || state.record_count < 0) {
    return {Errc::corrupt, static_cast<std::int64_t>(state.local.value)};
  }
  const auto rest = reader.rest();
  const auto epochs_size = std::min(rest.size(), EpochList::size_of(rest));
  WEIR_TRY(state.epochs, EpochList::decode(rest.first(epochs_size)));
  WEIR_TRY(state.truncations, TruncationList::decode(rest.subspan(epochs_size)));
  return state;
}

Result<IndexItem> decode_index(Bytes bytes) {
  LittleReader reader{bytes};
  IndexItem item;
  item.local.value = reader.take<std::uint32_t>();
  item.packed = reader.rest();
  if (reader.failed() || item.packed.size() % kPackedIndexEntrySize != 0) {
    return {Errc::corrupt, static_cast<std::int64_t>(bytes.size())};
  }
  return item;
}

}  // namespace

void append_item(std::vector<std::byte>& out, const NodeState& item) {
  put_item(out, ItemType::node, [&] {
    put(out, item.next_local.value);
    put(out, std::uint32_t{0});
  });
}

void append_item(std::vector<std::byte>& out, const PartitionState& item) {
  put_item(out, ItemType::partition, [&] {
    put(out, item.local.value);
    put(out, item.key.index);
    put(out, item.key.topic_id);
    put(out, item.log_start.value);
    put(out, item.log_end.value);
    put(out, item.durable_end.value);
    put(out, item.high_watermark.value);
    put(out, item.reserved_end.value);
    put(out, item.record_count);
    put(out, item.leader_epoch.value);
    put(out, std::uint32_t{0});
    item.epochs.encode(out);
    item.truncations.encode(out);
  });
}

void append_item(std::vector<std::byte>& out, const ProducersItem& item) {
  put_item(out, ItemType::producers, [&] {
    put(out, item.local.value);
    put(out, item.snapshot);
  });
}

void append_item(std::vector<std::byte>& out, const IndexItem& item) {
  put_item(out, ItemType::index, [&] {
    put(out, item.local.value);
    put(out, item.packed);
  });
}

Result<std::optional<StateItem>> StateItemReader::next() {
  while (!rest_.empty()) {
    LittleReader reader{rest_};
    const auto type = reader.take<std::uint32_t>();
    const auto size = reader.take<std::uint32_t>();
    const auto bytes = reader.take_bytes(size);
    if (reader.failed()) {
      return {Errc::truncated, static_cast<std::int64_t>(rest_.size())};
    }
    rest_ = reader.rest();
    if (type == static_cast<std::uint32_t>(ItemType::node)) {
      WEIR_TRY(auto item, decode_node(bytes));
      return std::optional<StateItem>{std::move(item)};
    }
    if (type == static_cast<std::uint32_t>(ItemType::partition)) {
      WEIR_TRY(auto item, decode_partition(bytes));
      return std::optional<StateItem>{std::move(item)};
    }
    if (type == static_cast<std::uint32_t>(ItemType::producers)) {
      if (bytes.size() < 4) {
        return {Errc::truncated, static_cast<std::int64_t>(bytes.size())};
      }
      return std::optional<StateItem>{
          ProducersItem{LocalPartition{load_le<std::uint32_t>(bytes, 0)}, bytes.subspan(4)}};
    }
    if (type == static_cast<std::uint32_t>(ItemType::index)) {
      WEIR_TRY(auto item, decode_index(bytes));
      return std::optional<StateItem>{item};
    }
    if (type == 0 || type > 255) {
      return Error{Errc::corrupt, type};
    }
    if (type < kMayBeSkippedFrom) {
      return Error{Errc::unsupported, type};
    }
  }
  return std::optional<StateItem>{};
}

void StateChunker::place() {
  WEIR_CHECK(item_.size() + kChunkHeaderSize <= kControlPayloadMax);
  if (chunks_.empty() || chunks_.back().size() + item_.size() > kStateChunkBytes) {
    const auto number = static_cast<std::uint32_t>(chunks_.size());
    chunks_.emplace_back();
    put(chunks_.back(), number);
    put(chunks_.back(), std::uint32_t{0});
  }
  put(chunks_.back(), Bytes{item_});
  item_.clear();
}

std::vector<std::vector<std::byte>> StateChunker::finish() {
  if (chunks_.empty()) {
    place();
  }
  return std::exchange(chunks_, {});
}

Result<StateChunk> decode_state_chunk(Bytes payload) {
  LittleReader reader{payload};
  StateChunk chunk;
  chunk.number = reader.take<std::uint32_t>();
  const auto reserved = reader.take<std::uint32_t>();
  chunk.items = reader.rest();
  if (reader.failed() || reserved != 0) {
    return {Errc::corrupt, static_cast<std::int64_t>(payload.size())};
  }
  return chunk;
}

}  // namespace weir::log
