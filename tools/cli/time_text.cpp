#include "tools/cli/time_text.hpp"

#include <array>
#include <charconv>
#include <chrono>

namespace weir::cli {
namespace {

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() && value >= 0 ? std::optional{value} : std::nullopt;
}

// Two digits and what stands before them, or 0 where the text ends.
std::optional<std::int64_t> part(std::string_view& text, char before) {
  if (text.empty()) {
    return 0;
  }
  if (text.size() < 3 || text[0] != before) {
    return std::nullopt;
  }
  const auto value = number(text.substr(1, 2));
  text.remove_prefix(3);
  return value;
}

}  // namespace

std::optional<Millis> time_from_text(const std::string& whole) {
  std::string_view text{whole};
  if (const auto plain = number(text)) {
    return *plain;
  }
  if (text.ends_with('Z')) {
    text.remove_suffix(1);
  }
  if (text.size() < 10) {
    return std::nullopt;
  }
  const auto year = number(text.substr(0, 4));
  text.remove_prefix(4);
  const auto month = part(text, '-');
  const auto day = text.empty() ? std::nullopt : part(text, '-');
  const auto hour = part(text, 'T');
  const auto minute = part(text, ':');
  const auto second = part(text, ':');
  if (!year || !month || !day || !hour || !minute || !second || !text.empty()) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(*year)},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 59) {
    return std::nullopt;
  }
  const auto days = std::chrono::sys_days{date}.time_since_epoch().count();
  return (((static_cast<Millis>(days) * 24 + *hour) * 60 + *minute) * 60 + *second) * 1000;
}

}  // namespace weir::cli
