// Image: the tail of the log in memory, a ring of 1 MiB blocks addressed by position, 4096-aligned like the files.
// Filled by the log role, written out by the write role, read by anybody.
//
// Owner: CommitLog. put() and room_for() belong to the log role; set_written() to the write role; the rest is for any
// thread. A block is taken when the tail first reaches it and its memory goes back to a free list when the ring and
// every reader have let go, so a slow reader never sees its bytes change and the ring never waits for a reader.
//
// What must hold: a block is replaced only when all of its bytes are written to the file; a reader asks only for bytes
// below a published end, and these are never changed.
//
// An entry may be larger than the ring: the image has more blocks for it, until they are written.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"

namespace weir::log {

inline constexpr std::int64_t kImageBlockBytes = 1LL << 20;

class Image {
 public:
  // A ring of at least 4 blocks. Entries up to half of it have room, and those up to `entry_bytes_max` too.
  explicit Image(std::int64_t bytes, std::int64_t entry_bytes_max = 0);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  // The tail begins at `position` (a multiple of 4096), everything before it is in files. Before any other call.
  void start_at(LogPosition position);

  // Log role.
  [[nodiscard]] LogPosition tail() const { return tail_; }
  [[nodiscard]] bool room_for(std::int64_t size) const;
  void put(Bytes bytes);  // at the tail; there must be room

  // Write role: bytes below are in files, so their blocks may be replaced.
  void set_written(LogPosition position) { written_.store(position.value, std::memory_order_release); }
  [[nodiscard]] LogPosition written() const { return {written_.load(std::memory_order_acquire)}; }

  [[nodiscard]] std::int64_t capacity() const { return ring_blocks_ * kImageBlockBytes; }
  [[nodiscard]] std::int64_t entry_bytes_max() const { return entry_bytes_max_; }
  [[nodiscard]] std::int64_t memory_bytes() const;  // blocks that exist, the ring's and those that readers hold
  // Readers hold more blocks than the ring has: who reads now copies instead of holding yet more. So at most about
  // three times the ring exists, and the largest entry.
  [[nodiscard]] bool is_overdrawn() const { return memory_bytes() > 2 * capacity(); }

 private:
  friend class ImageReader;
  struct Block;
  struct Blocks;
  struct Slot {
    mutable std::mutex mutex;  // guards both; the log role takes it once a block, a reader once a block it looks into
    std::int64_t number = -1;
    std::shared_ptr<Block> block;
  };
  [[nodiscard]] std::shared_ptr<Block> find(std::int64_t number) const;
  void take_block(std::int64_t number);
  void drop_written_below(std::int64_t number);

  std::shared_ptr<Blocks> blocks_;  // outlives the image while readers hold blocks
  const std::int64_t ring_blocks_;
  const std::int64_t entry_bytes_max_;
  std::vector<Slot> slots_;  // at least as many as the ring has: as the largest entry needs
  LogPosition tail_{0};
  std::int64_t oldest_ = 0;          // block: none below is in a slot
  std::byte* tail_block_ = nullptr;  // memory of the block that holds tail_, null when tail_ begins a new one
  std::atomic<std::int64_t> written_{0};
  LogPosition first_{0};  // where this life of the log began; nothing before it was ever here
};

// Looks into the image for one read; remembers the block it looked into last, also that it was not there: a block that
// is below a published end does not come back. Belongs to one thread.
class ImageReader {
 public:
  explicit ImageReader(const Image& image) : image_(image) {}
  // Copies [position, position + into.size()); false if a part of it is no longer here.
  bool copy(LogPosition position, MutableBytes into);
  // The same bytes without a copy, one piece per block, holding the blocks. False, and nothing appended, if not here.
  bool hold(LogPosition position, std::size_t size, std::vector<SharedBytes>& into);

 private:
  bool seek(std::int64_t number);
  const Image& image_;
  std::int64_t number_ = -1;
  std::shared_ptr<Image::Block> block_;
};

}  // namespace weir::log
