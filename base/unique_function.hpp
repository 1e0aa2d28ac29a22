// UniqueFunction<R(Args...)>: a move-only std::function (C++23's move_only_function, which g++ 12 has only under
// C++23). Every continuation in Weir is one: it owns what it captures and runs at most once unless its owner says
// otherwise.
#pragma once

#include <memory>
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
  UniqueFunction(F&& function) : callable_(std::make_unique<Holder<std::decay_t<F>>>(std::forward<F>(function))) {}

  explicit operator bool() const { return callable_ != nullptr; }
  R operator()(Args... args) {
    WEIR_DCHECK(callable_);
    return callable_->call(std::forward<Args>(args)...);
  }

 private:
  struct Callable {
    virtual ~Callable() = default;
    virtual R call(Args... args) = 0;
  };
  template <class F>
  struct Holder final : Callable {
    explicit Holder(F function) : held(std::move(function)) {}
    R call(Args... args) override { return held(std::forward<Args>(args)...); }
    F held;
  };
  std::unique_ptr<Callable> callable_;
};

using Task = UniqueFunction<void()>;

}  // namespace weir
