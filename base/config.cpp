#include "base/config.hpp"

#include <algorithm>
#include <array>

namespace weir {
namespace {

constexpr auto read_only = ConfigUpdate::read_only;
constexpr auto per_broker = ConfigUpdate::per_broker;
constexpr auto cluster_wide = ConfigUpdate::cluster_wide;
constexpr auto honour = ConfigHandling::honour;
constexpr auto report = ConfigHandling::report;

std::optional<std::string_view> default_text(const char* text) {
  return text == nullptr ? std::nullopt : std::optional<std::string_view>(text);
}

#define CONFIG_ROW(type, name, default_value, valid, update, handling, doc) \
  ConfigRow{name, ConfigType::type, default_text(default_value), valid, update, handling, doc, "-"},
#define CONFIG_MEMBER(type, member, ...) CONFIG_ROW(type, __VA_ARGS__)
const std::array kRows{
#include "base/config.def"
};
#undef CONFIG_ROW
#undef CONFIG_MEMBER

std::string unknown_key(std::string_view name) {
  return "unknown configuration key " + std::string(name) + "; the nearest known one is " +
         std::string(nearest_name(kRows, name));
}

}  // namespace

std::span<const ConfigRow> config_rows() {
  return kRows;
}

const ConfigRow* find_config_row(std::string_view name) {
  const auto found = std::ranges::lower_bound(kRows, name, {}, &ConfigRow::name);
  return found != kRows.end() && found->name == name ? &*found : nullptr;
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
  const auto* row = find_config_row(name);
  if (row == nullptr) {
    return unknown_key(name);
  }
  if (auto problem = check_value(*row, value)) {
    return problem;
  }
  set_.insert_or_assign(std::string(name), std::string(trimmed(value)));
  read_members(name, value);
  return std::nullopt;
}

std::optional<std::string> Config::set_value(std::string_view name) const {
  const auto found = set_.find(name);
  return found == set_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> Config::value(std::string_view name) const {
  if (auto given = set_value(name)) {
    return given;
  }
  const auto* row = find_config_row(name);
  return row != nullptr && row->default_value ? std::optional(std::string(*row->default_value)) : std::nullopt;
}

std::optional<Endpoint> Config::http_endpoint() const {
  return endpoint_from_string(mq_http_listen);
}

std::vector<DescribedConfig> Config::describe() const {
  std::vector<DescribedConfig> all;
  for (const auto& row : kRows) {
    const bool sensitive = row.type == ConfigType::password;
    const auto shown = [&](std::optional<std::string> text) { return sensitive ? std::nullopt : std::move(text); };
    const auto given = set_value(row.name);
    DescribedConfig entry{.name = std::string(row.name),
                          .value = shown(value(row.name)),
                          .source = given ? ConfigSource::static_broker : ConfigSource::default_value,
                          .type = row.type,
                          .read_only = row.update == ConfigUpdate::read_only,
                          .sensitive = sensitive,
                          .synonyms = {},
                          .doc = std::string(row.doc)};
    if (given) {
      entry.synonyms.push_back({entry.name, shown(given), ConfigSource::static_broker});
    }
    if (row.default_value) {
      entry.synonyms.push_back({entry.name, shown(std::string(*row.default_value)), ConfigSource::default_value});
    }
    all.push_back(std::move(entry));
  }
  return all;
}

// Turns inputs into a Config and derives what several keys decide together.
struct ConfigBuilder {
  LoadedConfig loaded;

  void take(const ConfigInput& input) {
    auto& problems = loaded.errors;
    if (find_config_row(input.name) == nullptr) {
      const bool strict = input.from == ConfigInput::From::command_line || input.name.starts_with("mq.");
      (strict ? loaded.errors : loaded.warnings).push_back(unknown_key(input.name));
      return;
    }
    if (const auto problem = loaded.config.set(input.name, input.value)) {
      problems.push_back(*problem);
    }
  }

  [[nodiscard]] bool is_controllers(const std::string& name) const {
    const auto& names = loaded.config.value("controller.listener.names");
    return std::ranges::count(split_list(names.value_or("")), name) > 0;
  }

  // The protocol of a listener name, by listener.security.protocol.map.
  [[nodiscard]] std::string protocol_of(const std::string& name) const {
    for (const auto& pair : split_list(loaded.config.value("listener.security.protocol.map").value_or(""))) {
      const auto colon = pair.find(':');
      if (colon != std::string::npos && pair.substr(0, colon) == name) {
        return pair.substr(colon + 1);
      }
    }
    return name;
  }

  std::vector<ConfiguredListener> listeners_of(std::string_view key) {
    std::vector<ConfiguredListener> all;
    for (const auto& text : split_list(loaded.config.value(key).value_or(""))) {
      const auto scheme = text.find("://");
      const auto endpoint =
          scheme == std::string::npos ? std::nullopt : endpoint_from_string(std::string_view{text}.substr(scheme + 3));
      if (!endpoint) {
        loaded.errors.push_back("Invalid value " + text + " for configuration " + std::string(key) +
                                ": must be NAME://HOST:PORT");
        continue;
      }
      const auto name = text.substr(0, scheme);
      if (is_controllers(name)) {
        loaded.warnings.push_back(std::string(key) + ": listener " + name +
                                  " belongs to a controller and is ignored; the controller is part of this node");
        continue;
      }
      if (const auto protocol = protocol_of(name); protocol != "PLAINTEXT") {
        loaded.errors.push_back("Invalid value " + text + " for configuration " + std::string(key) + ": protocol " +
                                protocol + " is not served yet; must be PLAINTEXT");
        continue;
      }
      all.push_back({.name = name, .endpoint = *endpoint});
    }
    return all;
  }

  void finish() {
    auto& config = loaded.config;
    config.bound_ = listeners_of("listeners");
    config.told_ = listeners_of("advertised.listeners");
    if (config.bound_.empty() && loaded.errors.empty()) {
      loaded.errors.emplace_back("listeners names no address that clients can use");
    }
    for (const auto& told : config.told_) {
      if (told.endpoint.host.empty() || told.endpoint.host == "0.0.0.0" || told.endpoint.host == "::") {
        loaded.errors.emplace_back("advertised.listeners: clients cannot connect to " + to_string(told.endpoint) +
                                   "; it must name one host");
      }
    }
    const auto folders = split_list(config.value("log.dirs").value_or(config.value("log.dir").value_or("")));
    if (folders.size() == 1) {
      config.data_folder_ = folders.front();
    } else {
      loaded.errors.emplace_back("log.dirs must name exactly one folder");
    }
    if (!config.mq_http_listen.empty() && !config.http_endpoint()) {
      loaded.errors.push_back("Invalid value " + config.mq_http_listen +
                              " for configuration mq.http.listen: must be HOST:PORT or empty");
    }
    if (config.mq_request_memory_bytes < config.socket_request_max_bytes) {
      loaded.errors.push_back("mq.request.memory.bytes (" + std::to_string(config.mq_request_memory_bytes) +
                              ") must be at least socket.request.max.bytes (" +
                              std::to_string(config.socket_request_max_bytes) + ")");
    }
    if (config.group_min_session_timeout_ms > config.group_max_session_timeout_ms) {
      loaded.errors.emplace_back("group.min.session.timeout.ms must not be over group.max.session.timeout.ms");
    }
  }
};

LoadedConfig load_config(std::span<const ConfigInput> inputs) {
  ConfigBuilder builder;
  for (const auto& input : inputs) {
    builder.take(input);
  }
  builder.finish();
  return std::move(builder.loaded);
}

}  // namespace weir
