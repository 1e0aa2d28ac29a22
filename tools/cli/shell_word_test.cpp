#include "tools/cli/shell_word.hpp"

#include <gtest/gtest.h>

namespace weir::cli {
namespace {

TEST(ShellWord, QuotesOnlyWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_word("build/release/weir"), "build/release/weir");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("my weir"), "'my weir'");
  EXPECT_EQ(shell_word("$HOME;x"), "'$HOME;x'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace weir::cli
