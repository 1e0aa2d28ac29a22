#include "log/read_cache.hpp"

namespace weir::log {
namespace {
// From here on reading what lies between two batches costs more than a call for each of them.
constexpr std::int64_t kGapMax = 16LL << 10;

std::int64_t block_of(std::int64_t position) {
  return position / ReadCache::kBlockBytes;
}
}  // namespace

ReadCache::Slot* ReadCache::slot_of(const Segment& segment, std::int64_t number) {
  const auto in_log = block_of(segment.start().value) + number;
  return slots_.empty() ? nullptr : &slots_[static_cast<std::size_t>(in_log) % slots_.size()];
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
  Block block{segment.id(), number, 0, std::make_unique_for_overwrite<std::byte[]>(kBlockBytes)};
  const auto wanted = static_cast<std::size_t>(std::min(kBlockBytes, written));
  WEIR_TRY(block.size, segment.file().read_at(from, MutableBytes{block.bytes.get(), wanted}));
  BlockPointer kept = std::make_shared<const Block>(std::move(block));
  if (auto* slot = slot_of(segment, number)) {
    auto displaced = kept;
    {
      const std::scoped_lock lock(slot->mutex);
      std::swap(slot->block, displaced);
    }
    if (!displaced) {
      blocks_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  return kept;
}

Result<void> CacheReader::read(const Segment& segment, std::int64_t position, MutableBytes head, MutableBytes into) {
  const bool is_near = segment_ == segment.id() && position >= end_ && position - end_ <= kGapMax;
  const auto behind_head = position + std::ssize(head);
  segment_ = segment.id();
  end_ = behind_head + std::ssize(into);
  WEIR_TRY(bool is_done, copy(segment, position, head, is_near));
  if (is_done) {
    WEIR_TRY(is_done, copy(segment, behind_head, into, is_near));
  }
  if (is_done) {
    return {};
  }
  std::vector<std::byte> alone(head.size() + into.size());  // one call, for what lies far from the rest
  WEIR_TRY(const auto count, segment.file().read_at(position, alone));
  if (count < alone.size()) {
    return {Errc::corrupt, position};
  }
  const Bytes bytes{alone};
  std::ranges::copy(bytes.first(head.size()), head.begin());
  std::ranges::copy(bytes.subspan(head.size()), into.begin());
  return {};
}

Result<bool> CacheReader::copy(const Segment& segment, std::int64_t position, MutableBytes into, bool may_load) {
  while (!into.empty()) {
    const auto number = block_of(position);
    if (!block_ || block_->segment != segment.id() || block_->number != number) {
      block_ = cache_.find(segment, number);
    }
    auto count = copy_from_block(position, into);
    if (count == 0) {  // no such block, or one that was read when the log ended before this
      if (!may_load) {
        return false;
      }
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
