#include "base/dynamic_config.hpp"

#include <algorithm>
#include <array>

#include "base/connection_limits.hpp"
#include "base/topic_config.hpp"

namespace weir {
namespace {

using Problem = std::optional<std::string>;

// --- one key ---------------------------------------------------------------------------------------------------------

Problem refuse_scope(const std::string& name, const NamedConfigRow& found, DynamicScope scope) {
  const auto update = found.row != nullptr ? found.row->update : ConfigUpdate::cluster_wide;
  const bool at_start = found.row != nullptr && found.row->handling == ConfigHandling::at_start;
  if (at_start || (!found.of_listener && update == ConfigUpdate::read_only)) {
    return name + " cannot be changed while the broker runs; set it in its config file.";
  }
  if (!found.of_listener && update == ConfigUpdate::per_listener) {
    return name + " is set for one listener: put listener.name.NAME. in front.";
  }
  const bool bounds_connections = found.row != nullptr && found.row->name.starts_with("max.connection");
  const bool one_broker_only = found.of_listener ? !bounds_connections : update == ConfigUpdate::per_broker;
  if (one_broker_only && scope == DynamicScope::all_brokers) {
    return name + " cannot be set for all brokers; name the id of one.";
  }
  return std::nullopt;
}

Problem refuse_key(const DynamicChange& change, const std::string& name, const std::string& value) {
  const auto found = find_dynamic_row(name);
  if (found.row == nullptr && name.starts_with("mq.")) {
    return "There is no broker config " + name + hint_for(config_rows(), name);
  }
  if (auto problem = refuse_scope(name, found, change.scope)) {
    return problem;
  }
  if (found.row == nullptr) {
    return std::nullopt;  // of a plugin, for all that Kafka knows
  }
  if (auto problem = check_value(*found.row, value)) {
    return problem;
  }
  if (found.row->type == ConfigType::class_name && value != change.fixed.value(found.row->name).value_or("")) {
    return "Invalid value " + value + " for configuration " + name + ": this broker has no such class";
  }
  return std::nullopt;
}

// --- several keys together -------------------------------------------------------------------------------------------

std::optional<std::int64_t> number(const Config& config, std::string_view name) {
  const auto text = config.value(name);
  if (!text) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  read_value(*text, value);
  return value;
}

Problem refuse_times(const Config& next) {
  if (number(next, "log.roll.ms").value_or(1) < 1) {
    return "log.roll.ms must be at least 1.";
  }
  if (number(next, "log.retention.ms") == 0) {
    return "log.retention.ms must be at least 1, or -1 for no bound.";
  }
  return std::nullopt;
}

// The local part of a tiered log cannot keep more than the whole; -2 is "as the whole", -1 is "no bound".
Problem refuse_local(std::string_view local_key, std::int64_t local, std::string_view whole_key, std::int64_t whole) {
  if (local == -2 || whole < 0 || (local >= 0 && local <= whole)) {
    return std::nullopt;
  }
  return std::string(local_key) + " (" + std::to_string(local) + ") is larger than " + std::string(whole_key) + " (" +
         std::to_string(whole) + ").";
}

Problem refuse_cleaner(const Config& next) {
  constexpr std::int64_t kBytesPerThread = 1 << 20;
  const auto bytes = number(next, "log.cleaner.dedupe.buffer.size").value_or(0);
  if (bytes < number(next, "log.cleaner.threads").value_or(1) * kBytesPerThread) {
    return "log.cleaner.dedupe.buffer.size must be at least 1048576 for each of log.cleaner.threads.";
  }
  return std::nullopt;
}

// Kafka's rule for its pools of threads: one step at most doubles or halves.
Problem refuse_threads(const Config& now, const Config& next) {
  for (const std::string_view name :
       {"background.threads", "num.io.threads", "num.recovery.threads.per.data.dir", "num.replica.fetchers"}) {
    const auto before = number(now, name).value_or(1);
    const auto after = number(next, name).value_or(1);
    if (after > before * 2 || after < before / 2) {
      return std::string(name) + " (" + std::to_string(before) + " now) cannot be " + std::to_string(after) +
             ": one change at most doubles or halves it.";
    }
  }
  return std::nullopt;
}

struct Between {
  std::string_view name;
  std::string_view low;
  std::string_view high;
};
constexpr std::array kBetween{
    Between{"group.consumer.assignment.interval.ms", "group.consumer.min.assignment.interval.ms",
            "group.consumer.max.assignment.interval.ms"},
    Between{"group.share.assignment.interval.ms", "group.share.min.assignment.interval.ms",
            "group.share.max.assignment.interval.ms"},
    Between{"group.streams.assignment.interval.ms", "group.streams.min.assignment.interval.ms",
            "group.streams.max.assignment.interval.ms"}};

Problem refuse_bounds(const Config& next) {
  for (const auto& [name, low, high] : kBetween) {
    const auto value = number(next, name).value_or(0);
    if (value < number(next, low).value_or(value) || value > number(next, high).value_or(value)) {
      return std::string(name) + " must not be below " + std::string(low) + " or above " + std::string(high) + ".";
    }
  }
  return std::nullopt;
}

Problem refuse_cordoned(const Config& next) {
  const auto folders = split_list(next.value("log.dirs").value_or(next.value("log.dir").value_or("")));
  for (const auto& folder : split_list(next.value("cordoned.log.dirs").value_or(""))) {
    if (folder != "*" && std::ranges::find(folders, folder) == folders.end()) {
      return "cordoned.log.dirs names " + folder + ", which is not one of log.dirs.";
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refuse_dynamic(const DynamicChange& change) {
  const auto& changed = change.scope == DynamicScope::all_brokers ? change.for_all : change.for_this;
  for (const auto& [name, value] : changed) {
    if (auto problem = refuse_key(change, name, value)) {
      return problem;
    }
  }
  const auto next = change.fixed.with_dynamic(change.for_all, change.for_this);
  const TopicConfig topics{{}, next};
  for (auto& problem :
       {refuse_times(next), refuse_cleaner(next), refuse_threads(change.now, next), refuse_bounds(next),
        refuse_cordoned(next), refuse_connection_limits(next),
        refuse_local("log.local.retention.ms", topics.local_retention_ms, "log.retention.ms", topics.retention_ms),
        refuse_local("log.local.retention.bytes", topics.local_retention_bytes, "log.retention.bytes",
                     topics.retention_bytes)}) {
    if (problem) {
      return problem;
    }
  }
  return std::nullopt;
}

}  // namespace weir
