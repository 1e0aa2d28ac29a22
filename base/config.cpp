#include "base/config.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/check.hpp"

namespace weir {
namespace {

constexpr auto read_only = ConfigUpdate::read_only;
constexpr auto per_listener = ConfigUpdate::per_listener;
constexpr auto per_broker = ConfigUpdate::per_broker;
constexpr auto cluster_wide = ConfigUpdate::cluster_wide;
constexpr auto honour = ConfigHandling::honour;
constexpr auto at_start = ConfigHandling::at_start;
constexpr auto report = ConfigHandling::report;

std::optional<std::string_view> default_text(const char* text) {
  return text == nullptr ? std::nullopt : std::optional<std::string_view>(text);
}

#define CONFIG_ROW(type, name, default_value, valid, update, handling, doc) \
  ConfigRow{name, ConfigType::type, default_text(default_value), valid, update, handling, doc, "-"},
#define CONFIG_MEMBER(type, member, ...) CONFIG_ROW(type, __VA_ARGS__)
const auto kRows = std::to_array<ConfigRow>({
// deducing the type of so many is too deep a fold for clang
#include "base/config.def"
});
#undef CONFIG_ROW
#undef CONFIG_MEMBER

// Kafka's internal keys, as a real node leaves them out of its answer.
constexpr auto kUntold = std::to_array<std::string_view>({
    "controller.performance.always.log.threshold.ms",
    "controller.performance.sample.period.ms",
    "group.consumer.assignor.offload.enable",
    "group.consumer.regex.refresh.interval.ms",
    "group.share.assignor.offload.enable",
    "group.share.dlq.manager.class.name",
    "group.share.initialize.retry.interval.ms",
    "group.share.persister.class.name",
    "group.streams.acceptable.recovery.lag",
    "group.streams.assignor.offload.enable",
    "group.streams.max.warmup.replicas",
    "group.streams.min.task.offset.interval.ms",
    "group.streams.num.warmup.replicas",
    "group.streams.task.offset.interval.ms",
    "internal.metadata.delete.delay.millis",
    "internal.metadata.log.segment.bytes",
    "internal.metadata.max.batch.size.in.bytes",
    "log.initial.task.delay.ms",
    "producer.id.expiration.check.interval.ms",
    "remote.log.index.file.cache.ttl.ms",
    "remote.log.manager.task.retry.backoff.max.ms",
    "remote.log.manager.task.retry.backoff.ms",
    "remote.log.manager.task.retry.jitter",
    "server.max.startup.time.ms",
    "share.coordinator.cold.partition.snapshot.interval.ms",
    "share.coordinator.state.topic.prune.interval.ms",
    "unclean.leader.election.interval.ms",
    "unstable.api.versions.enable",
    "unstable.feature.versions.enable",
});

// Keys that say the same in finer and coarser units; the finest that is set wins.
using Units = std::vector<std::string_view>;
const std::array kUnits{Units{"log.retention.ms", "log.retention.minutes", "log.retention.hours"},
                        Units{"log.roll.ms", "log.roll.hours"}, Units{"log.roll.jitter.ms", "log.roll.jitter.hours"},
                        Units{"log.flush.interval.ms", "log.flush.scheduler.interval.ms"}};

// The key and its coarser units; for one of a listener the key without the listener.
Units units_of(std::string_view name) {
  for (const auto& units : kUnits) {
    if (const auto at = std::ranges::find(units, name); at != units.end()) {
      return {at, units.end()};
    }
  }
  if (const auto found = find_dynamic_row(name); found.of_listener && found.row != nullptr) {
    return {name, found.row->name};
  }
  return {name};
}

bool is_allowed(std::string_view name, std::string_view value) {
  const auto [row, of_listener] = find_dynamic_row(name);
  return row == nullptr ||
         ((of_listener || row->update != read_only) && row->handling != at_start && !check_value(*row, value));
}

std::optional<std::string> find_in(const DynamicConfigs& configs, std::string_view name) {
  const auto found = configs.find(name);
  return found == configs.end() ? std::nullopt : std::optional(found->second);
}

// A value of a key that no table has may be anything, so it is kept secret, as Kafka does.
bool is_secret(const NamedConfigRow& found) {
  return found.row == nullptr || found.row->type == ConfigType::password;
}

}  // namespace

std::span<const ConfigRow> config_rows() {
  return kRows;
}

const ConfigRow* find_config_row(std::string_view name) {
  const auto found = std::ranges::lower_bound(kRows, name, {}, &ConfigRow::name);
  return found != kRows.end() && found->name == name ? &*found : nullptr;
}

bool is_untold_config(std::string_view name) {
  return std::ranges::binary_search(kUntold, name);
}

NamedConfigRow find_dynamic_row(std::string_view name) {
  constexpr std::string_view kPrefix = "listener.name.";
  if (!name.starts_with(kPrefix)) {
    return {.row = find_config_row(name)};
  }
  auto rest = name.substr(kPrefix.size());
  for (int part = 0; part < 2; ++part) {  // the listener's name, then perhaps a SASL mechanism
    const auto dot = rest.find('.');
    if (dot == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(dot + 1);
    if (const auto* row = find_config_row(rest)) {
      return {.row = row, .of_listener = true};
    }
  }
  return {.row = nullptr, .of_listener = true};
}

Config::Config() {
  for (const auto& row : kRows) {
    if (row.default_value) {
      read_members(row.name, *row.default_value);
    }
  }
}

void Config::read_members(std::string_view name, std::string_view value) {
#define CONFIG_MEMBER(type, member, wire_name, ...) \
  if (name == (wire_name)) {                        \
    read_value(value, member);                      \
    return;                                         \
  }
#define CONFIG_ROW(...)
#include "base/config.def"
#undef CONFIG_MEMBER
#undef CONFIG_ROW
}

std::optional<std::string> Config::set(std::string_view name, std::string_view value) {
  const auto* row = find_dynamic_row(name).row;
  if (row == nullptr) {
    return "unknown configuration key " + std::string(name) + hint_for(kRows, name);
  }
  if (auto problem = check_value(*row, value)) {
    return problem;
  }
  set_.insert_or_assign(std::string(name), std::string(trimmed(value)));
  read_members(name, value);
  return std::nullopt;
}

std::optional<std::string> Config::set_value(std::string_view name) const {
  for (const auto* layer : {&for_this_, &for_all_, &set_}) {
    if (auto found = find_in(*layer, name)) {
      return found;
    }
  }
  return std::nullopt;
}

std::vector<std::string> Config::set_names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : set_) {
    names.push_back(name);
  }
  return names;
}

