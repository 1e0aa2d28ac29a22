// A topic's configuration: base/topic_config.def as typed members. Effective values: the topic's override, else the
// broker key that is set, else the default. A value type: resolved when the metadata image changes, then read by any
// thread.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/config.hpp"

namespace weir {

struct TopicConfigValues {
#define TOPIC_MEMBER(type, member, ...) ConfigCpp<ConfigType::type>::Type member{};
#define TOPIC_ROW(...)
#include "base/topic_config.def"
#undef TOPIC_MEMBER
#undef TOPIC_ROW
};

std::span<const ConfigRow> topic_config_rows();  // sorted by name, internal ones included
const ConfigRow* find_topic_config_row(std::string_view name);
// Nullopt if a topic may have this override; else the sentence for the client (error 40). Unknown keys are refused.
std::optional<std::string> check_topic_config(std::string_view name, std::string_view value);

using TopicOverrides = std::map<std::string, std::string, std::less<>>;  // valid names and values

struct TopicConfig : TopicConfigValues {
  TopicConfig();  // all defaults
  TopicConfig(const TopicOverrides& overrides, const Config& broker);

  [[nodiscard]] bool deletes() const { return has_policy("delete"); }
  [[nodiscard]] bool compacts() const { return has_policy("compact"); }
  [[nodiscard]] bool stamps_append_time() const { return message_timestamp_type == "LogAppendTime"; }
  [[nodiscard]] bool in_memory() const { return mq_storage == "memory"; }
  // acks=all waits for the sync, and nobody reads what is not synced.
  [[nodiscard]] bool synced() const;

 private:
  [[nodiscard]] bool has_policy(std::string_view policy) const;
};

// What a topic has where it overrides nothing. The row is one of topic_config_rows().
std::string inherited_topic_value(const ConfigRow& row, const Config& broker);
bool same_topic_defaults(const Config& one, const Config& other);

// Rows for DescribeConfigs and CreateTopics, by name, without the internal ones.
std::vector<DescribedConfig> describe_topic_config(const TopicOverrides& overrides, const Config& broker);

}  // namespace weir
