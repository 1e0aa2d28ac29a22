// The records of `__consumer_offsets`, byte for byte as Kafka 4.4 writes them: committed offsets (key type 1, value
// version 4, or 1 with an explicit expiry) and classic groups (key type 2, value version 3). Pure, any thread. The only
// place of the coordinator that knows their generated codecs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"

namespace weir::group {

// One record to append. No value: a tombstone.
struct LogRecord {
  std::vector<std::byte> key;
  std::optional<std::vector<std::byte>> value;
  [[nodiscard]] std::size_t size() const { return key.size() + (value ? value->size() : 0); }
};

struct OffsetKey {
  std::string group;
  std::string topic;
  std::int32_t partition = 0;
  friend auto operator<=>(const OffsetKey&, const OffsetKey&) = default;
};

struct CommittedOffset {
  std::int64_t offset = -1;
  std::int32_t leader_epoch = -1;
  std::string metadata;
  Millis commit_ms = 0;             // wall time
  std::optional<Millis> expire_ms;  // only when an old client named a retention
  Uuid topic_id;                    // zero: not known
  friend bool operator==(const CommittedOffset&, const CommittedOffset&) = default;
};

struct MemberValue {
  std::string member_id;
  std::optional<std::string> instance_id;
  std::string client_id;
  std::string client_host;
  std::int32_t rebalance_timeout_ms = -1;
  std::int32_t session_timeout_ms = 0;
  SharedBytes subscription;
  SharedBytes assignment;
};

struct GroupValue {
  std::string protocol_type;
  std::int32_t generation = 0;
  std::optional<std::string> protocol;
  std::optional<std::string> leader;
  Millis state_since_ms = -1;  // wall time; -1: not known
  std::vector<MemberValue> members;
};

LogRecord offset_record(const OffsetKey& key, const CommittedOffset& value);
LogRecord offset_tombstone(const OffsetKey& key);
LogRecord group_record(std::string_view group_id, const GroupValue& value);
LogRecord group_tombstone(std::string_view group_id);

struct OffsetRecord {
  OffsetKey key;
  std::optional<CommittedOffset> value;
};
struct GroupRecord {
  std::string group_id;
  std::optional<GroupValue> value;
};
struct UnknownRecord {  // a kind of a later build; detail for the log
  std::int16_t type = -1;
};
using ParsedRecord = std::variant<OffsetRecord, GroupRecord, UnknownRecord>;

// truncated, corrupt, or unsupported (detail: the value's version). Never aborts on foreign bytes.
Result<ParsedRecord> parse_record(Bytes key, std::optional<Bytes> value);

// Topics that a member of the consumer protocol subscribes to, from the part all versions share. nullopt if malformed.
std::optional<std::vector<std::string>> subscribed_topics(Bytes metadata);

struct AssignedTopic {
  std::string topic;
  std::vector<std::int32_t> partitions;
};
// What such a member was assigned. nullopt if malformed; no bytes are no partitions.
std::optional<std::vector<AssignedTopic>> assigned_partitions(Bytes assignment);

// The partition of `__consumer_offsets` that owns a group: Java's String.hashCode without the sign, modulo the count.
std::int32_t partition_of_group(std::string_view group_id, std::int32_t partition_count);
// Java's String.hashCode of UTF-8 text (malformed bytes count as U+FFFD each).
std::int32_t java_hash(std::string_view utf8);

}  // namespace weir::group
