// Small pieces that several plans share.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/config.hpp"
#include "coordinator/metadata/data_folder.hpp"
#include "coordinator/metadata/image.hpp"
#include "coordinator/metadata/record_frame.hpp"
#include "protocol/errors.hpp"

namespace weir::metadata {

struct Refusal {
  protocol::ErrorCode error;
  std::string text;
};

template <class Result>
void refuse(Result& result, Refusal refusal) {
  result.error_code = static_cast<std::int16_t>(refusal.error);
  result.error_message = protocol::Text{refusal.text};
}

// Keys that stand more than once in a list.
template <class Items, class KeyOf>
auto duplicate_keys(const Items& items, KeyOf key_of) {
  using Key = decltype(key_of(items.front()));
  std::set<Key> seen;
  std::set<Key> twice;
  for (const auto& item : items) {
    if (!seen.insert(key_of(item)).second) {
      twice.insert(key_of(item));
    }
  }
  return twice;
}

// One sentence why a topic may not have these overrides together, or nullopt if it may.
std::optional<std::string> refuse_overrides(const ConfigOverrides& overrides, const Config& broker);

// Where a topic's records live is fixed when it is made: what the broker's default says then becomes an override of its
// own. An internal topic, and one that is compacted, is never a memory topic by default.
inline constexpr std::string_view kStorageKey = "mq.storage";
inline constexpr std::string_view kStorageMemory = "memory";
void settle_storage(const std::string& topic, ConfigOverrides& overrides, const Config& broker);

// nullopt removes the override.
void add_config(RecordList& records, const ConfigResource& resource, const std::string& name,
                const std::optional<std::string>& value);

// A partition whose only replica is here, in its first epoch.
PartitionState new_partition(const Identity& identity);

}  // namespace weir::metadata
