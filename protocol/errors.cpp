#include "protocol/errors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace weir::protocol {
namespace {

struct Row {
  ErrorCode code;
  std::string_view name;  // lower case
  bool retriable;
  std::string_view text;
};

constexpr Row kRows[] = {
#define WEIR_ERROR(code, name, retriable, text) {ErrorCode::name, #name, retriable, text},
#include "protocol/errors.def"
#undef WEIR_ERROR
};
constexpr std::int16_t kFirst = -1;
constexpr std::size_t kNameMax = 64;

// Rows are dense from -1, so a code is an index.
constexpr bool rows_are_dense() {
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    if (wire(kRows[i].code) != static_cast<std::int16_t>(i) + kFirst || kRows[i].name.size() > kNameMax) {
      return false;
    }
  }
  return true;
}
static_assert(rows_are_dense());

struct UpperName {
  std::array<char, kNameMax> letters{};
  std::size_t size = 0;
};
constexpr auto kUpperNames = [] {
  std::array<UpperName, std::size(kRows)> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const char letter : kRows[i].name) {
      const bool lower = letter >= 'a' && letter <= 'z';
      names[i].letters[names[i].size++] = lower ? static_cast<char>(letter - 'a' + 'A') : letter;
    }
  }
  return names;
}();

constexpr std::size_t index_of(ErrorCode code) {
  return static_cast<std::size_t>(wire(code) - kFirst);
}

}  // namespace

std::optional<ErrorCode> error_code_from(std::int16_t value) {
  if (value < kFirst || index_of(ErrorCode{value}) >= std::size(kRows)) {
    return std::nullopt;
  }
  return ErrorCode{value};
}

std::string_view to_string(ErrorCode code) {
  const auto& name = kUpperNames.at(index_of(code));
  return {name.letters.data(), name.size};
}

std::string_view error_text(ErrorCode code) {
  return kRows[index_of(code)].text;
}

bool is_retriable(ErrorCode code) {
  return kRows[index_of(code)].retriable;
}

}  // namespace weir::protocol
