#include "base/bytes.hpp"

#include <cstdlib>
#include <new>

namespace weir {

AlignedBlock::AlignedBlock(std::size_t size) : size_(size) {
  constexpr std::size_t kAlignment = 4096;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, size)));
  if (!memory_) {
    throw std::bad_alloc{};
  }
  std::memset(memory_.get(), 0, size);
}

void AlignedBlock::Free::operator()(std::byte* memory) const {
  std::free(memory);
}

std::vector<std::byte> BufferChain::flatten() const {
  std::vector<std::byte> all;
  all.reserve(size_);
  for (const auto& piece : pieces_) {
    const auto* memory = std::get_if<SharedBytes>(&piece);
    WEIR_CHECK(memory != nullptr);
    all.insert(all.end(), memory->view().begin(), memory->view().end());
  }
  return all;
}

namespace {
bool same_run(const FileRun& a, const FileRun& b) {
  return a.handle == b.handle && a.position == b.position && a.size == b.size;
}
}  // namespace

bool operator==(const BufferChain& a, const BufferChain& b) {
  if (a.size() != b.size()) {
    return false;
  }
  std::size_t i = 0;
  std::size_t j = 0;
  Bytes left;
  Bytes right;
  for (;;) {
    const auto* run = left.empty() && i < a.pieces_.size() ? std::get_if<FileRun>(&a.pieces_[i]) : nullptr;
    const auto* other = right.empty() && j < b.pieces_.size() ? std::get_if<FileRun>(&b.pieces_[j]) : nullptr;
    if (run != nullptr || other != nullptr) {
      if (run == nullptr || other == nullptr || !same_run(*run, *other)) {
        return false;
      }
      ++i;
      ++j;
      continue;
    }
    if (left.empty() && i < a.pieces_.size()) {
      left = std::get<SharedBytes>(a.pieces_[i++]).view();
    }
    if (right.empty() && j < b.pieces_.size()) {
      right = std::get<SharedBytes>(b.pieces_[j++]).view();
    }
    const auto count = std::min(left.size(), right.size());
    if (count == 0) {
      return left.empty() && right.empty();
    }
    if (std::memcmp(left.data(), right.data(), count) != 0) {
      return false;
    }
    left = left.subspan(count);
    right = right.subspan(count);
  }
}

}  // namespace weir