Config Config::with_dynamic(DynamicConfigs for_all, DynamicConfigs for_this) const {
  WEIR_CHECK(for_all_.empty() && for_this_.empty());
  Config made = *this;
  made.for_all_ = std::move(for_all);
  made.for_this_ = std::move(for_this);
  for (auto* layer : {&made.for_all_, &made.for_this_}) {
    std::erase_if(*layer, [](const auto& entry) { return !is_allowed(entry.first, entry.second); });
    for (const auto& [name, value] : *layer) {
      made.read_members(name, value);
    }
  }
  return made;
}

std::optional<std::string> Config::value(std::string_view name) const {
  if (auto given = set_value(name)) {
    return given;
  }
  return default_of(name);
}

void Config::set_default(std::string_view name, std::int64_t value) {
  auto text = std::to_string(value);
  read_members(name, text);
  derived_.insert_or_assign(std::string(name), std::move(text));
}

std::optional<std::string> Config::default_of(std::string_view name) const {
  if (auto derived = find_in(derived_, name)) {
    return derived;
  }
  const auto* row = find_config_row(name);
  return row != nullptr && row->default_value ? std::optional(std::string(*row->default_value)) : std::nullopt;
}

std::optional<Endpoint> Config::http_endpoint() const {
  return endpoint_from_string(mq_http_listen);
}

std::vector<DescribedConfig::Synonym> Config::layers(std::string_view name) const {
  const auto units = units_of(name);
  const auto found = find_dynamic_row(name);
  if (!set_value(name) && (found.of_listener || !default_of(name))) {
    return {};
  }
  std::vector<DescribedConfig::Synonym> all;
  const auto add_layer = [&](ConfigSource source, auto value_of) {
    for (const auto unit : units) {
      if (auto value = value_of(unit)) {
        all.push_back({std::string(unit), is_secret(found) ? std::nullopt : std::move(value), source});
      }
    }
  };
  add_layer(ConfigSource::dynamic_broker, [this](std::string_view unit) { return find_in(for_this_, unit); });
  add_layer(ConfigSource::dynamic_default_broker, [this](std::string_view unit) { return find_in(for_all_, unit); });
  add_layer(ConfigSource::static_broker, [this](std::string_view unit) { return find_in(set_, unit); });
  add_layer(ConfigSource::default_value, [this](std::string_view unit) { return default_of(unit); });
  return all;
}

DescribedConfig Config::describe_one(std::string_view name) const {
  const auto found = find_dynamic_row(name);
  const auto* row = found.row;
  const bool secret = is_secret(found);
  const auto now = found.of_listener ? set_value(name) : value(name);
  DescribedConfig told{.name = std::string(name),
                       .value = std::nullopt,
                       .source = ConfigSource::default_value,
                       .type = row != nullptr ? row->type : ConfigType::unknown,
                       .read_only = row == nullptr || found.of_listener || row->update == read_only,
                       .sensitive = secret,
                       .synonyms = layers(name),
                       .doc = row != nullptr ? std::string(row->doc) : std::string{}};
  if (now && !secret) {
    told.value = canonical_value(*row, *now);
  }
  if (!told.synonyms.empty()) {
    told.source = told.synonyms.front().source;
  }
  return told;
}

std::vector<DescribedConfig> Config::describe() const {
  std::vector<DescribedConfig> all;
  for (const auto& row : kRows) {
    if (!is_untold_config(row.name) || is_set(row.name)) {
      all.push_back(describe_one(row.name));
    }
  }
  std::set<std::string_view> others;  // of a listener or of somebody's plugin
  for (const auto* layer : {&set_, &for_all_, &for_this_}) {
    for (const auto& [name, value] : *layer) {
      if (find_config_row(name) == nullptr && others.insert(name).second) {
        all.push_back(describe_one(name));
      }
    }
  }
  return all;
}

std::vector<DescribedConfig> Config::describe_for_all() const {
  std::vector<DescribedConfig> all;
  for (const auto& [name, value] : for_all_) {
    auto told = describe_one(name);
    told.source = ConfigSource::dynamic_default_broker;
    told.value = told.sensitive ? std::nullopt : std::optional(canonical_value(*find_dynamic_row(name).row, value));
    std::erase_if(told.synonyms,
                  [](const auto& synonym) { return synonym.source != ConfigSource::dynamic_default_broker; });
    all.push_back(std::move(told));
  }
  return all;
}

}  // namespace weir
