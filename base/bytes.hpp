// Bytes: a borrowed view. SharedBytes: a view that keeps its memory alive. BufferChain: what one gathered write sends.
// Big-endian loads and stores for the wire, little-endian for our own files.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.hpp"

namespace weir {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

inline Bytes as_bytes(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The other byte order (C++23's std::byteswap).
template <class Int>
constexpr Int swap_bytes(Int value) {
  if constexpr (sizeof(Int) == 2) {
    return static_cast<Int>(__builtin_bswap16(static_cast<std::uint16_t>(value)));
  } else if constexpr (sizeof(Int) == 4) {
    return static_cast<Int>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
  } else if constexpr (sizeof(Int) == 8) {
    return static_cast<Int>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
  } else {
    static_assert(sizeof(Int) == 1);
    return value;
  }
}

// Integers at a position of a buffer. The caller has checked the bounds: a short buffer is a bug of ours.
template <class Int>
Int load_be(Bytes bytes, std::size_t at) {
  static_assert(std::endian::native == std::endian::little);
  WEIR_DCHECK(at + sizeof(Int) <= bytes.size());
  Int value;
  std::memcpy(&value, bytes.data() + at, sizeof(Int));
  return swap_bytes(value);
}
template <class Int>
void store_be(MutableBytes bytes, std::size_t at, Int value) {
  static_assert(std::endian::native == std::endian::little);
  WEIR_DCHECK(at + sizeof(Int) <= bytes.size());
  const auto swapped = swap_bytes(value);
  std::memcpy(bytes.data() + at, &swapped, sizeof(Int));
}
template <class Int>
Int load_le(Bytes bytes, std::size_t at) {
  static_assert(std::endian::native == std::endian::little);
  WEIR_DCHECK(at + sizeof(Int) <= bytes.size());
  Int value;
  std::memcpy(&value, bytes.data() + at, sizeof(Int));
  return value;
}
template <class Int>
void store_le(MutableBytes bytes, std::size_t at, Int value) {
  static_assert(std::endian::native == std::endian::little);
  WEIR_DCHECK(at + sizeof(Int) <= bytes.size());
  std::memcpy(bytes.data() + at, &value, sizeof(Int));
}

// Zeroed memory at an address that O_DIRECT takes (a multiple of 4096). Empty by default. Moves.
class AlignedBlock {
 public:
  AlignedBlock() = default;
  explicit AlignedBlock(std::size_t size);  // a multiple of 4096
  [[nodiscard]] MutableBytes bytes() const { return {memory_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t size_ = 0;
};

// A view and a counted reference to whatever owns its memory (a frame, an image block, a mapped file). Any thread.
class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(Bytes view, std::shared_ptr<const void> owner) : view_(view), owner_(std::move(owner)) {}
  static SharedBytes copy_of(Bytes bytes) {
    auto owned = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
    return {Bytes{*owned}, owned};
  }
  static SharedBytes adopt(std::vector<std::byte> bytes) {
    auto owned = std::make_shared<std::vector<std::byte>>(std::move(bytes));
    return {Bytes{*owned}, owned};
  }
  [[nodiscard]] Bytes view() const { return view_; }
  [[nodiscard]] std::size_t size() const { return view_.size(); }
  [[nodiscard]] bool empty() const { return view_.empty(); }
  [[nodiscard]] SharedBytes part(std::size_t from, std::size_t count) const {
    return {view_.subspan(from, count), owner_};
  }
  [[nodiscard]] const std::shared_ptr<const void>& owner() const { return owner_; }
  [[nodiscard]] std::span<const Bytes> views() const { return {&view_, 1}; }

 private:
  Bytes view_;
  std::shared_ptr<const void> owner_;
};

// A run of a file that a stream may send without copying (sendfile). `handle` is an open descriptor, kept alive by
// `owner`.
struct FileRun {
  int handle = -1;
  std::int64_t position = 0;
  std::size_t size = 0;
  std::shared_ptr<const void> owner;
};

// Many small views in sending order as one piece, so that a chain of them costs one count and no move for each.
struct GatheredBytes {
  std::vector<Bytes> views;  // none is empty
  std::vector<std::shared_ptr<const void>> owners;
  std::size_t size_bytes = 0;  // of all views
};

// Pieces of memory and of files in sending order. Moves cheaply; a copy shares the owners.
class BufferChain {
 public:
  using Gathered = std::shared_ptr<const GatheredBytes>;
  using Piece = std::variant<SharedBytes, FileRun, Gathered>;
  // The memory of a piece in sending order; nothing of a file run.
  static std::span<const Bytes> views_of(const Piece& piece);
  BufferChain() = default;
  explicit BufferChain(SharedBytes bytes) { append(std::move(bytes)); }
  void append(SharedBytes bytes) {
    if (bytes.empty()) {
      return;
    }
    size_ += bytes.size();
    pieces_.emplace_back(std::move(bytes));
  }
  void append(FileRun run) {
    if (run.size == 0) {
      return;
    }
    size_ += run.size;
    pieces_.emplace_back(std::move(run));
  }
  void append(Gathered gathered) {
    if (gathered->size_bytes == 0) {
      return;
    }
    size_ += gathered->size_bytes;
    pieces_.emplace_back(std::move(gathered));
  }
  void append(BufferChain other) {
    if (empty()) {
      *this = std::move(other);
      return;
    }
    size_ += other.size_;
    for (auto& piece : other.pieces_) {
      pieces_.push_back(std::move(piece));
    }
  }
  [[nodiscard]] std::span<const Piece> pieces() const { return pieces_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool is_memory() const;  // no file run is in it
  // All bytes in one buffer. Only for chains of memory (tests, clients, small answers): a FileRun is a bug here.
  [[nodiscard]] std::vector<std::byte> flatten() const;
  // The same bytes, however they are cut into pieces; a FileRun equals only a run of the same place of the same handle.
  friend bool operator==(const BufferChain& a, const BufferChain& b);

 private:
  std::vector<Piece> pieces_;
  std::size_t size_ = 0;
};

}  // namespace weir
