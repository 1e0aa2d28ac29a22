#include "base/ids.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace weir {
namespace {

TEST(Uuid, TextIsKafkasFormAndComesBackEqual) {
  EXPECT_EQ(to_string(Uuid{}), "AAAAAAAAAAAAAAAAAAAAAA");
  Random random{7};
  for (int i = 0; i < 1000; ++i) {
    const auto id = random.uuid();
    EXPECT_EQ(uuid_from_string(to_string(id)), id);
  }
}

TEST(Uuid, MalformedTextIsRefused) {
  EXPECT_FALSE(uuid_from_string("AAAAAAAAAAAAAAAAAAAAA"));
  EXPECT_FALSE(uuid_from_string("AAAAAAAAAAAAAAAAAAAAA="));
}

TEST(Offset, DifferenceIsACountAndTypesDoNotMix) {
  static_assert(!std::is_convertible_v<Offset, LogPosition>);
  EXPECT_EQ(Offset{10} - Offset{4}, 6);
  EXPECT_EQ((Offset{10} + 2).value, 12);
}

}  // namespace
}  // namespace weir
