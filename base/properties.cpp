#include "base/properties.hpp"

#include <cstdint>

namespace weir {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\f';
}
bool is_separator(char c) {
  return c == '=' || c == ':';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // False at the end. Comments and empty lines are skipped; joined lines come as one.
  bool next(std::string& line, int& number) {
    while (at_ < text_.size()) {
      line.clear();
      number = line_ + 1;
      auto part = natural_line();
      if (part.empty() || part.front() == '#' || part.front() == '!') {
        continue;
      }
      while (joins_next(part)) {
        line += part.substr(0, part.size() - 1);
        part = natural_line();  // empty at the end of the text
      }
      line += part;
      return true;
    }
    return false;
  }

 private:
  // Without its end and its leading white space.
  std::string_view natural_line() {
    const auto rest = text_.substr(at_);
    const auto end = std::min(rest.find_first_of("\r\n"), rest.size());
    at_ += end;
    if (at_ < text_.size()) {
      at_ += text_.substr(at_, 2) == "\r\n" ? 2U : 1U;
    }
    ++line_;
    auto line = rest.substr(0, end);
    while (!line.empty() && is_space(line.front())) {
      line.remove_prefix(1);
    }
    return line;
  }

  static bool joins_next(std::string_view line) {
    const auto last_other = line.find_last_not_of('\\');
    const auto backslashes = line.size() - (last_other == std::string_view::npos ? 0 : last_other + 1);
    return backslashes % 2 == 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 0;
};

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { out.push_back(static_cast<char>(static_cast<unsigned char>(value))); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0U | (code >> 6U));
    byte(0x80U | (code & 0x3fU));
  } else if (code < 0x10000) {
    byte(0xe0U | (code >> 12U));
    byte(0x80U | ((code >> 6U) & 0x3fU));
    byte(0x80U | (code & 0x3fU));
  } else {
    byte(0xf0U | (code >> 18U));
    byte(0x80U | ((code >> 12U) & 0x3fU));
    byte(0x80U | ((code >> 6U) & 0x3fU));
    byte(0x80U | (code & 0x3fU));
  }
}

bool is_high_surrogate(std::uint32_t code) {
  return code >= 0xd800 && code < 0xdc00;
}
bool is_low_surrogate(std::uint32_t code) {
  return code >= 0xdc00 && code < 0xe000;
}

std::optional<std::uint32_t> hex4(std::string_view text) {
  if (text.size() < 4) {
    return std::nullopt;
  }
  std::uint32_t value = 0;
  for (const char c : text.substr(0, 4)) {
    const auto digit = std::string_view{"0123456789abcdef"}.find(static_cast<char>(c >= 'A' && c <= 'F' ? c + 32 : c));
    if (digit == std::string_view::npos) {
      return std::nullopt;
    }
    value = value * 16 + static_cast<std::uint32_t>(digit);
  }
  return value;
}

std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || ++at == text.size()) {
      if (at < text.size()) {
        out.push_back(text[at]);
      }
      continue;
    }
    switch (text[at]) {
      case 't': out.push_back('\t'); break;
      case 'n': out.push_back('\n'); break;
      case 'r': out.push_back('\r'); break;
      case 'f': out.push_back('\f'); break;
      case 'u': {
        auto code = hex4(text.substr(at + 1));
        if (!code) {
          return std::nullopt;
        }
        at += 4;
        if (is_high_surrogate(*code) && text.substr(at + 1, 2) == "\\u") {
          if (const auto low = hex4(text.substr(at + 3)); low && is_low_surrogate(*low)) {
            code = 0x10000 + ((*code - 0xd800) << 10U) + (*low - 0xdc00);
            at += 6;
          }
        }
        if (is_high_surrogate(*code) || is_low_surrogate(*code)) {
          return std::nullopt;  // half a pair has no UTF-8
        }
        append_utf8(out, *code);
        break;
      }
      default: out.push_back(text[at]);
    }
  }
  return out;
}

}  // namespace

Result<std::vector<Property>> parse_properties(std::string_view text) {
  std::vector<Property> all;
  Reader reader{text};
  std::string line;
  int number = 0;
  while (reader.next(line, number)) {
    const std::string_view whole{line};
    std::size_t end = 0;
    while (end < whole.size() && !is_space(whole[end]) && !is_separator(whole[end])) {
      end += whole[end] == '\\' ? 2U : 1U;  // an escaped separator belongs to the name
    }
    end = std::min(end, whole.size());
    auto value = end;
    while (value < whole.size() && is_space(whole[value])) {
      ++value;
    }
    if (value < whole.size() && is_separator(whole[value])) {
      ++value;
      while (value < whole.size() && is_space(whole[value])) {
        ++value;
      }
    }
    auto name_text = unescape(whole.substr(0, end));
    auto value_text = unescape(whole.substr(value));
    if (!name_text || !value_text) {
      return Error{Errc::corrupt, number};
    }
    all.push_back({.name = std::move(*name_text), .value = std::move(*value_text), .line = number});
  }
  return all;
}

}  // namespace weir
