#include "log/image.hpp"

#include <cstdlib>

#include "base/out_of_memory.hpp"

namespace weir::log {
namespace {
constexpr std::size_t kAlignment = 4096;
constexpr std::size_t kBlockSize = static_cast<std::size_t>(kImageBlockBytes);

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
  std::size_t kept_max = 0;
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
    if (free.size() < kept_max) {
      free.push_back(std::move(memory));
    } else {
      existing.fetch_sub(1, std::memory_order_relaxed);
    }
  }
};

Image::Image(std::int64_t bytes)
    : blocks_(std::make_shared<Blocks>()),
      slots_(static_cast<std::size_t>(std::max<std::int64_t>(4, bytes / kImageBlockBytes))) {
  blocks_->kept_max = slots_.size();
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
  written_.store(position.value, std::memory_order_release);
  if (within(position) != 0) {
    take_block(block_of(position));
  }
}

bool Image::room_for(std::int64_t size) const {
  const auto last = block_of(tail_ + (size > 0 ? size - 1 : 0));
  const auto replaced = last - static_cast<std::int64_t>(slots_.size());
  return (replaced + 1) * kImageBlockBytes <= written().value;
}

void Image::put(Bytes bytes) {
  WEIR_DCHECK(room_for(std::ssize(bytes)));
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

void Image::take_block(std::int64_t number) {
  auto& slot = slots_[static_cast<std::size_t>(number) % slots_.size()];
  std::shared_ptr<Block> old;
  {
    const std::scoped_lock lock(slot.mutex);
    old = std::move(slot.block);
    slot.number = -1;
  }
  old.reset();  // back to the free list at once, unless a reader holds it
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
