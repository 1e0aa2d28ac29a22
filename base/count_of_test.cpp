#include "base/count_of.hpp"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(CountOf, OneOfThemIsNotSeveral) {
  EXPECT_EQ(count_of(0, "record"), "0 records");
  EXPECT_EQ(count_of(1, "record"), "1 record");
  EXPECT_EQ(count_of(2, "record"), "2 records");
  EXPECT_EQ(count_of(1, "batch", "batches"), "1 batch");
  EXPECT_EQ(count_of(-1, "batch", "batches"), "-1 batches");
}

}  // namespace
}  // namespace weir
