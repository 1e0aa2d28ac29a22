// ChainBuilder: puts batches one behind the other into a chain for a reader: small ones are copied into common memory,
// which grows with what is read, larger ones go in as they are. One reader, one thread.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bytes.hpp"

namespace weir::log {

// A smaller batch is copied: it must not pin what it lies in, nor cost a piece of its own.
inline constexpr std::uint32_t kHoldFrom = 4U << 10U;

class ChainBuilder {
 public:
  MutableBytes room_for(std::size_t size) {
    if (end_ + size > capacity_) {
      flush();
      capacity_ = std::max(size, std::exchange(next_capacity_, std::min(4 * next_capacity_, kCopyChunkMax)));
      memory_ = std::make_shared_for_overwrite<std::byte[]>(capacity_);
      begin_ = end_ = 0;
    }
    return {memory_.get() + std::exchange(end_, end_ + size), size};
  }
  void take_back(std::size_t size) { end_ -= size; }
  template <class Piece>
  void append(Piece piece) {
    flush();
    chain_.append(std::move(piece));
  }
  BufferChain finish() {
    flush();
    return std::move(chain_);
  }

 private:
  static constexpr std::size_t kCopyChunkMin = 4U << 10U;
  static constexpr std::size_t kCopyChunkMax = 256U << 10U;

  void flush() {
    if (begin_ < end_) {
      chain_.append(SharedBytes{Bytes{memory_.get() + begin_, end_ - begin_}, memory_});
      begin_ = end_;
    }
  }
  BufferChain chain_;
  std::shared_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;  // of what is not in chain_ yet
  std::size_t end_ = 0;
  std::size_t next_capacity_ = kCopyChunkMin;
};

}  // namespace weir::log
