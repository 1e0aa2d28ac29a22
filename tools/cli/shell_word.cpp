#include "tools/cli/shell_word.hpp"

#include <algorithm>

namespace weir::cli {

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "_-./:,@%+=";
  const bool is_plain = !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kPlain.find(c) != kPlain.npos;
  });
  if (is_plain) {
    return std::string{text};
  }
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string{"'\\''"} : std::string{c};
  }
  return quoted + "'";
}

}  // namespace weir::cli
