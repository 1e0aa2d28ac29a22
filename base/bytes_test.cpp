#include "base/bytes.hpp"

#include <gtest/gtest.h>

namespace weir {
namespace {

SharedBytes shared(std::string_view text) {
  return SharedBytes::copy_of(as_bytes(text));
}

BufferChain::Gathered gathered(std::initializer_list<std::string_view> texts) {
  auto all = std::make_shared<GatheredBytes>();
  for (const auto text : texts) {
    const auto bytes = shared(text);
    all->views.push_back(bytes.view());
    all->owners.push_back(bytes.owner());
    all->size_bytes += bytes.size();
  }
  return all;
}

BufferChain chain_of(std::initializer_list<BufferChain::Piece> pieces) {
  BufferChain chain;
  for (const auto& piece : pieces) {
    std::visit([&](const auto& one) { chain.append(one); }, piece);
  }
  return chain;
}

TEST(BufferChain, IsTheSameHoweverItsBytesAreCut) {
  const auto whole = chain_of({shared("abcdefgh")});
  const auto cut = chain_of({shared("a"), gathered({"bc", "def"}), gathered({"g"}), shared("h")});
  EXPECT_EQ(whole, cut);
  EXPECT_EQ(cut, whole);
  EXPECT_EQ(as_text(cut.flatten()), "abcdefgh");
  EXPECT_EQ(cut.size(), 8U);
  EXPECT_NE(whole, chain_of({shared("a"), gathered({"bc", "deX"}), gathered({"g"}), shared("h")}));
  EXPECT_NE(whole, chain_of({gathered({"abcdefg"})}));
  EXPECT_EQ(BufferChain{}, chain_of({gathered({}), shared("")}));
}

TEST(BufferChain, AFileRunIsTheSameOnlyAsItself) {
  const FileRun run{.handle = 5, .position = 10, .size = 3};
  const auto one = chain_of({gathered({"a", "b"}), run, shared("c")});
  EXPECT_EQ(one, chain_of({shared("ab"), run, gathered({"c"})}));
  EXPECT_NE(one, chain_of({shared("ab"), FileRun{.handle = 5, .position = 11, .size = 3}, shared("c")}));
  EXPECT_NE(one, chain_of({shared("abxyzc")}));
  EXPECT_FALSE(one.is_memory());
  EXPECT_TRUE(chain_of({gathered({"a", "b"})}).is_memory());
}

TEST(BufferChain, KeepsWhatWasGatheredAsLongAsACopyOfItLives) {
  const auto bytes = shared("kept");
  const std::weak_ptr<const void> owner = bytes.owner();
  BufferChain copy;
  {
    auto all = std::make_shared<GatheredBytes>();
    all->views = {bytes.view()};
    all->owners = {bytes.owner()};
    all->size_bytes = bytes.size();
    const BufferChain first = chain_of({BufferChain::Gathered{std::move(all)}});
    copy = first;
  }
  EXPECT_EQ(as_text(copy.flatten()), "kept");
  EXPECT_FALSE(owner.expired());
}

}  // namespace
}  // namespace weir
