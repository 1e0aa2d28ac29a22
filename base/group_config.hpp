// A group's configuration: base/group_config.def. Effective values: the group's override, else the broker key. Pure;
// any thread.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/config.hpp"

namespace weir {

struct GroupConfigRow : ConfigRow {
  std::string_view broker_key;  // "-" for none, as below
  std::string_view least_key;
  std::string_view most_key;
  bool told;
};

using GroupOverrides = std::map<std::string, std::string, std::less<>>;

std::span<const GroupConfigRow> group_config_rows();  // sorted by name
const GroupConfigRow* find_group_config_row(std::string_view name);

// What a group has where it overrides nothing.
std::string inherited_group_value(const GroupConfigRow& row, const Config& broker);
// One sentence why a group may not have these overrides (error 40), or nullopt if it may.
std::optional<std::string> refuse_group_overrides(const GroupOverrides& overrides, const Config& broker);

// Rows for DescribeConfigs, by name.
std::vector<DescribedConfig> describe_group_config(const GroupOverrides& overrides, const Config& broker);

}  // namespace weir
