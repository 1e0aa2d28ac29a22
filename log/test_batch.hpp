// Record batches for the tests of this folder: true ones (records, counts, checksum), made byte by byte.
#pragma once

#include <string>
#include <vector>

#include "protocol/record_batch.hpp"

namespace weir::log {

struct TestBatch {
  std::int64_t base_offset = 0;
  std::vector<std::string> values{"v"};
  Millis timestamp = 1'700'000'000'000;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;
  std::int32_t base_sequence = -1;
  std::int32_t leader_epoch = 0;
};

inline void put_test_varint(std::vector<std::byte>& out, std::int64_t value) {
  auto rest = (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
  for (; rest >= 0x80U; rest >>= 7U) {
    out.push_back(static_cast<std::byte>(rest | 0x80U));
  }
  out.push_back(static_cast<std::byte>(rest));
}

inline std::vector<std::byte> make_batch(const TestBatch& facts) {
  std::vector<std::byte> out(protocol::kBatchHeaderSize);
  std::int64_t delta = 0;
  for (const auto& value : facts.values) {
    std::vector<std::byte> record{std::byte{0}};  // attributes
    put_test_varint(record, 0);                   // timestamp delta
    put_test_varint(record, delta++);
    put_test_varint(record, -1);  // no key
    put_test_varint(record, static_cast<std::int64_t>(value.size()));
    const auto text = as_bytes(value);
    record.insert(record.end(), text.begin(), text.end());
    put_test_varint(record, 0);  // no headers
    put_test_varint(out, static_cast<std::int64_t>(record.size()));
    out.insert(out.end(), record.begin(), record.end());
  }
  const auto count = static_cast<std::int32_t>(facts.values.size());
  store_be(out, protocol::kBaseOffsetAt, facts.base_offset);
  store_be(out, protocol::kLengthAt, static_cast<std::int32_t>(out.size() - protocol::kLengthEnd));
  store_be(out, protocol::kLeaderEpochAt, facts.leader_epoch);
  store_be(out, protocol::kMagicAt, protocol::kMagic);
  store_be(out, protocol::kAttributesAt, std::uint16_t{0});
  store_be(out, protocol::kLastOffsetDeltaAt, count - 1);
  store_be(out, protocol::kBaseTimestampAt, facts.timestamp);
  store_be(out, protocol::kMaxTimestampAt, facts.timestamp);
  store_be(out, protocol::kProducerIdAt, facts.producer_id);
  store_be(out, protocol::kProducerEpochAt, facts.producer_epoch);
  store_be(out, protocol::kBaseSequenceAt, facts.base_sequence);
  store_be(out, protocol::kRecordCountAt, count);
  protocol::renew_crc(out);
  return out;
}

}  // namespace weir::log
