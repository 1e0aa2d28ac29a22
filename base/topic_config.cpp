#include "base/topic_config.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/check.hpp"

namespace weir {
namespace {

constexpr auto honour = ConfigHandling::honour;
constexpr auto report = ConfigHandling::report;
constexpr auto internal = ConfigHandling::internal;

std::optional<std::string_view> default_text(const char* text) {
  return text == nullptr ? std::nullopt : std::optional<std::string_view>(text);
}

#define TOPIC_ROW(type, name, default_value, valid, synonyms, handling, doc)                                  \
  ConfigRow{name, ConfigType::type, default_text(default_value), valid, ConfigUpdate::cluster_wide, handling, \
            doc,  synonyms},
#define TOPIC_MEMBER(type, member, ...) TOPIC_ROW(type, __VA_ARGS__)
const std::array kRows{
#include "base/topic_config.def"
};
#undef TOPIC_ROW
#undef TOPIC_MEMBER

struct BrokerSynonym {
  std::string name;
  std::int64_t factor = 1;
};

// "log.retention.ms,log.retention.hours(x3600000)"
std::vector<BrokerSynonym> parse_synonyms(const ConfigRow& row) {
  std::vector<BrokerSynonym> all;
  if (row.synonyms == "-") {
    return all;
  }
  for (const auto& part : split_list(row.synonyms)) {
    const auto factor = part.find("(x");
    BrokerSynonym synonym{.name = part.substr(0, factor)};
    if (factor != std::string::npos) {
      read_value(std::string_view{part}.substr(factor + 2, part.size() - factor - 3), synonym.factor);
      WEIR_CHECK(synonym.factor > 0);
    }
    WEIR_CHECK(find_config_row(synonym.name) != nullptr);
    all.push_back(std::move(synonym));
  }
  return all;
}

// Parsed once: a node with ten thousand topics resolves every row for each of them.
const std::vector<BrokerSynonym>& synonyms_of(const ConfigRow& row) {
  static const auto kAll = [] {
    std::vector<std::vector<BrokerSynonym>> all;
    for (const auto& each : kRows) {
      all.push_back(parse_synonyms(each));
    }
    return all;
  }();
  return kAll[static_cast<std::size_t>(&row - kRows.data())];
}

std::string times(const std::string& text, std::int64_t factor) {
  if (factor == 1) {
    return text;
  }
  std::int64_t value = 0;
  read_value(text, value);
  return std::to_string(value < 0 ? value
                                  : value * factor);  // -1 means "none" in every unit; an INT times a factor fits
}

// The topic's own value, else the first broker key that is set, else the default.
std::optional<std::string> effective_value(const ConfigRow& row, const TopicOverrides& overrides,
                                           const Config& broker) {
  if (const auto found = overrides.find(row.name); found != overrides.end()) {
    return found->second;
  }
  for (const auto& synonym : synonyms_of(row)) {
    if (const auto given = broker.set_value(synonym.name)) {
      return times(*given, synonym.factor);
    }
  }
  return row.default_value ? std::optional(std::string(*row.default_value)) : std::nullopt;
}

DescribedConfig describe_one(const ConfigRow& row, const TopicOverrides& overrides, const Config& broker) {
  DescribedConfig told{.name = std::string(row.name),
                       .value = effective_value(row, overrides, broker),
                       .source = ConfigSource::default_value,
                       .type = row.type,
                       .read_only = false,
                       .sensitive = false,
                       .synonyms = {},
                       .doc = std::string(row.doc)};
  if (told.value) {
    told.value = canonical_value(row, *told.value);
  }
  if (const auto& synonyms = synonyms_of(row); !synonyms.empty()) {
    told.synonyms = broker.layers(synonyms.front().name);
  }
  if (const auto found = overrides.find(row.name); found != overrides.end()) {
    told.synonyms.insert(told.synonyms.begin(), {told.name, found->second, ConfigSource::topic});
  }
  if (!told.synonyms.empty()) {
    told.source = told.synonyms.front().source;
  }
  return told;
}

}  // namespace

std::span<const ConfigRow> topic_config_rows() {
  return kRows;
}

const ConfigRow* find_topic_config_row(std::string_view name) {
  const auto found = std::ranges::lower_bound(kRows, name, {}, &ConfigRow::name);
  return found != kRows.end() && found->name == name ? &*found : nullptr;
}

std::optional<std::string> check_topic_config(std::string_view name, std::string_view value) {
  const auto* row = find_topic_config_row(name);
  if (row == nullptr) {
    return "Unknown topic config name: " + std::string(name);
  }
  return check_value(*row, value);
}

TopicConfig::TopicConfig() {
  static const TopicConfig kDefaults{TopicOverrides{}, Config{}};
  *this = kDefaults;
}

TopicConfig::TopicConfig(const TopicOverrides& overrides, const Config& broker) {
  const auto read = [&](std::string_view name, auto& member) {
    const auto* row = find_topic_config_row(name);
    WEIR_CHECK(row != nullptr);
    read_value(effective_value(*row, overrides, broker).value_or(""), member);
  };
#define TOPIC_MEMBER(type, member, wire_name, ...) read(wire_name, member);
#define TOPIC_ROW(...)
#include "base/topic_config.def"
#undef TOPIC_MEMBER
#undef TOPIC_ROW
}

bool TopicConfig::has_policy(std::string_view policy) const {
  return std::ranges::find(cleanup_policy, policy) != cleanup_policy.end();
}

bool TopicConfig::synced() const {
  return mq_flush == "sync" || flush_messages < std::numeric_limits<std::int64_t>::max();
}

std::string inherited_topic_value(const ConfigRow& row, const Config& broker) {
  return effective_value(row, {}, broker).value_or("");
}

bool same_topic_defaults(const Config& one, const Config& other) {
  return std::ranges::all_of(
      kRows, [&](const ConfigRow& row) { return effective_value(row, {}, one) == effective_value(row, {}, other); });
}

std::vector<DescribedConfig> describe_topic_config(const TopicOverrides& overrides, const Config& broker) {
  std::vector<DescribedConfig> all;
  for (const auto& row : kRows) {
    if (row.handling != ConfigHandling::internal) {
      all.push_back(describe_one(row, overrides, broker));
    }
  }
  return all;
}

}  // namespace weir
