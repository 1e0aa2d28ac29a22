// ReadCache: blocks of segment files in memory, for readers of small batches. In a log that many partitions share, a
// reader's batches lie between those of others: who reads a block for one partition has read it for the others too, and
// groups that lag read the same stretch at about the same time.
//
// A block remembers which of its batches were checked since it was read, so that a batch is checked once for all of its
// readers. Batches may be sent from the block where they lie: who sends holds it.
//
// Owner: CommitLog. Any thread; a slot's mutex is held to look up or put a block, never while reading. A block holds
// what was below the written end when it was read: that never changes. Segment ids are not used twice, so the blocks of
// a removed segment just age out. Which slot a block has follows from its position, as in the image.
//
// What must hold: of all blocks, answers on their way hold at most as many as the cache has slots (and what readers
// that look at the same moment add): else whoever reads next copies. So at most about twice the cache exists, however
// slowly it is sent.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "log/entry.hpp"
#include "log/image.hpp"
#include "log/segment.hpp"

namespace weir::log {

class ReadCache {
 public:
  static constexpr std::int64_t kBlockBytes = 128LL << 10;

  // Less than one block: nothing is kept.
  ReadCache(std::int64_t bytes, const Image& image)
      : image_(image), slots_(static_cast<std::size_t>(bytes / kBlockBytes)) {}

  // Of all blocks: those in their slots, and others that answers hold.
  [[nodiscard]] std::int64_t memory_bytes() const {
    return counts_->blocks.load(std::memory_order_relaxed) * kBlockBytes;
  }

 private:
  friend class CacheReader;
  struct Counts {
    std::atomic<std::int64_t> blocks{0};
    std::atomic<std::int64_t> held{0};
  };
  struct Block {
    Block(SegmentId of, std::int64_t number_in_it, std::shared_ptr<Counts> counted);
    ~Block() { counts->blocks.fetch_sub(1, std::memory_order_relaxed); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    const SegmentId segment;
    const std::int64_t number;
    std::size_t size = 0;  // bytes that count, from the block's beginning
    const std::unique_ptr<std::byte[]> bytes;
    const std::shared_ptr<Counts> counts;
    mutable std::atomic<std::int32_t> holders{0};
    // By the place where a batch's entry header begins.
    mutable std::array<std::atomic<std::uint64_t>, kBlockBytes / (kEntryAlignment * 64)> checked{};
  };
  struct Hold;
  struct Slot {
    mutable std::mutex mutex;
    std::shared_ptr<const Block> block;
    SegmentId missed_segment{0};  // the block that was last read from alone, and what that has cost
    std::int64_t missed_number = -1;
    std::int64_t missed_cost = 0;
  };
  using BlockPointer = std::shared_ptr<const Block>;

  [[nodiscard]] bool may_hold() const { return counts_->held.load(std::memory_order_relaxed) < std::ssize(slots_); }
  [[nodiscard]] Slot* slot_of(const Segment& segment, std::int64_t number);
  // Whether reading alone from a block, `size` bytes now, has cost as much by now as reading all of it for everybody.
  bool is_worth(const Segment& segment, std::int64_t number, std::size_t size);
  [[nodiscard]] BlockPointer find(const Segment& segment, std::int64_t number);
  Result<BlockPointer> load(const Segment& segment, std::int64_t number);

  const Image& image_;
  std::vector<Slot> slots_;
  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();  // outlives the cache while answers hold blocks
};

// The small reads of one LogReader::read(), in rising positions. Blocks. One thread.
class CacheReader {
 public:
  explicit CacheReader(ReadCache& cache) : cache_(cache) {}
  // Whether the block that `position` lies in is kept, as far as that is known without reading.
  [[nodiscard]] bool has(const Segment& segment, std::int64_t position);
  // The bytes from `position` of the segment's file, where they lie in one block; empty: they do not, read() copies
  // them and checks anew. Valid until the next call.
  Result<Bytes> look(const Segment& segment, std::int64_t position, std::size_t size);
  // Of the entry that was found at `position` by the last look(). There is one entry at a place of a segment, for ever.
  [[nodiscard]] bool is_checked(std::int64_t position) const;
  void set_checked(std::int64_t position) const;
  // Keeps alive what the last look() found. Null: answers hold so much that this one must copy.
  [[nodiscard]] const std::shared_ptr<const void>& hold();
  // Fills `into` with the bytes from `position` of the segment's file; corrupt if the file ends before.
  Result<void> read(const Segment& segment, std::int64_t position, MutableBytes into);

 private:
  [[nodiscard]] bool is_near(const Segment& segment, std::int64_t position) const;
  bool stand_at(const Segment& segment, std::int64_t number);
  // False: a block is not kept, and may not be read.
  Result<bool> copy(const Segment& segment, std::int64_t position, MutableBytes into, bool may_load);
  // As far as block_ goes; 0 without one.
  std::size_t copy_from_block(std::int64_t position, MutableBytes into) const;

  ReadCache& cache_;
  ReadCache::BlockPointer block_;
  std::shared_ptr<const void> hold_;  // of block_, once asked for
  SegmentId segment_{0};              // of the last read, which ended at end_
  std::int64_t end_ = -1;
};

}  // namespace weir::log
