#include "base/result.hpp"

#include <gtest/gtest.h>

namespace weir {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) {
    return {Errc::invalid_argument, value};
  }
  return value / 2;
}

Result<int> quarter(int value) {
  WEIR_TRY(const auto first, half(value));
  return half(first);
}

TEST(Result, TryPassesTheValueOnAndReturnsTheFirstError) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).error(), (Error{Errc::invalid_argument, 3}));
  EXPECT_EQ(quarter(5).error(), (Error{Errc::invalid_argument, 5}));
}

TEST(Result, AnErrorOfTheDiskIsToldInTheWordsOfTheSystem) {
  EXPECT_EQ(to_string(Error{Errc::disk_failed, 13}), "disk failed: Permission denied (errno 13)");
  EXPECT_EQ(to_string(Error{Errc::disk_failed, 0}), "disk failed (0)");
  EXPECT_EQ(to_string(Error{Errc::truncated, 13}), "truncated (13)");
}

TEST(Result, AnUncheckedErrorThrowsWithItsText) {
  EXPECT_THROW(static_cast<void>(half(1).value()), std::runtime_error);
}

}  // namespace
}  // namespace weir
