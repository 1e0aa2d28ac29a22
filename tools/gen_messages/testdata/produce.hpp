// Made by tools/gen_messages from protocol/schemas/api-000-Produce.msg. Do not edit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "protocol/types.hpp"

namespace weir::protocol {

class Reader;
class Writer;

struct ProduceRequest {
  static constexpr std::string_view kName = "ProduceRequest";
  static constexpr std::int16_t kApiKey = 0;
  static constexpr std::int16_t kMinVersion = 3;
  static constexpr std::int16_t kMaxVersion = 13;
  static constexpr std::int16_t kFlexibleFrom = 9;

  struct PartitionProduceData {
    std::int32_t index = 0;
    std::optional<BufferChain> records;
    std::vector<UnknownTag> unknown_tags;
    friend bool operator==(const PartitionProduceData&, const PartitionProduceData&) = default;
  };

  struct TopicProduceData {
    Text name;      // v3-12
    Uuid topic_id;  // v13+
    std::vector<PartitionProduceData> partition_data;
    std::vector<UnknownTag> unknown_tags;
    friend bool operator==(const TopicProduceData&, const TopicProduceData&) = default;
  };

  std::optional<Text> transactional_id;
  std::int16_t acks = 0;
  std::int32_t timeout_ms = 0;
  std::vector<TopicProduceData> topic_data;
  std::vector<UnknownTag> unknown_tags;

  friend bool operator==(const ProduceRequest&, const ProduceRequest&) = default;
};
Result<void> decode(Reader& in, std::int16_t version, ProduceRequest& m);
Result<void> encode(Writer& out, std::int16_t version, const ProduceRequest& m);
std::string log_string(const ProduceRequest& m);

struct ProduceResponse {
  static constexpr std::string_view kName = "ProduceResponse";
  static constexpr std::int16_t kApiKey = 0;
  static constexpr std::int16_t kMinVersion = 3;
  static constexpr std::int16_t kMaxVersion = 13;
  static constexpr std::int16_t kFlexibleFrom = 9;

  struct BatchIndexAndErrorMessage {
    std::int32_t batch_index = 0;
    std::optional<Text> batch_index_error_message;
    std::vector<UnknownTag> unknown_tags;
    friend bool operator==(const BatchIndexAndErrorMessage&, const BatchIndexAndErrorMessage&) = default;
  };

  struct LeaderIdAndEpoch {
    std::int32_t leader_id = -1;
    std::int32_t leader_epoch = -1;
    std::vector<UnknownTag> unknown_tags;
    friend bool operator==(const LeaderIdAndEpoch&, const LeaderIdAndEpoch&) = default;
  };

  struct PartitionProduceResponse {
    std::int32_t index = 0;
    std::int16_t error_code = 0;
    std::int64_t base_offset = 0;
    std::int64_t log_append_time_ms = -1;
    std::int64_t log_start_offset = -1;                    // v5+
    std::vector<BatchIndexAndErrorMessage> record_errors;  // v8+
    std::optional<Text> error_message;                     // v8+
    LeaderIdAndEpoch current_leader;                       // v10+, tag 0
    std::vector<UnknownTag> unknown_tags;
    friend bool operator==(const PartitionProduceResponse&, const PartitionProduceResponse&) = default;
  };

  struct TopicProduceResponse {
    Text name;      // v3-12
    Uuid topic_id;  // v13+
    std::vector<PartitionProduceResponse> partition_responses;
    std::vector<UnknownTag> unknown_tags;
    friend bool operator==(const TopicProduceResponse&, const TopicProduceResponse&) = default;
  };

  struct NodeEndpoint {
    std::int32_t node_id = 0;
    Text host;
    std::int32_t port = 0;
    std::optional<Text> rack;
    std::vector<UnknownTag> unknown_tags;
    friend bool operator==(const NodeEndpoint&, const NodeEndpoint&) = default;
  };

  std::vector<TopicProduceResponse> responses;
  std::int32_t throttle_time_ms = 0;
  std::vector<NodeEndpoint> node_endpoints;  // v10+, tag 0
  std::vector<UnknownTag> unknown_tags;

  friend bool operator==(const ProduceResponse&, const ProduceResponse&) = default;
};
Result<void> decode(Reader& in, std::int16_t version, ProduceResponse& m);
Result<void> encode(Writer& out, std::int16_t version, const ProduceResponse& m);
std::string log_string(const ProduceResponse& m);

}  // namespace weir::protocol
