#include "base/config_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

#include "base/check.hpp"

namespace weir {
namespace {

using Problem = std::optional<std::string>;

std::string lower(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

Problem invalid(const ConfigRow& row, std::string_view value, const std::string& why) {
  return "Invalid value " + std::string(value) + " for configuration " + std::string(row.name) + ": " + why;
}

template <class Number>
std::optional<Number> number_from(std::string_view text) {
  Number value{};
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') {
    text.remove_prefix(1);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

// "[0,...]", "[0,...,9]", "[1,...,9] or -1"
template <class Number>
Problem check_range(const ConfigRow& row, std::string_view text, Number value) {
  constexpr std::string_view kDots = ",...";
  const auto dots = row.valid.find(kDots);
  if (dots == std::string_view::npos) {
    return std::nullopt;
  }
  constexpr std::string_view kOr = "] or ";
  if (const auto other = row.valid.find(kOr); other != std::string_view::npos) {
    if (number_from<Number>(row.valid.substr(other + kOr.size())) == value) {
      return std::nullopt;
    }
  }
  const auto low = number_from<Number>(row.valid.substr(1, dots - 1));
  WEIR_CHECK(low.has_value());
  if (value < *low) {
    return invalid(row, text, "must be at least " + std::string(row.valid.substr(1, dots - 1)));
  }
  const auto rest = row.valid.substr(dots + kDots.size());
  if (rest.starts_with(',')) {
    const auto high_text = rest.substr(1, rest.find(']') - 1);
    const auto high = number_from<Number>(high_text);
    WEIR_CHECK(high.has_value());
    if (value > *high) {
      return invalid(row, text, "must be no more than " + std::string(high_text));
    }
  }
  return std::nullopt;
}

template <class Number>
Problem check_number(const ConfigRow& row, std::string_view text, const char* type) {
  const auto value = number_from<Number>(text);
  if (!value) {
    return invalid(row, text, fmt::format("not a number of type {}", type));
  }
  return check_range(row, text, *value);
}

// The names in "[a, b, c]", or nothing if the row names none.
std::vector<std::string> named_values(const ConfigRow& row) {
  const auto open = row.valid.find('[');
  const auto close = row.valid.rfind(']');
  if (open == std::string_view::npos || row.valid.find("...") != std::string_view::npos) {
    return {};
  }
  return split_list(row.valid.substr(open + 1, close - open - 1));
}

Problem check_names(const ConfigRow& row, std::string_view text, const std::vector<std::string>& given) {
  const auto allowed = named_values(row);
  if (allowed.empty()) {
    return std::nullopt;
  }
  const bool any_case = row.valid.starts_with("(case insensitive)");
  for (const auto& one : given) {
    const auto fits = [&](const std::string& name) { return any_case ? lower(name) == lower(one) : name == one; };
    if (std::ranges::none_of(allowed, fits)) {
      std::string all;
      for (const auto& name : allowed) {
        all += (all.empty() ? "" : ", ") + name;
      }
      return invalid(row, text, "must be one of: " + all);
    }
  }
  auto sorted = given;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) {
    return invalid(row, text, "names a value twice");
  }
  return std::nullopt;
}

// "[partitionId]:[brokerId],...", or "*" for all
Problem check_throttled(const ConfigRow& row, std::string_view text) {
  if (text == "*") {
    return std::nullopt;
  }
  for (const auto& pair : split_list(text)) {
    const auto colon = pair.find(':');
    const std::string_view whole{pair};
    if (colon == std::string::npos || !number_from<std::int32_t>(whole.substr(0, colon)) ||
        !number_from<std::int32_t>(whole.substr(colon + 1))) {
      return invalid(row, text, "must be * or pairs partition:broker with commas between");
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  text = trimmed(text);
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    parts.emplace_back(trimmed(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

std::string joined_list(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) {
    text += (text.empty() ? "" : ",") + part;
  }
  return text;
}

std::optional<std::string> check_value(const ConfigRow& row, std::string_view raw) {
  const auto text = trimmed(raw);
  switch (row.type) {
    case ConfigType::unknown: return std::nullopt;
    case ConfigType::boolean:
      if (const auto word = lower(text); word != "true" && word != "false") {
        return invalid(row, text, "must be true or false");
      }
      return std::nullopt;
    case ConfigType::int16: return check_number<std::int16_t>(row, text, "SHORT");
    case ConfigType::int32: return check_number<std::int32_t>(row, text, "INT");
    case ConfigType::int64: return check_number<std::int64_t>(row, text, "LONG");
    case ConfigType::float64: return check_number<double>(row, text, "DOUBLE");
    case ConfigType::list: {
      const auto parts = split_list(text);
      if (row.valid == "non-empty list" && parts.empty()) {
        return invalid(row, text, "must not be empty");
      }
      if (row.valid.starts_with("[partitionId]")) {
        return check_throttled(row, text);
      }
      return check_names(row, text, parts);
    }
    case ConfigType::string:
    case ConfigType::class_name:
    case ConfigType::password:
      if (row.valid == "non-empty string" && text.empty()) {
        return invalid(row, text, "must not be empty");
      }
      return check_names(row, text, {std::string(text)});
  }
  return std::nullopt;
}

namespace {
// As Java writes it: with a point at least.
std::string canonical_double(const ConfigRow& row, std::string_view text) {
  const auto value = number_from<double>(text);
  if (row.default_value && number_from<double>(*row.default_value) == value) {
    return std::string(*row.default_value);
  }
  auto shown = fmt::format("{}", value.value_or(0));
  return shown.find_first_not_of("-0123456789") == std::string::npos ? shown + ".0" : shown;
}
}  // namespace

std::string canonical_value(const ConfigRow& row, std::string_view raw) {
  const auto text = trimmed(raw);
  switch (row.type) {
    case ConfigType::boolean: return lower(text);
    case ConfigType::int16:
    case ConfigType::int32:
    case ConfigType::int64: return std::to_string(number_from<std::int64_t>(text).value_or(0));
    case ConfigType::float64: return canonical_double(row, text);
    case ConfigType::list: return joined_list(split_list(text));
    case ConfigType::unknown:
    case ConfigType::string:
    case ConfigType::class_name:
    case ConfigType::password: return std::string(text);
  }
  return std::string(text);
}

void read_value(std::string_view text, bool& into) {
  into = lower(trimmed(text)) == "true";
}
void read_value(std::string_view text, std::int16_t& into) {
  into = number_from<std::int16_t>(trimmed(text)).value_or(0);
}
void read_value(std::string_view text, std::int32_t& into) {
  into = number_from<std::int32_t>(trimmed(text)).value_or(0);
}
void read_value(std::string_view text, std::int64_t& into) {
  into = number_from<std::int64_t>(trimmed(text)).value_or(0);
}
void read_value(std::string_view text, double& into) {
  into = number_from<double>(trimmed(text)).value_or(0);
}
void read_value(std::string_view text, std::string& into) {
  into = std::string(trimmed(text));
}
void read_value(std::string_view text, std::vector<std::string>& into) {
  into = split_list(text);
}

namespace {
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}
}  // namespace

std::string hint_for(std::span<const ConfigRow> rows, std::string_view name) {
  // Who writes a longer name has made no slip, and a comparison costs time by its length.
  constexpr std::size_t kNameMax = 128;
  constexpr std::size_t kLettersToOneSlip = 5;
  constexpr std::size_t kSlipsMax = 3;
  if (rows.empty() || name.empty() || name.size() > kNameMax) {
    return {};
  }
  const auto distance = [&](const ConfigRow& row) { return edit_distance(name, row.name); };
  const auto nearest = std::ranges::min_element(rows, {}, distance);
  const auto slips = std::clamp<std::size_t>(name.size() / kLettersToOneSlip, 1, kSlipsMax);
  return distance(*nearest) <= slips ? "; did you mean " + std::string(nearest->name) + "?" : std::string{};
}

}  // namespace weir
