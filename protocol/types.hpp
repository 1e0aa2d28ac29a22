// What the fields of generated messages are made of: Text and Blob, unknown tagged fields, and the "never" version.
// A message belongs to one request or to one state object; it has no locks and may be moved between threads.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/check.hpp"

namespace weir::protocol {

// Borrows or owns a run of characters or bytes, in 16 bytes. Decoding a frame makes borrowed ones, which are valid as
// long as the frame. Moving keeps what it was; copying always makes an owned deep copy, so that state that outlives
// the frame cannot dangle by accident. Values made from strings own.
template <class View>
class MaybeOwned {
 public:
  using Unit = std::remove_cv_t<typename View::value_type>;

  MaybeOwned() noexcept = default;
  MaybeOwned(View view) { copy_from(view); }
  template <class Other>
    requires(std::convertible_to<const Other&, View> && !std::same_as<Other, MaybeOwned> && !std::same_as<Other, View>)
  MaybeOwned(const Other& other) : MaybeOwned(View(other)) {}
  static MaybeOwned borrow(View view) {
    MaybeOwned made;
    made.set(view.data(), view.size(), false);
    return made;
  }

  MaybeOwned(const MaybeOwned& other) { copy_from(other.view()); }
  MaybeOwned(MaybeOwned&& other) noexcept { take(other); }
  MaybeOwned& operator=(const MaybeOwned& other) {
    if (this != &other) {
      MaybeOwned copy(other);
      release();
      take(copy);
    }
    return *this;
  }
  MaybeOwned& operator=(MaybeOwned&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~MaybeOwned() { release(); }

  [[nodiscard]] View view() const noexcept { return View(data_, size_); }
  operator View() const noexcept { return view(); }
  [[nodiscard]] const Unit* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] bool is_borrowed() const noexcept { return !owned_ && size_ > 0; }
  [[nodiscard]] std::string str() const
    requires std::same_as<View, std::string_view>
  {
    return std::string(view());
  }

  friend bool operator==(const MaybeOwned& a, const MaybeOwned& b) noexcept { return same(a.view(), b.view()); }
  template <class Other>
    requires(std::convertible_to<const Other&, View> && !std::same_as<Other, MaybeOwned>)
  friend bool operator==(const MaybeOwned& a, const Other& b) noexcept {
    return same(a.view(), View(b));
  }
  friend std::strong_ordering operator<=>(const MaybeOwned& a, const MaybeOwned& b) noexcept {
    return std::lexicographical_compare_three_way(a.data_, a.data_ + a.size_, b.data_, b.data_ + b.size_);
  }
  template <class Stream>
    requires std::same_as<View, std::string_view>
  friend Stream& operator<<(Stream& stream, const MaybeOwned& text) {
    stream << text.view();
    return stream;
  }

 private:
  static bool same(View a, View b) noexcept {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
  }
  void set(const Unit* data, std::size_t size, bool owned) {
    WEIR_CHECK(size <= std::numeric_limits<std::uint32_t>::max());
    data_ = data;
    size_ = static_cast<std::uint32_t>(size);
    owned_ = owned;
  }
  void copy_from(View view) {
    if (view.empty()) {
      return;
    }
    auto memory = std::make_unique_for_overwrite<Unit[]>(view.size());
    std::memcpy(memory.get(), view.data(), view.size());
    set(memory.release(), view.size(), true);
  }
  void take(MaybeOwned& other) noexcept {
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0U);
    owned_ = std::exchange(other.owned_, false);
  }
  void release() noexcept {
    if (owned_) {
      delete[] data_;
    }
  }

  const Unit* data_ = nullptr;
  std::uint32_t size_ = 0;
  bool owned_ = false;
};

using Text = MaybeOwned<std::string_view>;
using Blob = MaybeOwned<Bytes>;
static_assert(sizeof(Text) == 16 && sizeof(Blob) == 16);

// A tagged field that this build does not know. Kept, so that a decoded message encodes to the same bytes.
struct UnknownTag {
  std::uint32_t tag = 0;
  Blob payload;
  friend bool operator==(const UnknownTag&, const UnknownTag&) = default;
};

// The kFlexibleFrom of messages that have no flexible version.
inline constexpr std::int16_t kNeverFlexible = std::numeric_limits<std::int16_t>::max();

template <class M>
constexpr bool has_version(std::int16_t version) {
  return version >= M::kMinVersion && version <= M::kMaxVersion;
}

}  // namespace weir::protocol

template <class View>
struct std::hash<weir::protocol::MaybeOwned<View>> {
  std::size_t operator()(const weir::protocol::MaybeOwned<View>& value) const noexcept {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(value.data()), value.size()});
  }
};
