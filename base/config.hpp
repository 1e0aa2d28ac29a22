// The broker's configuration: base/config.def as typed members, plus every key by name. load_config() builds the static
// one at start; with_dynamic() makes another that also has what was set while the broker runs (base/effective_config).
// Nobody changes one after that; any thread reads.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/config_row.hpp"
#include "base/listeners.hpp"

namespace weir {

struct ConfigValues {
#define CONFIG_MEMBER(type, member, ...) ConfigCpp<ConfigType::type>::Type member{};
#define CONFIG_ROW(...)
#include "base/config.def"
#undef CONFIG_MEMBER
#undef CONFIG_ROW
};

std::span<const ConfigRow> config_rows();  // sorted by name
const ConfigRow* find_config_row(std::string_view name);
// Kafka tells these only where somebody has set them.
bool is_untold_config(std::string_view name);

// A key that may be set while the broker runs can be another than a row's name: "listener.name.internal.ssl.protocol".
struct NamedConfigRow {
  const ConfigRow* row = nullptr;  // null: a key that no table has, perhaps of somebody's plugin
  bool of_listener = false;
};
NamedConfigRow find_dynamic_row(std::string_view name);

using DynamicConfigs = std::map<std::string, std::string, std::less<>>;

class Config : public ConfigValues {
 public:
  Config();  // all defaults

  // Sets one key; the sentence that says why not, or nullopt. Only while the configuration is built.
  std::optional<std::string> set(std::string_view name, std::string_view value);
  [[nodiscard]] bool is_set(std::string_view name) const { return set_value(name).has_value(); }
  // As set, else the default; nullopt if there is neither.
  [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> set_value(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> set_names() const;  // by the config file and the command line

  // This one, which must be static, with what is set for all brokers and, winning over it, for this broker. Leaves out
  // what this broker does not allow: the metadata may have come from another.
  [[nodiscard]] Config with_dynamic(DynamicConfigs for_all, DynamicConfigs for_this) const;
  [[nodiscard]] const DynamicConfigs& dynamic_for_all() const { return for_all_; }
  [[nodiscard]] const DynamicConfigs& dynamic_for_this() const { return for_this_; }

  [[nodiscard]] const std::vector<ConfiguredListener>& bound_listeners() const { return bound_; }
  [[nodiscard]] const std::string& data_folder() const { return data_folder_; }
  [[nodiscard]] std::optional<Endpoint> http_endpoint() const;  // nullopt: off

  // For DescribeConfigs: all keys of this broker, and what is set for all brokers.
  [[nodiscard]] std::vector<DescribedConfig> describe() const;
  [[nodiscard]] std::vector<DescribedConfig> describe_for_all() const;
  // Every value that a broker key and its coarser units have, the one that holds first. As Kafka tells it: nothing
  // where the key itself has no value, although a coarser unit may.
  [[nodiscard]] std::vector<DescribedConfig::Synonym> layers(std::string_view name) const;

 private:
  friend class ConfigBuilder;
  void read_members(std::string_view name, std::string_view value);
  // Another default than the row's, because of what other keys say.
  void set_default(std::string_view name, std::int64_t value);
  [[nodiscard]] std::optional<std::string> default_of(std::string_view name) const;
  [[nodiscard]] DescribedConfig describe_one(std::string_view name) const;

  DynamicConfigs set_;
  DynamicConfigs derived_;  // defaults that differ from their rows'
  std::vector<ConfiguredListener> bound_;
  std::string data_folder_;
  DynamicConfigs for_all_;
  DynamicConfigs for_this_;
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

// Later inputs win over earlier ones. An unknown key of a file is a warning that names the key that was meant, if one
// is near; on the command line, and with mq. in front anywhere, it is an error. What is said about keys that are taken
// and do nothing: base/config_notes.
LoadedConfig load_config(std::span<const ConfigInput> inputs);

}  // namespace weir
