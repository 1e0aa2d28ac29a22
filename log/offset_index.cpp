#include "log/offset_index.hpp"

#include <bit>
#include <limits>

namespace weir::log {

// Largest timestamp of the chunk's published entries, so that a search by time leaps over whole chunks; then entries.
struct OffsetIndex::Chunk {
  explicit Chunk(std::size_t capacity) : entries(new std::byte[capacity * kPackedIndexEntrySize]) {}
  std::atomic<Millis> max_timestamp{std::numeric_limits<Millis>::min()};
  std::unique_ptr<std::byte[]> entries;  // not initialised: pages never reached are never taken
};

namespace {

struct Place {
  std::size_t chunk;
  std::size_t index;  // inside it
};

// Chunk c holds 4 << c entries, from number 4 * (2^c - 1) on.
Place place_of(std::size_t number) {
  const auto chunk = static_cast<std::size_t>(std::bit_width(number / 4 + 1) - 1);
  return {chunk, number - 4 * ((std::size_t{1} << chunk) - 1)};
}

}  // namespace

void pack(const IndexEntry& entry, std::byte* into) {
  const auto delta = entry.last_offset - entry.base_offset;
  WEIR_DCHECK(delta >= 0 && delta <= std::numeric_limits<std::uint32_t>::max());
  WEIR_DCHECK(entry.position >= 0 && entry.position <= std::numeric_limits<std::uint32_t>::max());
  const auto delta_bits = static_cast<std::uint32_t>(delta);
  const auto position_bits = static_cast<std::uint32_t>(entry.position);
  std::memcpy(into, &entry.base_offset.value, 8);
  std::memcpy(into + 8, &entry.max_timestamp, 8);
  std::memcpy(into + 16, &delta_bits, 4);
  std::memcpy(into + 20, &position_bits, 4);
  std::memcpy(into + 24, &entry.size, 4);
}

IndexEntry unpack(const std::byte* from) {
  IndexEntry entry;
  std::uint32_t delta = 0;
  std::uint32_t position = 0;
  std::memcpy(&entry.base_offset.value, from, 8);
  std::memcpy(&entry.max_timestamp, from + 8, 8);
  std::memcpy(&delta, from + 16, 4);
  std::memcpy(&position, from + 20, 4);
  std::memcpy(&entry.size, from + 24, 4);
  // Bytes from a file may hold any base offset: the sum must wrap rather than be undefined.
  entry.last_offset.value =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(entry.base_offset.value) + std::uint64_t{delta});
  entry.position = position;
  return entry;
}

OffsetIndex::~OffsetIndex() {
  for (auto& chunk : chunks_) {
    delete chunk.load(std::memory_order_relaxed);
  }
}

const std::byte* OffsetIndex::slot(std::size_t number) const {
  const auto place = place_of(number);
  // The caller has read size_ with acquire, which makes the chunk pointer visible too.
  return chunks_[place.chunk].load(std::memory_order_relaxed)->entries.get() + place.index * kPackedIndexEntrySize;
}

void OffsetIndex::append(const IndexEntry& entry) {
  const auto number = size_.load(std::memory_order_relaxed);
  WEIR_CHECK(entry.base_offset > last_offset_ && entry.last_offset >= entry.base_offset);
  const auto place = place_of(number);
  WEIR_CHECK(place.chunk < kChunksMax);
  auto* chunk = chunks_[place.chunk].load(std::memory_order_relaxed);
  if (chunk == nullptr) {
    chunk = new Chunk{kFirstChunk << place.chunk};
    chunks_[place.chunk].store(chunk, std::memory_order_relaxed);
  }
  pack(entry, chunk->entries.get() + place.index * kPackedIndexEntrySize);
  if (entry.max_timestamp > chunk->max_timestamp.load(std::memory_order_relaxed)) {
    chunk->max_timestamp.store(entry.max_timestamp, std::memory_order_relaxed);
  }
  if (number > 0 && entry.base_offset != last_offset_ + 1) {
    has_gaps_.store(true, std::memory_order_relaxed);
  }
  last_offset_ = entry.last_offset;
  if (entry.max_timestamp > max_timestamp_.load(std::memory_order_relaxed)) {
    max_timestamp_.store(entry.max_timestamp, std::memory_order_release);
  }
  size_.store(number + 1, std::memory_order_release);
}

IndexEntry OffsetIndex::at(std::size_t number) const {
  WEIR_DCHECK(number < size());
  return unpack(slot(number));
}

std::size_t OffsetIndex::find(Offset offset) const {
  std::size_t low = 0;
  std::size_t high = size();
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (unpack(slot(middle)).last_offset < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::size_t OffsetIndex::find_by_time(Millis timestamp, std::size_t from) const {
  const auto end = size();
  while (from < end) {
    const auto place = place_of(from);
    const auto chunk_end = std::min(end, from - place.index + (kFirstChunk << place.chunk));
    if (chunks_[place.chunk].load(std::memory_order_relaxed)->max_timestamp.load(std::memory_order_relaxed) <
        timestamp) {
      from = chunk_end;
      continue;
    }
    for (; from < chunk_end; ++from) {
      if (unpack(slot(from)).max_timestamp >= timestamp) {
        return from;
      }
    }
  }
  return end;
}

std::size_t OffsetIndex::memory_bytes() const {
  const auto entries = size();
  const auto chunks = entries == 0 ? 0 : place_of(entries - 1).chunk + 1;
  return chunks * sizeof(Chunk) + 4 * ((std::size_t{1} << chunks) - 1) * kPackedIndexEntrySize;
}

void OffsetIndex::copy_packed(std::size_t from, std::size_t to, std::vector<std::byte>& out) const {
  WEIR_CHECK(from <= to && to <= size());
  out.reserve(out.size() + (to - from) * kPackedIndexEntrySize);
  while (from < to) {
    const auto place = place_of(from);
    const auto count = std::min(to - from, (kFirstChunk << place.chunk) - place.index);
    const auto* bytes = slot(from);
    out.insert(out.end(), bytes, bytes + count * kPackedIndexEntrySize);
    from += count;
  }
}

}  // namespace weir::log
