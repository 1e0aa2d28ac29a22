// What a row of a config table says, and the checks that follow from it. Stateless; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weir {

enum class ConfigType : std::int8_t {  // the numbers of DescribeConfigs
  unknown = 0,                         // of a key that no table has
  boolean = 1,
  string = 2,
  int32 = 3,
  int16 = 4,
  int64 = 5,
  float64 = 6,
  list = 7,
  class_name = 8,
  password = 9
};
enum class ConfigSource : std::int8_t {  // the numbers of DescribeConfigs
  topic = 1,
  dynamic_broker = 2,
  dynamic_default_broker = 3,
  static_broker = 4,
  default_value = 5,
  logger = 6,
  client_metrics = 7,
  group = 8
};
enum class ConfigUpdate : std::uint8_t {  // who may set it while the broker runs
  read_only,                              // nobody: it is of the config file
  per_listener,                           // one broker, with listener.name.NAME. in front
  per_broker,                             // one broker
  cluster_wide                            // one broker, or all of them at once
};
enum class ConfigHandling : std::uint8_t {
  honour,    // does what it says, and when it is set while the broker runs it does so at once
  at_start,  // does what it says as the config file has it; not to be changed while the broker runs
  report,    // kept and told; changes nothing in this build
  internal   // for tests of Kafka itself; never told
};

struct ConfigRow {
  std::string_view name;
  ConfigType type;
  std::optional<std::string_view> default_value;  // nullopt: unset
  std::string_view valid;                         // the table's notation, see config_row.cpp
  ConfigUpdate update;
  ConfigHandling handling;
  std::string_view doc;
  std::string_view synonyms;  // of a topic key; "-" for none
};

// One setting as DescribeConfigs tells it.
struct DescribedConfig {
  struct Synonym {
    std::string name;
    std::optional<std::string> value;
    ConfigSource source;
    friend bool operator==(const Synonym&, const Synonym&) = default;
  };
  std::string name;
  std::optional<std::string> value;  // null when unset, and for secrets always
  ConfigSource source;
  ConfigType type;
  bool read_only;
  bool sensitive;
  std::vector<Synonym> synonyms;  // what would hold, first what does
  std::string doc;
};

template <ConfigType>
struct ConfigCpp {
  using Type = std::string;
};
template <>
struct ConfigCpp<ConfigType::boolean> {
  using Type = bool;
};
template <>
struct ConfigCpp<ConfigType::int32> {
  using Type = std::int32_t;
};
template <>
struct ConfigCpp<ConfigType::int16> {
  using Type = std::int16_t;
};
template <>
struct ConfigCpp<ConfigType::int64> {
  using Type = std::int64_t;
};
template <>
struct ConfigCpp<ConfigType::float64> {
  using Type = double;
};
template <>
struct ConfigCpp<ConfigType::list> {
  using Type = std::vector<std::string>;
};

// Nullopt if the row allows the value; else one sentence that names key, value and what is allowed.
std::optional<std::string> check_value(const ConfigRow& row, std::string_view value);

// Reads a value that check_value() has passed.
void read_value(std::string_view text, bool& into);
void read_value(std::string_view text, std::int16_t& into);
void read_value(std::string_view text, std::int32_t& into);
void read_value(std::string_view text, std::int64_t& into);
void read_value(std::string_view text, double& into);
void read_value(std::string_view text, std::string& into);
void read_value(std::string_view text, std::vector<std::string>& into);

// How a value that check_value() has passed is told: "9" for " +9 ", "true" for "TRUE", lists without blanks.
std::string canonical_value(const ConfigRow& row, std::string_view value);

std::string_view trimmed(std::string_view text);
std::vector<std::string> split_list(std::string_view text);  // at commas, trimmed; nothing for an empty text
std::string joined_list(const std::vector<std::string>& parts);

// "; did you mean NAME?" if a name of the table is a few letters away, else nothing.
std::string hint_for(std::span<const ConfigRow> rows, std::string_view name);

}  // namespace weir
