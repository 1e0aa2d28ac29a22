// PerLoop<T>: one T for each io loop, found by its loop. A T is made from its loop and stays where it is; who may touch
// it, and on which thread, T says itself.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/check.hpp"
#include "base/executor.hpp"

namespace weir::broker {

template <class T>
class PerLoop {
 public:
  explicit PerLoop(const std::vector<IoLoop*>& loops) {
    for (auto* loop : loops) {
      all_.push_back({loop, std::make_unique<T>(*loop)});
    }
  }
  // A loop that it was made with; any thread. There are few loops: looking through them is as fast as anything.
  [[nodiscard]] T& of(const IoLoop& loop) const {
    const auto found = std::ranges::find(all_, &loop, &One::loop);
    WEIR_CHECK(found != all_.end());
    return *found->state;
  }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  template <class F>
  void for_each(F&& each) const {
    for (const auto& one : all_) {
      each(*one.state);
    }
  }

 private:
  struct One {
    const IoLoop* loop;
    std::unique_ptr<T> state;
  };
  std::vector<One> all_;
};

}  // namespace weir::broker
