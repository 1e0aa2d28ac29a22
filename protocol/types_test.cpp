#include "protocol/types.hpp"

#include <gtest/gtest.h>

#include <unordered_set>

namespace weir::protocol {
namespace {

TEST(Text, BorrowsWhenToldAndCopyingMakesAnOwnedOne) {
  std::string frame = "orders";
  const auto borrowed = Text::borrow(frame);
  const Text copy = borrowed;
  EXPECT_TRUE(borrowed.is_borrowed());
  EXPECT_FALSE(copy.is_borrowed());
  frame = "XXXXXX";
  EXPECT_EQ(borrowed, "XXXXXX");
  EXPECT_EQ(copy, "orders");
}

TEST(Text, MovingKeepsWhatItWasAndLeavesAnEmptyOne) {
  const std::string frame = "orders";
  auto borrowed = Text::borrow(frame);
  const Text moved = std::move(borrowed);
  EXPECT_TRUE(moved.is_borrowed());
  EXPECT_EQ(moved.data(), frame.data());
  EXPECT_TRUE(borrowed.empty());  // NOLINT(bugprone-use-after-move): the state after a move is what is tested

  Text owned{"payments"};
  const auto* memory = owned.data();
  const Text taken = std::move(owned);
  EXPECT_EQ(taken.data(), memory);
}

TEST(Text, AssigningItselfOrAPartOfItselfIsSafe) {
  Text text{"a longer name"};
  const auto& alias = text;
  text = alias;
  EXPECT_EQ(text, "a longer name");
  text = text.view().substr(2);
  EXPECT_EQ(text, "longer name");
}

TEST(Text, ComparesHashesAndConvertsAsAString) {
  const Text text = std::string("b");
  EXPECT_EQ(text, Text{"b"});
  EXPECT_NE(text, "c");
  EXPECT_LT(Text{"a"}, text);
  EXPECT_LT(text, Text{"ba"});
  EXPECT_EQ(text.str(), "b");
  EXPECT_EQ(std::string_view(text), "b");
  const std::unordered_set<Text> set{Text{"b"}};
  EXPECT_TRUE(set.contains(text));
  EXPECT_EQ(Text{}, "");
}

TEST(Blob, OwnsACopyOfBytesAndComparesThem) {
  std::vector<std::byte> bytes(3, std::byte{7});
  const Blob blob{Bytes{bytes}};
  const auto borrowed = Blob::borrow(bytes);
  EXPECT_EQ(blob, borrowed);
  bytes[1] = std::byte{8};
  EXPECT_NE(blob, borrowed);
  EXPECT_EQ(blob.size(), 3U);
}

}  // namespace
}  // namespace weir::protocol
