// Made by tools/gen_messages from protocol/schemas/api-000-Produce.msg. Do not edit.
#include "protocol/gen/produce.hpp"

#include "protocol/log_line.hpp"
#include "protocol/reader.hpp"
#include "protocol/writer.hpp"

namespace weir::protocol {
namespace {

void read(Reader& in, ProduceRequest::PartitionProduceData& m) {
  m.index = in.read_int32();
  m.records = in.read_records();
  in.read_tags(m.unknown_tags);
}

void write(Writer& out, const ProduceRequest::PartitionProduceData& m) {
  out.write_int32(m.index);
  out.write_records(m.records, "Records");
  out.write_tags(m.unknown_tags);
}

void describe(LogLine& log, const ProduceRequest::PartitionProduceData& m) {
  if (m.index != 0) {
    log.field("index", m.index);
  }
  if (m.records.has_value()) {
    log.field("records", m.records);
  }
}

void read(Reader& in, std::int16_t version, ProduceRequest::TopicProduceData& m) {
  if (version <= 12) {
    m.name = in.read_string();
  }
  if (version >= 13) {
    m.topic_id = in.read_uuid();
  }
  in.read_list(m.partition_data, 6, [&](ProduceRequest::PartitionProduceData& each) { read(in, each); });
  in.read_tags(m.unknown_tags);
}

void write(Writer& out, std::int16_t version, const ProduceRequest::TopicProduceData& m) {
  if (version <= 12) {
    out.write_string(m.name);
  }
  if (version >= 13) {
    out.write_uuid(m.topic_id);
  }
  out.write_list(m.partition_data, [&](const ProduceRequest::PartitionProduceData& each) { write(out, each); });
  out.write_tags(m.unknown_tags);
}

void describe(LogLine& log, const ProduceRequest::TopicProduceData& m) {
  if (!m.name.empty()) {
    log.field("name", m.name);
  }
  if (!m.topic_id.is_zero()) {
    log.field("topic_id", m.topic_id);
  }
  if (!m.partition_data.empty()) {
    log.list("partition_data", m.partition_data,
             [&](const ProduceRequest::PartitionProduceData& each) { describe(log, each); });
  }
}

void read(Reader& in, std::int16_t version, ProduceRequest& m) {
  m.transactional_id = in.read_nullable_string();
  m.acks = in.read_int16();
  m.timeout_ms = in.read_int32();
  in.read_list(m.topic_data, 3, [&](ProduceRequest::TopicProduceData& each) { read(in, version, each); });
  in.read_tags(m.unknown_tags);
}

void write(Writer& out, std::int16_t version, const ProduceRequest& m) {
  out.write_nullable_string(m.transactional_id, "TransactionalId");
  out.write_int16(m.acks);
  out.write_int32(m.timeout_ms);
  out.write_list(m.topic_data, [&](const ProduceRequest::TopicProduceData& each) { write(out, version, each); });
  out.write_tags(m.unknown_tags);
}

void describe(LogLine& log, const ProduceRequest& m) {
  if (m.transactional_id.has_value()) {
    log.field("transactional_id", m.transactional_id);
  }
  if (m.acks != 0) {
    log.field("acks", m.acks);
  }
  if (m.timeout_ms != 0) {
    log.field("timeout_ms", m.timeout_ms);
  }
  if (!m.topic_data.empty()) {
    log.list("topic_data", m.topic_data, [&](const ProduceRequest::TopicProduceData& each) { describe(log, each); });
  }
}

}  // namespace

Result<void> decode(Reader& in, std::int16_t version, ProduceRequest& m) {
  if (!has_version<ProduceRequest>(version)) {
    return {Errc::unsupported, version};
  }
  in.set_flexible(version >= ProduceRequest::kFlexibleFrom);
  m = {};
  read(in, version, m);
  return in.result();
}

Result<void> encode(Writer& out, std::int16_t version, const ProduceRequest& m) {
  if (!has_version<ProduceRequest>(version)) {
    return {Errc::unsupported, version};
  }
  out.set_flexible(version >= ProduceRequest::kFlexibleFrom);
  write(out, version, m);
  return out.result();
}

std::string log_string(const ProduceRequest& m) {
  LogLine log{ProduceRequest::kName};
  describe(log, m);
  return log.finish();
}

namespace {

void read(Reader& in, ProduceResponse::BatchIndexAndErrorMessage& m) {
  m.batch_index = in.read_int32();
  m.batch_index_error_message = in.read_nullable_string();
  in.read_tags(m.unknown_tags);
}

void write(Writer& out, const ProduceResponse::BatchIndexAndErrorMessage& m) {
  out.write_int32(m.batch_index);
  out.write_nullable_string(m.batch_index_error_message, "BatchIndexErrorMessage");
  out.write_tags(m.unknown_tags);
}

void describe(LogLine& log, const ProduceResponse::BatchIndexAndErrorMessage& m) {
  if (m.batch_index != 0) {
    log.field("batch_index", m.batch_index);
  }
  if (m.batch_index_error_message.has_value()) {
    log.field("batch_index_error_message", m.batch_index_error_message);
  }
}

void read(Reader& in, ProduceResponse::LeaderIdAndEpoch& m) {
  m.leader_id = in.read_int32();
  m.leader_epoch = in.read_int32();
  in.read_tags(m.unknown_tags);
}

void write(Writer& out, const ProduceResponse::LeaderIdAndEpoch& m) {
  out.write_int32(m.leader_id);
  out.write_int32(m.leader_epoch);
  out.write_tags(m.unknown_tags);
}

void describe(LogLine& log, const ProduceResponse::LeaderIdAndEpoch& m) {
  if (m.leader_id != -1) {
    log.field("leader_id", m.leader_id);
  }
  if (m.leader_epoch != -1) {
    log.field("leader_epoch", m.leader_epoch);
  }
}

void read(Reader& in, std::int16_t version, ProduceResponse::PartitionProduceResponse& m) {
  m.index = in.read_int32();
  m.error_code = in.read_int16();
  m.base_offset = in.read_int64();
  m.log_append_time_ms = in.read_int64();
  if (version >= 5) {
    m.log_start_offset = in.read_int64();
  }
  if (version >= 8) {
    in.read_list(m.record_errors, 6, [&](ProduceResponse::BatchIndexAndErrorMessage& each) { read(in, each); });
    m.error_message = in.read_nullable_string();
  }
  in.read_tags(m.unknown_tags, [&](std::uint32_t tag) {
    switch (tag) {
      case 0:
        if (version < 10) {
          return false;
        }
        read(in, m.current_leader);
        return true;
      default: return false;
    }
  });
}

void write(Writer& out, std::int16_t version, const ProduceResponse::PartitionProduceResponse& m) {
  out.write_int32(m.index);
  out.write_error_code(m.error_code);
  out.write_int64(m.base_offset);
  out.write_int64(m.log_append_time_ms);
  if (version >= 5) {
    out.write_int64(m.log_start_offset);
  }
  if (version >= 8) {
    out.write_list(m.record_errors, [&](const ProduceResponse::BatchIndexAndErrorMessage& each) { write(out, each); });
    out.write_nullable_string(m.error_message, "ErrorMessage");
  }
  TagWriter tags{out, m.unknown_tags};
  if (m.current_leader != ProduceResponse::LeaderIdAndEpoch{}) {
    if (version >= 10) {
      auto& tag = tags.open(0);
      write(tag, m.current_leader);
      tags.close();
    } else {
      out.refuse("CurrentLeader");
    }
  }
  tags.finish();
}

void describe(LogLine& log, const ProduceResponse::PartitionProduceResponse& m) {
  if (m.index != 0) {
    log.field("index", m.index);
  }
  if (m.error_code != 0) {
    log.field("error_code", m.error_code);
  }
  if (m.base_offset != 0) {
    log.field("base_offset", m.base_offset);
  }
  if (m.log_append_time_ms != -1) {
    log.field("log_append_time_ms", m.log_append_time_ms);
  }
  if (m.log_start_offset != -1) {
    log.field("log_start_offset", m.log_start_offset);
  }
  if (!m.record_errors.empty()) {
    log.list("record_errors", m.record_errors,
             [&](const ProduceResponse::BatchIndexAndErrorMessage& each) { describe(log, each); });
  }
  if (m.error_message.has_value()) {
    log.field("error_message", m.error_message);
  }
  if (m.current_leader != ProduceResponse::LeaderIdAndEpoch{}) {
    log.nested("current_leader", m.current_leader,
               [&](const ProduceResponse::LeaderIdAndEpoch& each) { describe(log, each); });
  }
}

void read(Reader& in, std::int16_t version, ProduceResponse::TopicProduceResponse& m) {
  if (version <= 12) {
    m.name = in.read_string();
  }
  if (version >= 13) {
    m.topic_id = in.read_uuid();
  }
  in.read_list(m.partition_responses, 22,
               [&](ProduceResponse::PartitionProduceResponse& each) { read(in, version, each); });
  in.read_tags(m.unknown_tags);
}

void write(Writer& out, std::int16_t version, const ProduceResponse::TopicProduceResponse& m) {
  if (version <= 12) {
    out.write_string(m.name);
  }
  if (version >= 13) {
    out.write_uuid(m.topic_id);
  }
  out.write_list(m.partition_responses,
                 [&](const ProduceResponse::PartitionProduceResponse& each) { write(out, version, each); });
  out.write_tags(m.unknown_tags);
}

void describe(LogLine& log, const ProduceResponse::TopicProduceResponse& m) {
  if (!m.name.empty()) {
    log.field("name", m.name);
  }
  if (!m.topic_id.is_zero()) {
    log.field("topic_id", m.topic_id);
  }
  if (!m.partition_responses.empty()) {
    log.list("partition_responses", m.partition_responses,
             [&](const ProduceResponse::PartitionProduceResponse& each) { describe(log, each); });
  }
}

void read(Reader& in, ProduceResponse::NodeEndpoint& m) {
  m.node_id = in.read_int32();
  m.host = in.read_string();
  m.port = in.read_int32();
  m.rack = in.read_nullable_string();
  in.read_tags(m.unknown_tags);
}

void write(Writer& out, const ProduceResponse::NodeEndpoint& m) {
  out.write_int32(m.node_id);
  out.write_string(m.host);
  out.write_int32(m.port);
  out.write_nullable_string(m.rack, "Rack");
  out.write_tags(m.unknown_tags);
}

void describe(LogLine& log, const ProduceResponse::NodeEndpoint& m) {
  if (m.node_id != 0) {
    log.field("node_id", m.node_id);
  }
  if (!m.host.empty()) {
    log.field("host", m.host);
  }
  if (m.port != 0) {
    log.field("port", m.port);
  }
  if (m.rack.has_value()) {
    log.field("rack", m.rack);
  }
}

void read(Reader& in, std::int16_t version, ProduceResponse& m) {
  in.read_list(m.responses, 3, [&](ProduceResponse::TopicProduceResponse& each) { read(in, version, each); });
  m.throttle_time_ms = in.read_int32();
  in.read_tags(m.unknown_tags, [&](std::uint32_t tag) {
    switch (tag) {
      case 0:
        if (version < 10) {
          return false;
        }
        in.read_list(m.node_endpoints, 11, [&](ProduceResponse::NodeEndpoint& each) { read(in, each); });
        return true;
      default: return false;
    }
  });
}

void write(Writer& out, std::int16_t version, const ProduceResponse& m) {
  out.write_list(m.responses, [&](const ProduceResponse::TopicProduceResponse& each) { write(out, version, each); });
  out.write_int32(m.throttle_time_ms);
  TagWriter tags{out, m.unknown_tags};
  if (!m.node_endpoints.empty()) {
    if (version >= 10) {
      auto& tag = tags.open(0);
      tag.write_list(m.node_endpoints, [&](const ProduceResponse::NodeEndpoint& each) { write(tag, each); });
      tags.close();
    } else {
      out.refuse("NodeEndpoints");
    }
  }
  tags.finish();
}

void describe(LogLine& log, const ProduceResponse& m) {
  if (!m.responses.empty()) {
    log.list("responses", m.responses, [&](const ProduceResponse::TopicProduceResponse& each) { describe(log, each); });
  }
  if (m.throttle_time_ms != 0) {
    log.field("throttle_time_ms", m.throttle_time_ms);
  }
  if (!m.node_endpoints.empty()) {
    log.list("node_endpoints", m.node_endpoints,
             [&](const ProduceResponse::NodeEndpoint& each) { describe(log, each); });
  }
}

}  // namespace

Result<void> decode(Reader& in, std::int16_t version, ProduceResponse& m) {
  if (!has_version<ProduceResponse>(version)) {
    return {Errc::unsupported, version};
  }
  in.set_flexible(version >= ProduceResponse::kFlexibleFrom);
  m = {};
  read(in, version, m);
  return in.result();
}

Result<void> encode(Writer& out, std::int16_t version, const ProduceResponse& m) {
  if (!has_version<ProduceResponse>(version)) {
    return {Errc::unsupported, version};
  }
  out.set_flexible(version >= ProduceResponse::kFlexibleFrom);
  write(out, version, m);
  return out.result();
}

std::string log_string(const ProduceResponse& m) {
  LogLine log{ProduceResponse::kName};
  describe(log, m);
  return log.finish();
}

}  // namespace weir::protocol
