#include "log/image.hpp"

#include <cstdlib>

#include "base/out_of_memory.hpp"

namespace weir::log {
namespace {
constexpr std::size_t kAlignment = 4096;
constexpr std::size_t kBlockSize = static_cast<std::size_t>(kImageBlockBytes);
constexpr std::int64_t kRingMin = 4;
// Beside the whole blocks of an entry: where it begins and ends, and what the writer has not yet written before it.
constexpr std::int64_t kBlocksBeside = 4;

std::int64_t block_of(LogPosition position) {
  return position.value / kImageBlockBytes;
}
std::size_t within(LogPosition position) {
  return static_cast<std::size_t>(position.value % kImageBlockBytes);
}
struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, FreeMemory>;
}  // namespace

struct Image::Block {
  Memory memory;
};

// Memory of blocks that nobody holds. Given back from whatever thread drops a block last.
struct Image::Blocks {
  std::mutex mutex;
  std::vector<Memory> free;
  std::int64_t kept_max = 0;  // while more exist, those that nobody holds go back to the system
  std::atomic<std::int64_t> existing{0};

  static std::shared_ptr<Block> take(const std::shared_ptr<Blocks>& self) {
    Memory memory;
    {
      const std::scoped_lock lock(self->mutex);
      if (!self->free.empty()) {
        memory = std::move(self->free.back());
        self->free.pop_back();
      }
    }
    if (!memory) {
      // Not touched here: the kernel gives pages as the tail fills them.
      memory.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, kBlockSize)));
      if (!memory) {
        memory_ran_out();
      }
      self->existing.fetch_add(1, std::memory_order_relaxed);
    }
    auto block = std::make_unique<Block>(Block{std::move(memory)});
    return {block.release(), [self](Block* dropped) {
              self->give_back(std::move(dropped->memory));
              delete dropped;
            }};
  }
  void give_back(Memory memory) {
    const std::scoped_lock lock(mutex);
    if (existing.load(std::memory_order_relaxed) <= kept_max) {
      free.push_back(std::move(memory));
    } else {
      existing.fetch_sub(1, std::memory_order_relaxed);
    }
  }
};

Image::Image(std::int64_t bytes, std::int64_t entry_bytes_max)
    : blocks_(std::make_shared<Blocks>()),
      ring_blocks_(std::max(kRingMin, bytes / kImageBlockBytes)),
      entry_bytes_max_(std::max(capacity() / 2, entry_bytes_max)),
      slots_(static_cast<std::size_t>(std::max(ring_blocks_, entry_bytes_max / kImageBlockBytes + kBlocksBeside))) {
  blocks_->kept_max = ring_blocks_;
}

Image::~Image() {
  for (auto& slot : slots_) {
    slot.block.reset();
  }
}

void Image::start_at(LogPosition position) {
  WEIR_CHECK(position.value % static_cast<std::int64_t>(kAlignment) == 0);
  tail_ = position;
  first_ = position;
  oldest_ = block_of(position);
  written_.store(position.value, std::memory_order_release);
  if (within(position) != 0) {
    take_block(block_of(position));
  }
}

bool Image::room_for(std::int64_t size) const {
  const auto blocks = std::clamp(size / kImageBlockBytes + kBlocksBeside, ring_blocks_, std::ssize(slots_));
  const auto last = block_of(tail_ + (size > 0 ? size - 1 : 0));
  return (last - blocks + 1) * kImageBlockBytes <= written().value;
}

void Image::put(Bytes bytes) {
  while (!bytes.empty()) {
    if (tail_block_ == nullptr) {
      take_block(block_of(tail_));
    }
    const auto at = within(tail_);
    const auto count = std::min(bytes.size(), kBlockSize - at);
    std::memcpy(tail_block_ + at, bytes.data(), count);
    bytes = bytes.subspan(count);
    tail_ += static_cast<std::int64_t>(count);
    if (at + count == kBlockSize) {
      tail_block_ = nullptr;
    }
  }
}

// Back to the free list at once, unless a reader holds it.
void Image::drop_written_below(std::int64_t number) {
  for (const auto end = std::min(number, block_of(written())); oldest_ < end; ++oldest_) {
    auto& slot = slots_[static_cast<std::size_t>(oldest_) % slots_.size()];
    std::shared_ptr<Block> old;
    const std::scoped_lock lock(slot.mutex);
    if (slot.number == oldest_) {
      old = std::move(slot.block);
      slot.number = -1;
    }
  }
}

void Image::take_block(std::int64_t number) {
  drop_written_below(number - ring_blocks_ + 1);
  WEIR_CHECK(number - oldest_ < std::ssize(slots_));  // else bytes that are in no file would be replaced
  auto& slot = slots_[static_cast<std::size_t>(number) % slots_.size()];
  auto fresh = Blocks::take(blocks_);
  tail_block_ = fresh->memory.get();
  const std::scoped_lock lock(slot.mutex);
  slot.block = std::move(fresh);
  slot.number = number;
}

std::shared_ptr<Image::Block> Image::find(std::int64_t number) const {
  const auto& slot = slots_[static_cast<std::size_t>(number) % slots_.size()];
  const std::scoped_lock lock(slot.mutex);
  return slot.number == number ? slot.block : nullptr;
}

std::int64_t Image::memory_bytes() const {
  return blocks_->existing.load(std::memory_order_relaxed) * kImageBlockBytes;
}

bool ImageReader::seek(std::int64_t number) {
  if (number != number_) {
    block_ = number >= 0 ? image_.find(number) : nullptr;
    number_ = number;
  }
  return block_ != nullptr;
}

bool ImageReader::copy(LogPosition position, MutableBytes into) {
  if (position < image_.first_) {
    return false;
  }
  while (!into.empty()) {
    if (!seek(block_of(position))) {
      return false;
    }
    const auto at = within(position);
    const auto count = std::min(into.size(), kBlockSize - at);
    std::memcpy(into.data(), block_->memory.get() + at, count);
    into = into.subspan(count);
    position += static_cast<std::int64_t>(count);
  }
  return true;
}

bool ImageReader::hold(LogPosition position, std::size_t size, std::vector<SharedBytes>& into) {
  if (position < image_.first_) {
    return false;
  }
  const auto before = into.size();
  while (size > 0) {
    if (!seek(block_of(position))) {
      into.resize(before);
      return false;
    }
    const auto at = within(position);
    const auto count = std::min(size, kBlockSize - at);
    into.emplace_back(Bytes{block_->memory.get() + at, count}, block_);
    size -= count;
    position += static_cast<std::int64_t>(count);
  }
  return true;
}

}  // namespace weir::log
