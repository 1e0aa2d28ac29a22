// Made by tools/gen_messages from protocol/schemas/rec-group-01-OffsetCommit.msg. Do not edit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "protocol/types.hpp"

namespace weir::protocol {

class Reader;
class Writer;

struct OffsetCommitKey {
  static constexpr std::string_view kName = "OffsetCommitKey";
  static constexpr std::int16_t kRecordType = 1;
  static constexpr std::int16_t kMinVersion = 0;
  static constexpr std::int16_t kMaxVersion = 0;
  static constexpr std::int16_t kFlexibleFrom = kNeverFlexible;

  Text group;
  Text topic;
  std::int32_t partition = 0;

  friend bool operator==(const OffsetCommitKey&, const OffsetCommitKey&) = default;
};
Result<void> decode(Reader& in, std::int16_t version, OffsetCommitKey& m);
Result<void> encode(Writer& out, std::int16_t version, const OffsetCommitKey& m);
std::string log_string(const OffsetCommitKey& m);

struct OffsetCommitValue {
  static constexpr std::string_view kName = "OffsetCommitValue";
  static constexpr std::int16_t kRecordType = 1;
  static constexpr std::int16_t kMinVersion = 0;
  static constexpr std::int16_t kMaxVersion = 4;
  static constexpr std::int16_t kFlexibleFrom = 4;

  std::int64_t offset = 0;
  std::int32_t leader_epoch = -1;  // v3+
  Text metadata;
  std::int64_t commit_timestamp = 0;
  std::int64_t expire_timestamp = -1;  // v1
  Uuid topic_id;                       // v4+, tag 0
  std::vector<UnknownTag> unknown_tags;

  friend bool operator==(const OffsetCommitValue&, const OffsetCommitValue&) = default;
};
Result<void> decode(Reader& in, std::int16_t version, OffsetCommitValue& m);
Result<void> encode(Writer& out, std::int16_t version, const OffsetCommitValue& m);
std::string log_string(const OffsetCommitValue& m);

}  // namespace weir::protocol
