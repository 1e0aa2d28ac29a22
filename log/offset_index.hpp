// OffsetIndex: where the batches of one partition lie in the open segment; one entry a batch. One writer (the log
// role) appends; any thread may look up without a lock: what lies below size() is complete, never changes, never moves.
// Entries live in chunks that double in size, so an idle partition costs little and nothing is ever copied.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"

namespace weir::log {

struct IndexEntry {
  Offset base_offset;
  Offset last_offset;         // of the batch: base offset + last offset delta
  std::int64_t position = 0;  // of the batch's first byte in its file; in an arrival segment its entry header is before
  std::uint32_t size = 0;     // bytes of the batch
  Millis max_timestamp = -1;
  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};

// The 28 bytes of an entry, in memory and in index files alike: base offset, max timestamp, last offset delta,
// position, size.
inline constexpr std::size_t kPackedIndexEntrySize = 28;
void pack(const IndexEntry& entry, std::byte* into);
[[nodiscard]] IndexEntry unpack(const std::byte* from);

class OffsetIndex {
 public:
  OffsetIndex() = default;
  ~OffsetIndex();
  OffsetIndex(const OffsetIndex&) = delete;
  OffsetIndex& operator=(const OffsetIndex&) = delete;

  // Writer only. base_offset above the last entry's last offset.
  void append(const IndexEntry& entry);

  [[nodiscard]] std::size_t size() const { return size_.load(std::memory_order_acquire); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  // at < size(). The n-th entry of the partition in this segment.
  [[nodiscard]] IndexEntry at(std::size_t number) const;
  // Number of the first entry whose last offset is >= `offset`: the one that holds it, or the next one after a gap;
  // size() if there is none. Go on with at(number + 1) ... while below a size() taken once.
  [[nodiscard]] std::size_t find(Offset offset) const;
  // Number of the first entry at or after `from` with max_timestamp >= `timestamp`; size() if there is none.
  [[nodiscard]] std::size_t find_by_time(Millis timestamp, std::size_t from = 0) const;
  // Whether offsets between the first and the last of entries [0, size()) belong to none of them.
  [[nodiscard]] bool has_gaps() const { return has_gaps_.load(std::memory_order_relaxed); }
  // Largest timestamp of entries [0, size()); -1 if there are none.
  [[nodiscard]] Millis max_timestamp() const { return max_timestamp_.load(std::memory_order_acquire); }
  [[nodiscard]] std::size_t memory_bytes() const;  // of all chunks
  // Appends the packed bytes of entries [from, to) to `out` (index files and deltas). to <= size().
  void copy_packed(std::size_t from, std::size_t to, std::vector<std::byte>& out) const;

 private:
  static constexpr std::size_t kFirstChunk = 4;
  static constexpr std::size_t kChunksMax = 24;  // 67 million entries; a segment rolls long before
  struct Chunk;                                  // largest timestamp, then packed entries
  [[nodiscard]] const std::byte* slot(std::size_t number) const;

  std::array<std::atomic<Chunk*>, kChunksMax> chunks_{};
  std::atomic<std::size_t> size_{0};
  std::atomic<Millis> max_timestamp_{-1};
  std::atomic<bool> has_gaps_{false};  // set before the size that shows it
  Offset last_offset_{-1};             // writer only
};

}  // namespace weir::log
