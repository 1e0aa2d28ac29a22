// Messages that live in records: coordinator keys and values (__consumer_offsets, __transaction_state,
// __share_group_state) and metadata records (__cluster_metadata). Pure functions; any thread.
//   coordinator key   = int16 record type, body in version 0
//   coordinator value = int16 version, body
//   metadata value    = varint frame version 1, varint API key, varint version, body
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "protocol/codec.hpp"

namespace weir::protocol {

template <class Key>
std::vector<std::byte> encode_coordinator_key(const Key& key) {
  Writer out;
  out.write_int16(Key::kRecordType);
  WEIR_CHECK(encode(out, 0, key).has_value());  // ids that came over the wire always fit
  return out.finish().flatten();
}

template <class Value>
Result<std::vector<std::byte>> encode_coordinator_value(const Value& value, std::int16_t version) {
  Writer out;
  out.write_int16(version);
  WEIR_TRY_VOID(encode(out, version, value));
  return out.finish().flatten();
}

// The record type of a key, or the version of a value.
Result<std::int16_t> peek_record_type(Bytes key);

template <class Key>
Result<Key> decode_coordinator_key(Bytes bytes) {
  WEIR_TRY(const auto type, peek_record_type(bytes));
  if (type != Key::kRecordType) {
    return {Errc::invalid_argument, type};
  }
  return decode_all<Key>(bytes.subspan(sizeof(type)), 0, Trailing::refuse);
}

// Errc::unsupported for a version newer than this build knows.
template <class Value>
Result<Value> decode_coordinator_value(Bytes bytes) {
  WEIR_TRY(const auto version, peek_record_type(bytes));
  return decode_all<Value>(bytes.subspan(sizeof(version)), version, Trailing::refuse);
}

struct MetadataFrame {
  std::int16_t api_key = -1;
  std::int16_t version = -1;
  Bytes body;
};
Result<MetadataFrame> peek_metadata_record(Bytes record);
void write_metadata_frame(Writer& out, std::int16_t api_key, std::int16_t version);

template <class Record>
Result<std::vector<std::byte>> encode_metadata_record(const Record& record, std::int16_t version) {
  Writer out;
  write_metadata_frame(out, Record::kApiKey, version);
  WEIR_TRY_VOID(encode(out, version, record));
  return out.finish().flatten();
}

template <class Record>
Result<Record> decode_metadata_record(Bytes bytes) {
  WEIR_TRY(const auto frame, peek_metadata_record(bytes));
  if (frame.api_key != Record::kApiKey) {
    return {Errc::invalid_argument, frame.api_key};
  }
  return decode_all<Record>(frame.body, frame.version, Trailing::refuse);
}

}  // namespace weir::protocol
