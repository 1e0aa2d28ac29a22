// UniqueFunction<R(Args...)>: a move-only std::function (C++23's move_only_function, which g++ 12 has only under
// C++23). Every continuation in Weir is one: it owns what it captures and runs at most once unless its owner says
// otherwise. What captures little is held in place, without memory of its own: each request makes several.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "base/check.hpp"

namespace weir {

template <class Signature>
class UniqueFunction;

template <class R, class... Args>
class UniqueFunction<R(Args...)> {
 public:
  UniqueFunction() = default;
  UniqueFunction(std::nullptr_t) {}
  template <class F>
    requires(!std::is_same_v<std::decay_t<F>, UniqueFunction> && std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
  UniqueFunction(F&& function) : kind_(&kKindOf<std::decay_t<F>>) {
    using Held = std::decay_t<F>;
    if constexpr (kFits<Held>) {
      ::new (static_cast<void*>(room_)) Held(std::forward<F>(function));
    } else {
      ::new (static_cast<void*>(room_)) Held*(new Held(std::forward<F>(function)));
    }
  }
  UniqueFunction(UniqueFunction&& other) noexcept { take(other); }
  UniqueFunction& operator=(UniqueFunction&& other) noexcept {
    if (this != &other) {
      drop();
      take(other);
    }
    return *this;
  }
  UniqueFunction(const UniqueFunction&) = delete;
  UniqueFunction& operator=(const UniqueFunction&) = delete;
  ~UniqueFunction() { drop(); }

  explicit operator bool() const { return kind_ != nullptr; }
  R operator()(Args... args) {
    WEIR_DCHECK(kind_);
    return kind_->call(room_, std::forward<Args>(args)...);
  }

 private:
  static constexpr std::size_t kRoom = 40;  // five words: a shared_ptr and three values
  template <class F>
  static constexpr bool kFits =
      sizeof(F) <= kRoom && alignof(F) <= alignof(void*) && std::is_nothrow_move_constructible_v<F>;

  // What can be done with a held function of one type.
  struct Kind {
    R (*call)(void* room, Args&&... args);
    void (*move)(void* from, void* to) noexcept;  // and ends `from`
    void (*end)(void* room) noexcept;
  };
  template <class F>
  static F& held_in(void* room) {
    if constexpr (kFits<F>) {
      return *std::launder(static_cast<F*>(room));
    } else {
      return **std::launder(static_cast<F**>(room));
    }
  }
  template <class F>
  static constexpr Kind kKindOf{
      .call = [](void* room, Args&&... args) -> R { return held_in<F>(room)(std::forward<Args>(args)...); },
      .move =
          [](void* from, void* to) noexcept {
            if constexpr (kFits<F>) {
              auto& held = held_in<F>(from);
              ::new (to) F(std::move(held));
              std::destroy_at(&held);
            } else {
              ::new (to) F*(&held_in<F>(from));
            }
          },
      .end =
          [](void* room) noexcept {
            if constexpr (kFits<F>) {
              std::destroy_at(&held_in<F>(room));
            } else {
              delete &held_in<F>(room);
            }
          }};

  void take(UniqueFunction& other) noexcept {
    kind_ = std::exchange(other.kind_, nullptr);
    if (kind_ != nullptr) {
      kind_->move(other.room_, room_);
    }
  }
  void drop() noexcept {
    if (const auto* kind = std::exchange(kind_, nullptr)) {
      kind->end(room_);
    }
  }

  const Kind* kind_ = nullptr;
  alignas(void*) std::byte room_[kRoom];
};

using Task = UniqueFunction<void()>;

}  // namespace weir
