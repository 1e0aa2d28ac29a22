#include "base/unique_function.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace weir {
namespace {

// Counts how many of it exist: each that was made must end once, wherever it was held and moved.
class Counted {
 public:
  explicit Counted(int& alive) : alive_(&alive) { ++*alive_; }
  Counted(Counted&& other) noexcept : alive_(other.alive_) { ++*alive_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  Counted& operator=(Counted&&) = delete;
  ~Counted() { --*alive_; }

 private:
  int* alive_;
};

template <std::size_t kBytes>
UniqueFunction<int(int)> make_with(int& alive) {
  return [counted = Counted{alive}, ballast = std::array<char, kBytes>{}, added = std::make_unique<int>(3)](int value) {
    static_cast<void>(ballast);
    return value + *added;
  };
}

template <std::size_t kBytes>
void expect_it_ends_once() {
  int alive = 0;
  {
    auto first = make_with<kBytes>(alive);
    EXPECT_EQ(alive, 1);
    auto second = std::move(first);
    EXPECT_FALSE(static_cast<bool>(first));
    EXPECT_EQ(second(4), 7);
    EXPECT_EQ(second(5), 8) << "as often as its owner likes";
    std::vector<UniqueFunction<int(int)>> grown;
    for (int i = 0; i < 20; ++i) {
      grown.push_back(make_with<kBytes>(alive));
    }
    EXPECT_EQ(alive, 21);
    EXPECT_EQ(grown.front()(1), 4);
    grown.front() = std::move(second);
    EXPECT_EQ(alive, 20) << "what an assignment replaces has ended";
    grown.back() = nullptr;
    EXPECT_EQ(alive, 19);
  }
  EXPECT_EQ(alive, 0);
}

TEST(UniqueFunction, WhatItHoldsInPlaceEndsOnceHoweverOftenItMoved) {
  expect_it_ends_once<1>();
}

TEST(UniqueFunction, WhatIsTooLargeForItsPlaceEndsOnceHoweverOftenItMoved) {
  expect_it_ends_once<200>();
}

TEST(UniqueFunction, AnotherOneIsAFunctionLikeAnyOther) {
  int alive = 0;
  {
    UniqueFunction<int(int)> outer = [inner = make_with<1>(alive)](int value) mutable { return inner(value) * 2; };
    auto moved = std::move(outer);
    EXPECT_EQ(moved(1), 8);
  }
  EXPECT_EQ(alive, 0);
}

TEST(UniqueFunction, ArgumentsPassWithoutACopy) {
  UniqueFunction<std::unique_ptr<int>(std::unique_ptr<int>)> pass = [](std::unique_ptr<int> value) { return value; };
  EXPECT_EQ(*pass(std::make_unique<int>(5)), 5);
  int changed = 0;
  UniqueFunction<void(int&)> change = [](int& value) { value = 9; };
  change(changed);
  EXPECT_EQ(changed, 9);
}

}  // namespace
}  // namespace weir
