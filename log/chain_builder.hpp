// ChainBuilder: puts batches one behind the other into a chain for a reader: the smallest are copied into common
// memory, which grows with what is read, others go in as they lie. One reader, one thread.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bytes.hpp"

namespace weir::log {

// A smaller batch is copied: a piece of its own would cost more.
inline constexpr std::uint32_t kHoldFrom = 512;

class ChainBuilder {
 public:
  // Of the room, the first `head` bytes do not go into the chain.
  MutableBytes room_for(std::size_t size, std::size_t head = 0) {
    if (head > 0 || end_ + size > capacity_) {
      end_copies();
    }
    if (end_ + size > capacity_) {
      capacity_ = std::max(size, std::exchange(next_capacity_, std::min(4 * next_capacity_, kCopyChunkMax)));
      memory_ = std::make_shared_for_overwrite<std::byte[]>(capacity_);
      begin_ = end_ = 0;
    }
    begin_ += head;
    return {memory_.get() + std::exchange(end_, end_ + size), size};
  }
  // Gives back the last room as it was asked for.
  void take_back(std::size_t size, std::size_t head = 0) {
    end_ -= size;
    begin_ -= head;
  }
  void append(Bytes view, const std::shared_ptr<const void>& owner) {
    end_copies();
    gather(view, owner);
  }
  void append(FileRun run) {
    end_copies();
    end_gathered();
    chain_.append(std::move(run));
  }
  BufferChain finish() {
    end_copies();
    end_gathered();
    return std::move(chain_);
  }

 private:
  static constexpr std::size_t kCopyChunkMin = 4U << 10U;
  static constexpr std::size_t kCopyChunkMax = 256U << 10U;

  void gather(Bytes view, const std::shared_ptr<const void>& owner) {
    if (view.empty()) {
      return;
    }
    gathered_.views.push_back(view);
    gathered_.size_bytes += view.size();
    if (gathered_.owners.empty() || gathered_.owners.back() != owner) {
      gathered_.owners.push_back(owner);
    }
  }
  void end_copies() {
    if (begin_ < end_) {
      gather({memory_.get() + begin_, end_ - begin_}, memory_);
      begin_ = end_;
    }
  }
  void end_gathered() {
    if (gathered_.views.size() == 1) {
      chain_.append(SharedBytes{gathered_.views.front(), std::move(gathered_.owners.front())});
    } else if (!gathered_.views.empty()) {
      chain_.append(std::make_shared<const GatheredBytes>(std::move(gathered_)));
    }
    gathered_ = {};
  }
  BufferChain chain_;
  GatheredBytes gathered_;  // what is not in chain_ yet
  std::shared_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;  // of what is not in gathered_ yet
  std::size_t end_ = 0;
  std::size_t next_capacity_ = kCopyChunkMin;
};

}  // namespace weir::log
