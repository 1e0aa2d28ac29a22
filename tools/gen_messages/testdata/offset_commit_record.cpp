// Made by tools/gen_messages from protocol/schemas/rec-group-01-OffsetCommit.msg. Do not edit.
#include "protocol/gen/offset_commit_record.hpp"

#include "protocol/log_line.hpp"
#include "protocol/reader.hpp"
#include "protocol/writer.hpp"

namespace weir::protocol {
namespace {

void read(Reader& in, OffsetCommitKey& m) {
  m.group = in.read_string();
  m.topic = in.read_string();
  m.partition = in.read_int32();
}

void write(Writer& out, const OffsetCommitKey& m) {
  out.write_string(m.group);
  out.write_string(m.topic);
  out.write_int32(m.partition);
}

void describe(LogLine& log, const OffsetCommitKey& m) {
  if (!m.group.empty()) {
    log.field("group", m.group);
  }
  if (!m.topic.empty()) {
    log.field("topic", m.topic);
  }
  if (m.partition != 0) {
    log.field("partition", m.partition);
  }
}

}  // namespace

Result<void> decode(Reader& in, std::int16_t version, OffsetCommitKey& m) {
  if (!has_version<OffsetCommitKey>(version)) {
    return {Errc::unsupported, version};
  }
  in.set_flexible(version >= OffsetCommitKey::kFlexibleFrom);
  m = {};
  read(in, m);
  return in.result();
}

Result<void> encode(Writer& out, std::int16_t version, const OffsetCommitKey& m) {
  if (!has_version<OffsetCommitKey>(version)) {
    return {Errc::unsupported, version};
  }
  out.set_flexible(version >= OffsetCommitKey::kFlexibleFrom);
  write(out, m);
  return out.result();
}

std::string log_string(const OffsetCommitKey& m) {
  LogLine log{OffsetCommitKey::kName};
  describe(log, m);
  return log.finish();
}

namespace {

void read(Reader& in, std::int16_t version, OffsetCommitValue& m) {
  m.offset = in.read_int64();
  if (version >= 3) {
    m.leader_epoch = in.read_int32();
  }
  m.metadata = in.read_string();
  m.commit_timestamp = in.read_int64();
  if (version == 1) {
    m.expire_timestamp = in.read_int64();
  }
  in.read_tags(m.unknown_tags, [&](std::uint32_t tag) {
    switch (tag) {
      case 0: m.topic_id = in.read_uuid(); return true;
      default: return false;
    }
  });
}

void write(Writer& out, std::int16_t version, const OffsetCommitValue& m) {
  out.write_int64(m.offset);
  if (version >= 3) {
    out.write_int32(m.leader_epoch);
  }
  out.write_string(m.metadata);
  out.write_int64(m.commit_timestamp);
  if (version == 1) {
    out.write_int64(m.expire_timestamp);
  }
  TagWriter tags{out, m.unknown_tags};
  if (version >= 4 && !m.topic_id.is_zero()) {
    auto& tag = tags.open(0);
    tag.write_uuid(m.topic_id);
    tags.close();
  }
  tags.finish();
}

void describe(LogLine& log, const OffsetCommitValue& m) {
  if (m.offset != 0) {
    log.field("offset", m.offset);
  }
  if (m.leader_epoch != -1) {
    log.field("leader_epoch", m.leader_epoch);
  }
  if (!m.metadata.empty()) {
    log.field("metadata", m.metadata);
  }
  if (m.commit_timestamp != 0) {
    log.field("commit_timestamp", m.commit_timestamp);
  }
  if (m.expire_timestamp != -1) {
    log.field("expire_timestamp", m.expire_timestamp);
  }
  if (!m.topic_id.is_zero()) {
    log.field("topic_id", m.topic_id);
  }
}

}  // namespace

Result<void> decode(Reader& in, std::int16_t version, OffsetCommitValue& m) {
  if (!has_version<OffsetCommitValue>(version)) {
    return {Errc::unsupported, version};
  }
  in.set_flexible(version >= OffsetCommitValue::kFlexibleFrom);
  m = {};
  read(in, version, m);
  return in.result();
}

Result<void> encode(Writer& out, std::int16_t version, const OffsetCommitValue& m) {
  if (!has_version<OffsetCommitValue>(version)) {
    return {Errc::unsupported, version};
  }
  out.set_flexible(version >= OffsetCommitValue::kFlexibleFrom);
  write(out, version, m);
  return out.result();
}

std::string log_string(const OffsetCommitValue& m) {
  LogLine log{OffsetCommitValue::kName};
  describe(log, m);
  return log.finish();
}

}  // namespace weir::protocol
