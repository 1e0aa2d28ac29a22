#include "coordinator/group_records.hpp"

#include "protocol/codec.hpp"
#include "protocol/gen/consumer_protocol_assignment.hpp"
#include "protocol/gen/group_metadata_record.hpp"
#include "protocol/gen/legacy_offset_commit_record.hpp"
#include "protocol/gen/offset_commit_record.hpp"

namespace weir::group {
namespace {

using protocol::GroupMetadataKey;
using protocol::GroupMetadataValue;
using protocol::LegacyOffsetCommitKey;
using protocol::LegacyOffsetCommitValue;
using protocol::OffsetCommitKey;
using protocol::OffsetCommitValue;

constexpr std::int16_t kOffsetValueVersion = 4;            // what Kafka 4.4 writes
constexpr std::int16_t kOffsetValueVersionWithExpiry = 1;  // the only one that has the field
constexpr std::int16_t kGroupValueVersion = 3;

// An int16 (the record type of a key, the version of a value), then the message.
template <class M>
std::vector<std::byte> with_number(std::int16_t number, const M& message, std::int16_t version) {
  auto body = protocol::encode_all(message, version);
  WEIR_CHECK(body);  // strings come from requests and records, which had the same limits
  std::vector<std::byte> bytes(sizeof number);
  store_be(bytes, 0, number);
  bytes.insert(bytes.end(), body->begin(), body->end());
  return bytes;
}
template <class M>
std::vector<std::byte> key_bytes(const M& key) {
  return with_number(M::kRecordType, key, 0);
}
template <class M>
std::vector<std::byte> value_bytes(const M& value, std::int16_t version) {
  return with_number(version, value, version);
}

template <class M>
Result<M> parse_value(Bytes bytes) {
  if (bytes.size() < sizeof(std::int16_t)) {
    return Errc::truncated;
  }
  const auto version = load_be<std::int16_t>(bytes, 0);
  if (version < M::kMinVersion || version > M::kMaxVersion) {
    return Error{Errc::unsupported, version};
  }
  return protocol::decode_all<M>(bytes.subspan(sizeof version), version, protocol::Trailing::refuse);
}

std::optional<protocol::Text> text(const std::optional<std::string>& from) {
  return from ? std::optional<protocol::Text>{*from} : std::nullopt;
}
std::optional<std::string> string(const std::optional<protocol::Text>& from) {
  return from ? std::optional{from->str()} : std::nullopt;
}
SharedBytes shared(const protocol::Blob& from) {
  return SharedBytes::copy_of(from.view());
}

OffsetCommitKey to_message(const OffsetKey& key) {
  OffsetCommitKey message;
  message.group = key.group;
  message.topic = key.topic;
  message.partition = key.partition;
  return message;
}

CommittedOffset from_message(const OffsetCommitValue& message) {
  CommittedOffset value;
  value.offset = message.offset;
  value.leader_epoch = message.leader_epoch;
  value.metadata = message.metadata.str();
  value.commit_ms = message.commit_timestamp;
  if (message.expire_timestamp != -1) {
    value.expire_ms = message.expire_timestamp;
  }
  value.topic_id = message.topic_id;
  return value;
}

GroupValue from_message(const GroupMetadataValue& message) {
  GroupValue value;
  value.protocol_type = message.protocol_type.str();
  value.generation = message.generation;
  value.protocol = string(message.protocol);
  value.leader = string(message.leader);
  value.state_since_ms = message.current_state_timestamp;
  for (const auto& one : message.members) {
    MemberValue member;
    member.member_id = one.member_id.str();
    member.instance_id = string(one.group_instance_id);
    member.client_id = one.client_id.str();
    member.client_host = one.client_host.str();
    member.rebalance_timeout_ms = one.rebalance_timeout;
    member.session_timeout_ms = one.session_timeout;
    member.subscription = shared(one.subscription);
    member.assignment = shared(one.assignment);
    value.members.push_back(std::move(member));
  }
  return value;
}

Result<ParsedRecord> parse_legacy_offset(Bytes body, std::optional<Bytes> value) {
  WEIR_TRY(const auto key, protocol::decode_all<LegacyOffsetCommitKey>(body, 0, protocol::Trailing::refuse));
  OffsetRecord record{{key.group.str(), key.topic.str(), key.partition}, {}};
  if (value) {
    WEIR_TRY(const auto message, parse_value<LegacyOffsetCommitValue>(*value));
    record.value = CommittedOffset{message.offset, -1, message.metadata.str(), message.commit_timestamp, {}, {}};
  }
  return ParsedRecord{std::move(record)};
}

Result<ParsedRecord> parse_offset(Bytes body, std::optional<Bytes> value) {
  WEIR_TRY(const auto key, protocol::decode_all<OffsetCommitKey>(body, 0, protocol::Trailing::refuse));
  OffsetRecord record{{key.group.str(), key.topic.str(), key.partition}, {}};
  if (value) {
    WEIR_TRY(const auto message, parse_value<OffsetCommitValue>(*value));
    record.value = from_message(message);
  }
  return ParsedRecord{std::move(record)};
}

Result<ParsedRecord> parse_group(Bytes body, std::optional<Bytes> value) {
  WEIR_TRY(const auto key, protocol::decode_all<GroupMetadataKey>(body, 0, protocol::Trailing::refuse));
  GroupRecord record{key.group.str(), {}};
  if (value) {
    WEIR_TRY(const auto message, parse_value<GroupMetadataValue>(*value));
    record.value = from_message(message);
  }
  return ParsedRecord{std::move(record)};
}

}  // namespace

LogRecord offset_record(const OffsetKey& key, const CommittedOffset& value) {
  OffsetCommitValue message;
  message.offset = value.offset;
  message.leader_epoch = value.leader_epoch;
  message.metadata = value.metadata;
  message.commit_timestamp = value.commit_ms;
  message.expire_timestamp = value.expire_ms.value_or(-1);
  message.topic_id = value.topic_id;
  const auto version = value.expire_ms ? kOffsetValueVersionWithExpiry : kOffsetValueVersion;
  return {key_bytes(to_message(key)), value_bytes(message, version)};
}

LogRecord offset_tombstone(const OffsetKey& key) {
  return {key_bytes(to_message(key)), {}};
}

LogRecord group_record(std::string_view group_id, const GroupValue& value) {
  GroupMetadataValue message;
  message.protocol_type = value.protocol_type;
  message.generation = value.generation;
  message.protocol = text(value.protocol);
  message.leader = text(value.leader);
  message.current_state_timestamp = value.state_since_ms;
  for (const auto& one : value.members) {
    auto& member = message.members.emplace_back();
    member.member_id = one.member_id;
    member.group_instance_id = text(one.instance_id);
    member.client_id = one.client_id;
    member.client_host = one.client_host;
    member.rebalance_timeout = one.rebalance_timeout_ms;
    member.session_timeout = one.session_timeout_ms;
    member.subscription = protocol::Blob::borrow(one.subscription.view());
    member.assignment = protocol::Blob::borrow(one.assignment.view());
  }
  auto record = group_tombstone(group_id);
  record.value = value_bytes(message, kGroupValueVersion);
  return record;
}

LogRecord group_tombstone(std::string_view group_id) {
  GroupMetadataKey key;
  key.group = group_id;
  return {key_bytes(key), {}};
}

Result<ParsedRecord> parse_record(Bytes key, std::optional<Bytes> value) {
  if (key.size() < sizeof(std::int16_t)) {
    return Errc::truncated;
  }
  const auto type = load_be<std::int16_t>(key, 0);
  const auto body = key.subspan(sizeof type);
  switch (type) {
    case LegacyOffsetCommitKey::kRecordType: return parse_legacy_offset(body, value);
    case OffsetCommitKey::kRecordType: return parse_offset(body, value);
    case GroupMetadataKey::kRecordType: return parse_group(body, value);
    default: return ParsedRecord{UnknownRecord{type}};
  }
}

std::optional<std::vector<std::string>> subscribed_topics(Bytes metadata) {
  // int16 version, then in every version first a list of topic names.
  protocol::Reader in{metadata};
  const auto version = in.read_int16();
  std::vector<protocol::Text> topics;
  in.read_list(topics);
  if (!in.ok() || version < 0) {
    return std::nullopt;
  }
  return std::vector<std::string>(topics.begin(), topics.end());
}

std::optional<std::vector<AssignedTopic>> assigned_partitions(Bytes assignment) {
  std::vector<AssignedTopic> topics;
  if (assignment.empty()) {
    return topics;
  }
  protocol::Reader in{assignment};
  // A later version than ours begins with what we know.
  const auto version = std::min(in.read_int16(), protocol::ConsumerProtocolAssignment::kMaxVersion);
  protocol::ConsumerProtocolAssignment read;
  if (!in.ok() || version < 0 || !decode(in, version, read)) {
    return std::nullopt;
  }
  for (auto& topic : read.assigned_partitions) {
    topics.push_back({topic.topic.str(), std::move(topic.partitions)});
  }
  return topics;
}

}  // namespace weir::group
