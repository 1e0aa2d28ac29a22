#include "base/bytes.hpp"

#include <cstdlib>

#include "base/out_of_memory.hpp"

namespace weir {

AlignedBlock::AlignedBlock(std::size_t size) : size_(size) {
  constexpr std::size_t kAlignment = 4096;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, size)));
  if (!memory_) {
    memory_ran_out();
  }
  std::memset(memory_.get(), 0, size);
}

void AlignedBlock::Free::operator()(std::byte* memory) const {
  std::free(memory);
}

std::span<const Bytes> BufferChain::views_of(const Piece& piece) {
  if (const auto* memory = std::get_if<SharedBytes>(&piece)) {
    return memory->views();
  }
  const auto* gathered = std::get_if<Gathered>(&piece);
  return gathered != nullptr ? std::span<const Bytes>{(*gathered)->views} : std::span<const Bytes>{};
}

bool BufferChain::is_memory() const {
  return std::ranges::none_of(pieces_, [](const auto& piece) { return std::holds_alternative<FileRun>(piece); });
}

std::vector<std::byte> BufferChain::flatten() const {
  WEIR_CHECK(is_memory());
  std::vector<std::byte> all;
  all.reserve(size_);
  for (const auto& piece : pieces_) {
    for (const auto view : views_of(piece)) {
      all.insert(all.end(), view.begin(), view.end());
    }
  }
  return all;
}

namespace {
bool same_run(const FileRun& a, const FileRun& b) {
  return a.handle == b.handle && a.position == b.position && a.size == b.size;
}

// Walks a chain view by view and run by run; what is taken of a view need not be all of it.
class ChainWalk {
 public:
  explicit ChainWalk(std::span<const BufferChain::Piece> pieces) : pieces_(pieces) { enter(0); }
  [[nodiscard]] const FileRun* run() const {
    return piece_ < pieces_.size() ? std::get_if<FileRun>(&pieces_[piece_]) : nullptr;
  }
  [[nodiscard]] Bytes memory() const { return views_.empty() ? Bytes{} : views_.front().subspan(taken_); }
  void take(std::size_t count) {
    taken_ += count;
    if (taken_ == views_.front().size()) {
      taken_ = 0;
      views_ = views_.subspan(1);
    }
    if (views_.empty()) {
      enter(piece_ + 1);
    }
  }
  void skip_run() { enter(piece_ + 1); }

 private:
  void enter(std::size_t piece) {
    piece_ = piece;
    views_ = piece < pieces_.size() ? BufferChain::views_of(pieces_[piece]) : std::span<const Bytes>{};
  }
  std::span<const BufferChain::Piece> pieces_;
  std::size_t piece_ = 0;
  std::span<const Bytes> views_;  // of the piece, those not taken
  std::size_t taken_ = 0;         // of the first of them
};
}  // namespace

bool operator==(const BufferChain& a, const BufferChain& b) {
  if (a.size() != b.size()) {
    return false;
  }
  ChainWalk left{a.pieces()};
  ChainWalk right{b.pieces()};
  for (;;) {
    if (left.run() != nullptr || right.run() != nullptr) {
      if (left.run() == nullptr || right.run() == nullptr || !same_run(*left.run(), *right.run())) {
        return false;
      }
      left.skip_run();
      right.skip_run();
      continue;
    }
    const auto count = std::min(left.memory().size(), right.memory().size());
    if (count == 0) {
      return left.memory().empty() && right.memory().empty();
    }
    if (std::memcmp(left.memory().data(), right.memory().data(), count) != 0) {
      return false;
    }
    left.take(count);
    right.take(count);
  }
}

}  // namespace weir
