#include "base/properties.hpp"

#include <gtest/gtest.h>

namespace weir {
namespace {

std::pair<std::string, std::string> only(std::string_view text) {
  const auto parsed = parse_properties(text);
  EXPECT_TRUE(parsed && parsed->size() == 1) << text;
  return parsed && parsed->size() == 1 ? std::pair{(*parsed)[0].name, (*parsed)[0].value}
                                       : std::pair<std::string, std::string>{};
}
using Pair = std::pair<std::string, std::string>;

TEST(Properties, AnyOfThreeSeparatorsEndsTheName) {
  for (const auto* text : {"a=b", "a:b", "a b", "a = b", "a : b", "  a\t=\tb", "a=b\n", "a=b\r\n", "a   b"}) {
    EXPECT_EQ(only(text), (Pair{"a", "b"})) << text;
  }
  EXPECT_EQ(only("a==b"), (Pair{"a", "=b"}));
  EXPECT_EQ(only("a b=c"), (Pair{"a", "b=c"}));
  EXPECT_EQ(only("a"), (Pair{"a", ""}));
  EXPECT_EQ(only("listeners=PLAINTEXT://:9092"), (Pair{"listeners", "PLAINTEXT://:9092"}));
  EXPECT_EQ(only("a=b  "), (Pair{"a", "b  "})) << "white space at the end is part of the value, as in Java";
}

TEST(Properties, CommentsAndEmptyLinesAreSkippedAndLinesCounted) {
  const auto parsed = parse_properties("# one\n\n   ! two\na=1\r\n\r\nb=2").value();
  EXPECT_EQ(parsed, (std::vector<Property>{{"a", "1", 4}, {"b", "2", 6}}));
}

TEST(Properties, ABackslashAtTheEndJoinsTheNextLine) {
  EXPECT_EQ(only("a=1,\\\n   2,\\\r\n 3"), (Pair{"a", "1,2,3"}));
  EXPECT_EQ(only("a=x\\"), (Pair{"a", "x"}));
  EXPECT_EQ(parse_properties("a=x\\\\\nb=y").value().size(), 2U) << "an escaped backslash joins nothing";
  EXPECT_EQ(only("a=1\\\n#2"), (Pair{"a", "1#2"})) << "a joined line is no comment";
}

TEST(Properties, EscapesAreUndoneInNamesAndValues) {
  EXPECT_EQ(only("a\\ b\\=c=d"), (Pair{"a b=c", "d"}));
  EXPECT_EQ(only("a=\\t\\n\\r\\f\\q\\\\"), (Pair{"a", "\t\n\r\fq\\"}));
  EXPECT_EQ(only("a=\\u00e9\\u20AC"), (Pair{"a", "é€"}));
  EXPECT_EQ(only("a=\\ud83d\\ude00"), (Pair{"a", "😀"}));
}

TEST(Properties, ABrokenEscapeNamesItsLine) {
  EXPECT_EQ(parse_properties("a=1\nb=\\u12g4").error(), (Error{Errc::corrupt, 2}));
  EXPECT_EQ(parse_properties("a=\\u12").error(), (Error{Errc::corrupt, 1}));
  EXPECT_EQ(parse_properties("a=\\ud83d").error(), (Error{Errc::corrupt, 1}));
}

}  // namespace
}  // namespace weir
