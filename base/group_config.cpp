#include "base/group_config.hpp"

#include <algorithm>
#include <array>

namespace weir {
namespace {

constexpr auto report = ConfigHandling::report;
constexpr bool told = true;
constexpr bool untold = false;
constexpr std::string_view kNone = "-";

std::optional<std::string_view> default_text(const char* text) {
  return text == nullptr ? std::nullopt : std::optional<std::string_view>(text);
}

#define GROUP_ROW(type, name, default_value, valid, broker_key, least, most, is_told, handling, doc)                \
  GroupConfigRow{{name, ConfigType::type, default_text(default_value), valid, ConfigUpdate::cluster_wide, handling, \
                  doc, broker_key},                                                                                 \
                 broker_key,                                                                                        \
                 least,                                                                                             \
                 most,                                                                                              \
                 is_told},
const std::array kRows{
#include "base/group_config.def"
};
#undef GROUP_ROW

std::optional<std::int64_t> bound(std::string_view key, const Config& broker) {
  const auto text = key == kNone ? std::nullopt : broker.value(key);
  if (!text) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  read_value(*text, value);
  return value;
}

std::optional<std::string> refuse_range(const GroupConfigRow& row, std::string_view text, const Config& broker) {
  const auto least = bound(row.least_key, broker);
  const auto most = bound(row.most_key, broker);
  if (!least && !most) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  read_value(text, value);
  if (value < least.value_or(value)) {
    return std::string(row.name) + " must be at least " + std::to_string(*least) + " (" + std::string(row.least_key) +
           " of the broker).";
  }
  if (value > most.value_or(value)) {
    return std::string(row.name) + " must be no more than " + std::to_string(*most) + " (" + std::string(row.most_key) +
           " of the broker).";
  }
  return std::nullopt;
}

// "PnDTnHnMn.nS" as Java's Duration reads it: at least one part, in this order, the day parts before the T.
bool is_duration(std::string_view text) {
  if (!text.starts_with('P') || text.size() < 3) {
    return false;
  }
  text.remove_prefix(1);
  std::string_view units = "D";
  bool after_t = false;
  bool any = false;
  while (!text.empty()) {
    if (text.front() == 'T' && !after_t) {
      after_t = true;
      units = "HMS";
      text.remove_prefix(1);
      any = false;
      continue;
    }
    const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
    if (digits == 0 || digits == text.size()) {
      return false;
    }
    const auto unit = units.find(text[digits]);
    const bool has_point = text.substr(0, digits).find('.') != std::string_view::npos;
    if (unit == std::string_view::npos || (has_point && text[digits] != 'S')) {
      return false;
    }
    units.remove_prefix(unit + 1);
    text.remove_prefix(digits + 1);
    any = true;
  }
  return any;
}

std::optional<std::string> refuse_special(const GroupConfigRow& row, std::string_view text, const Config& broker) {
  constexpr std::string_view kDuration = "by_duration:";
  const std::string begin = "Invalid value " + std::string(text) + " for configuration " + std::string(row.name) + ": ";
  if (row.name == "share.auto.offset.reset" && text != "earliest" && text != "latest" &&
      !(text.starts_with(kDuration) && is_duration(text.substr(kDuration.size())))) {
    return begin + "must be earliest, latest or by_duration: and a duration like PT1H30M";
  }
  if (row.name == "streams.assignor.name") {
    const auto known = split_list(broker.value(row.broker_key).value_or(""));
    if (std::ranges::find(known, text) == known.end()) {
      return begin + "must be one of group.streams.assignors: " + joined_list(known);
    }
  }
  if (row.name == "errors.deadletterqueue.topic.name" && text.starts_with("__")) {
    return begin + "must not begin with __";
  }
  return std::nullopt;
}

DescribedConfig describe_one(const GroupConfigRow& row, const GroupOverrides& overrides, const Config& broker) {
  const auto given = overrides.find(row.name);
  const bool overridden = given != overrides.end();
  DescribedConfig one{.name = std::string(row.name),
                      .value = canonical_value(row, overridden ? given->second : inherited_group_value(row, broker)),
                      .source = ConfigSource::default_value,
                      .type = row.type,
                      .read_only = false,
                      .sensitive = false,
                      .synonyms = {},
                      .doc = std::string(row.doc)};
  if (overridden) {
    one.synonyms.push_back({one.name, given->second, ConfigSource::group});
  }
  if (row.broker_key == kNone) {
    one.synonyms.push_back({one.name, std::string(row.default_value.value_or("")), ConfigSource::default_value});
  } else {
    std::ranges::move(broker.layers(row.broker_key), std::back_inserter(one.synonyms));
  }
  if (!one.synonyms.empty()) {
    one.source = one.synonyms.front().source;
  }
  return one;
}

}  // namespace

std::span<const GroupConfigRow> group_config_rows() {
  return kRows;
}

const GroupConfigRow* find_group_config_row(std::string_view name) {
  const auto found = std::ranges::lower_bound(kRows, name, {}, &GroupConfigRow::name);
  return found != kRows.end() && found->name == name ? &*found : nullptr;
}

std::string inherited_group_value(const GroupConfigRow& row, const Config& broker) {
  if (row.broker_key == kNone) {
    return std::string(row.default_value.value_or(""));
  }
  auto value = broker.value(row.broker_key).value_or("");
  return row.type == ConfigType::string ? split_list(value + ",").front() : value;  // the first assignor of a list
}

std::optional<std::string> refuse_group_overrides(const GroupOverrides& overrides, const Config& broker) {
  for (const auto& [name, value] : overrides) {
    const auto* row = find_group_config_row(name);
    if (row == nullptr) {
      return "Unknown group config name: " + name;
    }
    if (auto problem = check_value(*row, value)) {
      return problem;
    }
    if (auto problem = refuse_range(*row, value, broker)) {
      return problem;
    }
    if (auto problem = refuse_special(*row, trimmed(value), broker)) {
      return problem;
    }
  }
  return std::nullopt;
}

std::vector<DescribedConfig> describe_group_config(const GroupOverrides& overrides, const Config& broker) {
  std::vector<DescribedConfig> all;
  for (const auto& row : kRows) {
    if (row.told || overrides.contains(row.name)) {
      all.push_back(describe_one(row, overrides, broker));
    }
  }
  return all;
}

}  // namespace weir
