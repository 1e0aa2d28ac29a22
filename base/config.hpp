// The broker's configuration: base/config.def as typed members, plus every key by name. Built once at start by
// load_config() and then read by any thread; nobody changes it after that.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/config_row.hpp"
#include "base/network.hpp"

namespace weir {

struct ConfigValues {
#define CONFIG_MEMBER(type, member, ...) ConfigCpp<ConfigType::type>::Type member{};
#define CONFIG_ROW(...)
#include "base/config.def"
#undef CONFIG_MEMBER
#undef CONFIG_ROW
};

struct ConfiguredListener {
  std::string name;  // of the listener: "PLAINTEXT" or one that listener.security.protocol.map knows
  Endpoint endpoint;
  friend bool operator==(const ConfiguredListener&, const ConfiguredListener&) = default;
};

std::span<const ConfigRow> config_rows();  // sorted by name
const ConfigRow* find_config_row(std::string_view name);

class Config : public ConfigValues {
 public:
  Config();  // all defaults

  // Sets one key; the sentence that says why not, or nullopt. Only while the configuration is built.
  std::optional<std::string> set(std::string_view name, std::string_view value);
  [[nodiscard]] bool is_set(std::string_view name) const { return set_.contains(name); }
  // As set, else the default; nullopt if there is neither.
  [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> set_value(std::string_view name) const;

  [[nodiscard]] const std::vector<ConfiguredListener>& bound_listeners() const { return bound_; }
  // Empty: clients are told the address they came in on.
  [[nodiscard]] const std::vector<ConfiguredListener>& told_listeners() const { return told_; }
  [[nodiscard]] const std::string& data_folder() const { return data_folder_; }
  [[nodiscard]] std::optional<Endpoint> http_endpoint() const;  // nullopt: off

  // Rows for DescribeConfigs of a broker: all keys, by name.
  [[nodiscard]] std::vector<DescribedConfig> describe() const;

 private:
  friend struct ConfigBuilder;
  void read_members(std::string_view name, std::string_view value);

  std::map<std::string, std::string, std::less<>> set_;
  std::vector<ConfiguredListener> bound_;
  std::vector<ConfiguredListener> told_;
  std::string data_folder_;
};

struct ConfigInput {
  enum class From : std::uint8_t { file, command_line };
  std::string name;
  std::string value;
  From from = From::command_line;
};

struct LoadedConfig {
  Config config;
  std::vector<std::string> errors;  // sentences; the broker must not start with any
  std::vector<std::string> warnings;
};

// Later inputs win over earlier ones. An unknown key of a file is a warning that names the nearest one; on the command
// line, and with mq. in front anywhere, it is an error.
LoadedConfig load_config(std::span<const ConfigInput> inputs);

}  // namespace weir
