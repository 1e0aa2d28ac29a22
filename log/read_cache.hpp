// ReadCache: blocks of segment files in memory, for readers of small batches. In a log that many partitions share, a
// reader's batches lie between those of others: who reads a block for one partition has read it for the others too, and
// groups that lag read the same stretch at about the same time.
//
// Owner: CommitLog. Any thread; a slot's mutex is held to look up or put a block, never while reading. A block holds
// what was below the written end when it was read: that never changes. Segment ids are not used twice, so the blocks of
// a removed segment just age out. Which slot a block has follows from its position, as in the image.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "log/image.hpp"
#include "log/segment.hpp"

namespace weir::log {

class ReadCache {
 public:
  static constexpr std::int64_t kBlockBytes = 128LL << 10;

  // Less than one block: nothing is kept.
  ReadCache(std::int64_t bytes, const Image& image)
      : image_(image), slots_(static_cast<std::size_t>(bytes / kBlockBytes)) {}

  [[nodiscard]] std::int64_t memory_bytes() const { return blocks_.load(std::memory_order_relaxed) * kBlockBytes; }

 private:
  friend class CacheReader;
  struct Block {
    SegmentId segment{0};
    std::int64_t number = -1;
    std::size_t size = 0;  // bytes that count, from the block's beginning
    std::unique_ptr<std::byte[]> bytes;
  };
  struct Slot {
    mutable std::mutex mutex;
    std::shared_ptr<const Block> block;
  };
  using BlockPointer = std::shared_ptr<const Block>;

  [[nodiscard]] Slot* slot_of(const Segment& segment, std::int64_t number);
  [[nodiscard]] BlockPointer find(const Segment& segment, std::int64_t number);
  Result<BlockPointer> load(const Segment& segment, std::int64_t number);

  const Image& image_;
  std::vector<Slot> slots_;
  std::atomic<std::int64_t> blocks_{0};
};

// The small reads of one LogReader::read(), in rising positions. Blocks. One thread.
class CacheReader {
 public:
  explicit CacheReader(ReadCache& cache) : cache_(cache) {}
  // Fills `head`, then `into`, with the bytes from `position` of the segment's file; corrupt if the file ends before.
  Result<void> read(const Segment& segment, std::int64_t position, MutableBytes head, MutableBytes into);

 private:
  // False: a block is not kept, and may not be read.
  Result<bool> copy(const Segment& segment, std::int64_t position, MutableBytes into, bool may_load);
  // As far as block_ goes; 0 without one.
  std::size_t copy_from_block(std::int64_t position, MutableBytes into) const;

  ReadCache& cache_;
  ReadCache::BlockPointer block_;
  SegmentId segment_{0};  // of the last read, which ended at end_
  std::int64_t end_ = -1;
};

}  // namespace weir::log
