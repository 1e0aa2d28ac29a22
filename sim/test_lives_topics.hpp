// Topics and groups as the clients of broker_lives_sim_test know them: what was asked, what was answered, what was
// seen.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "log/test_lives_topic.hpp"

namespace weir::sim {

// Of a change without an answer nobody knows before the next start.
enum class Fate : std::uint8_t { asked, there, leaving, gone };

struct BrokerTopic {
  std::size_t number = 0;
  std::string name;  // another topic may have it once this one is gone
  Uuid id;
  Fate fate = Fate::asked;
  int refused_deletions = 0;  // each may be true at the next start, until a record that was sent behind it is answered
  log::PartitionRules rules;  // as answered
  std::optional<log::PartitionRules> wanted;  // a change was asked for, and not answered or refused
  int rules_changes = 0;
  int changes_at_start = 0;  // of the life
  int under_name = 0;        // requests under way that know it by its name only
  std::deque<log::LivesTopic> parts;

  // What becomes visible now is durable.
  [[nodiscard]] bool is_safe() const { return !wanted && rules.flush == log::FlushMode::sync; }
  [[nodiscard]] bool was_always_safe() const { return is_safe() && rules_changes == changes_at_start; }
  void may_become(const log::PartitionRules& to) {
    ++rules_changes;
    for (auto& part : parts) {
      part.set_rules(to);
    }
  }
};

inline bool are_same_rules(const log::PartitionRules& left, const log::PartitionRules& right) {
  return left.flush == right.flush && left.retention_ms == right.retention_ms &&
         left.retention_bytes == right.retention_bytes;
}

// A group's committed offset of a partition.
struct Committed {
  std::int64_t answered = -1;
  std::set<std::int64_t> unknown;  // asked for, and not answered or refused
  std::int64_t next = 1;
  bool is_under_way = false;

  [[nodiscard]] bool may_be(std::int64_t offset) const { return offset == answered || unknown.contains(offset); }
};
using GroupKey = std::tuple<std::string, std::size_t, std::int32_t>;  // group, topic, partition

// A batch that a producer has sent.
struct BrokerBatch {
  std::size_t topic = 0;
  std::int32_t part = 0;
  std::vector<std::string> values;
  Millis stamp = -1;
  std::int16_t acks = -1;
  bool is_safe = false;  // when it was sent
  int rules_changes = 0;
  int refused_deletions = 0;  // when it was sent
  std::int32_t base_sequence = -1;
  std::uint64_t session = 0;  // of the connection on which it is under way; 0: on none
  int times_sent = 0;
};

// What all clients together know.
struct Known {
  std::deque<BrokerTopic> topics;
  std::map<GroupKey, Committed> commits;
  std::string why;                    // the first promise that was broken
  std::map<std::string, int> counts;  // of what happened, to see that it does

  void broken(const std::string& what) { why = why.empty() ? what : why; }
  [[nodiscard]] std::string part_name(std::size_t topic, std::int32_t part) const {
    return topics[topic].name + "/" + std::to_string(topic) + "-" + std::to_string(part);
  }
  log::LivesTopic& part(std::size_t topic, std::int32_t index) {
    return topics[topic].parts[static_cast<std::size_t>(index)];
  }
  void learn(std::size_t topic, std::int32_t index, std::int64_t offset, const std::string& value) {
    if (!part(topic, index).facts.contains(value)) {
      broken(part_name(topic, index) + ": offset " + std::to_string(offset) + " holds what nobody sent to it");
    }
    const auto [known, added] = part(topic, index).known.emplace(offset, value);
    if (known->second != value) {
      broken(part_name(topic, index) + ": offset " + std::to_string(offset) + " was given to '" +
             known->second.substr(0, 20) + "' and to '" + value.substr(0, 20) + "'");
    }
  }
};

}  // namespace weir::sim
