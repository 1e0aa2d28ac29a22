#include "log/read_cache.hpp"

namespace weir::log {
namespace {
// From here on reading what lies between two batches costs more than a call for each of them.
constexpr std::int64_t kGapMax = 16LL << 10;
constexpr std::int64_t kCallCost = 8LL << 10;  // of one read, in bytes copied

std::int64_t block_of(std::int64_t position) {
  return position / ReadCache::kBlockBytes;
}
}  // namespace

ReadCache::Block::Block(SegmentId of, std::int64_t number_in_it, std::shared_ptr<Counts> counted)
    : segment(of),
      number(number_in_it),
      bytes(std::make_unique_for_overwrite<std::byte[]>(kBlockBytes)),
      counts(std::move(counted)) {
  counts->blocks.fetch_add(1, std::memory_order_relaxed);
}

// What one answer holds of a block. Blocks are counted, not holds: the answers of a group hold the same ones.
struct ReadCache::Hold {
  explicit Hold(BlockPointer held) : block(std::move(held)) {
    if (block->holders.fetch_add(1, std::memory_order_relaxed) == 0) {
      block->counts->held.fetch_add(1, std::memory_order_relaxed);
    }
  }
  ~Hold() {
    if (block->holders.fetch_sub(1, std::memory_order_relaxed) == 1) {
      block->counts->held.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  const BlockPointer block;
};

ReadCache::Slot* ReadCache::slot_of(const Segment& segment, std::int64_t number) {
  const auto in_log = block_of(segment.start().value) + number;
  return slots_.empty() ? nullptr : &slots_[static_cast<std::size_t>(in_log) % slots_.size()];
}

bool ReadCache::is_worth(const Segment& segment, std::int64_t number, std::size_t size) {
  auto* slot = slot_of(segment, number);
  if (slot == nullptr) {
    return false;
  }
  const std::scoped_lock lock(slot->mutex);
  if (slot->missed_segment != segment.id() || slot->missed_number != number) {
    slot->missed_segment = segment.id();
    slot->missed_number = number;
    slot->missed_cost = 0;
  }
  slot->missed_cost += kCallCost + static_cast<std::int64_t>(size);
  return slot->missed_cost >= kBlockBytes;
}

ReadCache::BlockPointer ReadCache::find(const Segment& segment, std::int64_t number) {
  const auto* slot = slot_of(segment, number);
  if (slot == nullptr) {
    return nullptr;
  }
  const std::scoped_lock lock(slot->mutex);
  const bool is_it = slot->block && slot->block->segment == segment.id() && slot->block->number == number;
  return is_it ? slot->block : nullptr;
}

Result<ReadCache::BlockPointer> ReadCache::load(const Segment& segment, std::int64_t number) {
  const auto from = number * kBlockBytes;
  // Before the read: what lies behind it may be on its way to the file just now.
  const auto written = std::max<std::int64_t>(0, image_.written().value - (segment.start().value + from));
  const auto block = std::make_shared<Block>(segment.id(), number, counts_);
  const auto wanted = static_cast<std::size_t>(std::min(kBlockBytes, written));
  WEIR_TRY(block->size, segment.file().read_at(from, MutableBytes{block->bytes.get(), wanted}));
  if (auto* slot = slot_of(segment, number)) {
    BlockPointer displaced = block;
    const std::scoped_lock lock(slot->mutex);
    std::swap(slot->block, displaced);
  }
  return BlockPointer{block};
}

bool CacheReader::is_near(const Segment& segment, std::int64_t position) const {
  return segment_ == segment.id() && position >= end_ && position - end_ <= kGapMax;
}

// False: there is no such block.
bool CacheReader::stand_at(const Segment& segment, std::int64_t number) {
  if (!block_ || block_->segment != segment.id() || block_->number != number) {
    hold_.reset();
    block_ = cache_.find(segment, number);
  }
  return block_ != nullptr;
}

bool CacheReader::has(const Segment& segment, std::int64_t position) {
  return stand_at(segment, block_of(position));
}

Result<Bytes> CacheReader::look(const Segment& segment, std::int64_t position, std::size_t size) {
  const auto number = block_of(position);
  const auto at = static_cast<std::size_t>(position % ReadCache::kBlockBytes);
  if (at + size > static_cast<std::size_t>(ReadCache::kBlockBytes)) {
    return Bytes{};
  }
  if (!stand_at(segment, number) || at + size > block_->size) {
    if (!is_near(segment, position) && !cache_.is_worth(segment, number, size)) {
      return Bytes{};
    }
    hold_.reset();
    WEIR_TRY(block_, cache_.load(segment, number));
    if (at + size > block_->size) {
      return Bytes{};
    }
  }
  segment_ = segment.id();
  end_ = position + static_cast<std::int64_t>(size);
  return Bytes{block_->bytes.get() + at, size};
}

bool CacheReader::is_checked(std::int64_t position) const {
  const auto bit = static_cast<std::size_t>(position % ReadCache::kBlockBytes) / kEntryAlignment;
  return (block_->checked[bit / 64].load(std::memory_order_relaxed) >> (bit % 64) & 1U) != 0;
}

void CacheReader::set_checked(std::int64_t position) const {
  const auto bit = static_cast<std::size_t>(position % ReadCache::kBlockBytes) / kEntryAlignment;
  block_->checked[bit / 64].fetch_or(std::uint64_t{1} << (bit % 64), std::memory_order_relaxed);
}

const std::shared_ptr<const void>& CacheReader::hold() {
  if (!hold_ && cache_.may_hold()) {
    hold_ = std::make_shared<const ReadCache::Hold>(block_);
  }
  return hold_;
}

Result<void> CacheReader::read(const Segment& segment, std::int64_t position, MutableBytes into) {
  const bool may_load = is_near(segment, position);
  segment_ = segment.id();
  end_ = position + std::ssize(into);
  WEIR_TRY(const bool is_done, copy(segment, position, into, may_load));
  if (is_done) {
    return {};
  }
  WEIR_TRY(const auto count, segment.file().read_at(position, into));  // one call, for what lies far from the rest
  if (count < into.size()) {
    return {Errc::corrupt, position};
  }
  return {};
}

Result<bool> CacheReader::copy(const Segment& segment, std::int64_t position, MutableBytes into, bool may_load) {
  while (!into.empty()) {
    const auto number = block_of(position);
    stand_at(segment, number);
    auto count = copy_from_block(position, into);
    if (count == 0) {  // no such block, or one that was read when the log ended before this
      if (!may_load) {
        return false;
      }
      hold_.reset();
      WEIR_TRY(block_, cache_.load(segment, number));
      count = copy_from_block(position, into);
    }
    if (count == 0) {
      return {Errc::corrupt, position};
    }
    position += static_cast<std::int64_t>(count);
    into = into.subspan(count);
  }
  return true;
}

std::size_t CacheReader::copy_from_block(std::int64_t position, MutableBytes into) const {
  const auto at = static_cast<std::size_t>(position % ReadCache::kBlockBytes);
  if (!block_ || at >= block_->size) {
    return 0;
  }
  const auto count = std::min(into.size(), block_->size - at);
  std::memcpy(into.data(), block_->bytes.get() + at, count);
  return count;
}

}  // namespace weir::log
