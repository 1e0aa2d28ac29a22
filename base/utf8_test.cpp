#include "base/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weir {
namespace {

TEST(Utf8, LengthIsInUtf16UnitsAsJavaCounts) {
  EXPECT_EQ(utf16_length(""), 0U);
  EXPECT_EQ(utf16_length("plain"), 5U);
  EXPECT_EQ(utf16_length("\xc3\xbc"), 1U) << "two bytes";
  EXPECT_EQ(utf16_length("\xe2\x82\xac"), 1U) << "three bytes";
  EXPECT_EQ(utf16_length("\xf0\x9f\x98\x80"), 2U) << "four bytes are a surrogate pair";
  EXPECT_EQ(utf16_length(std::string("a\0b", 3)), 3U);
}

TEST(Utf8, MalformedBytesCountOneEachAndNeverReachBeyondTheEnd) {
  EXPECT_EQ(utf16_length("\xff"), 1U);
  EXPECT_EQ(utf16_length("\xc3"), 1U) << "cut";
  EXPECT_EQ(utf16_length("\xf0\x9f\x98"), 3U) << "cut";
  EXPECT_EQ(utf16_length("\xc0\x80"), 2U) << "overlong";
  EXPECT_EQ(utf16_length("\xed\xa0\x80"), 3U) << "a surrogate";
  EXPECT_EQ(utf16_length("\xf4\x90\x80\x80"), 4U) << "beyond U+10FFFF";
}

TEST(Utf8, CodePointsAtTheEdgesOfEachSize) {
  EXPECT_EQ(next_code_point("\x7f").value, 0x7fU);
  EXPECT_EQ(next_code_point("\xc2\x80").value, 0x80U);
  EXPECT_EQ(next_code_point("\xdf\xbf").value, 0x7ffU);
  EXPECT_EQ(next_code_point("\xe0\xa0\x80").value, 0x800U);
  EXPECT_EQ(next_code_point("\xef\xbf\xbf").value, 0xffffU);
  EXPECT_EQ(next_code_point("\xf0\x90\x80\x80").value, 0x10000U);
  EXPECT_EQ(next_code_point("\xf4\x8f\xbf\xbf").value, 0x10ffffU);
  EXPECT_EQ(next_code_point("\xf4\x8f\xbf\xbf").size, 4U);
}

}  // namespace
}  // namespace weir
