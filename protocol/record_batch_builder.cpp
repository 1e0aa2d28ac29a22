#include <algorithm>

#include "base/varint.hpp"
#include "protocol/record.hpp"

namespace weir::protocol {
namespace {

std::size_t nullable_size(const std::optional<Bytes>& bytes) {
  return bytes ? varint_size(std::ssize(*bytes)) + bytes->size() : varint_size(-1);
}

void append_bytes(std::vector<std::byte>& out, Bytes bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_nullable(std::vector<std::byte>& out, const std::optional<Bytes>& bytes) {
  append_varint(out, bytes ? std::ssize(*bytes) : -1);
  if (bytes) {
    append_bytes(out, *bytes);
  }
}

}  // namespace

void RecordBatchBuilder::append(const RecordInput& record) {
  if (count_ == 0) {
    base_timestamp_ = record.timestamp;
    max_timestamp_ = record.timestamp;
  }
  max_timestamp_ = std::max(max_timestamp_, record.timestamp);
  const auto delta = wrapping_sub(record.timestamp, base_timestamp_);
  auto body = 1 + varint_size(delta) + varint_size(count_) + nullable_size(record.key) + nullable_size(record.value) +
              varint_size(std::ssize(record.headers));
  for (const auto& header : record.headers) {
    body += nullable_size(as_bytes(header.key)) + nullable_size(header.value);
  }
  append_varint(payload_, static_cast<std::int64_t>(body));
  const auto start = payload_.size();
  payload_.push_back(std::byte{0});
  append_varint(payload_, delta);
  append_varint(payload_, count_);
  append_nullable(payload_, record.key);
  append_nullable(payload_, record.value);
  append_varint(payload_, std::ssize(record.headers));
  for (const auto& header : record.headers) {
    append_nullable(payload_, as_bytes(header.key));
    append_nullable(payload_, header.value);
  }
  WEIR_CHECK(payload_.size() - start == body);
  ++count_;
}

Result<std::vector<std::byte>> RecordBatchBuilder::build() {
  WEIR_CHECK(count_ > 0);
  BatchFacts header{.base_offset = options_.base_offset.value,
                    .record_count = count_,
                    .last_offset_delta = count_ - 1,
                    .leader_epoch = options_.leader_epoch.value,
                    .base_timestamp = base_timestamp_,
                    .max_timestamp = max_timestamp_,
                    .producer_id = options_.producer_id,
                    .producer_epoch = options_.producer_epoch,
                    .attributes = static_cast<std::uint16_t>(options_.codec),
                    .base_sequence = options_.base_sequence};
  header.attributes |= options_.transactional ? kTransactionalBit : std::uint16_t{0};
  header.attributes |= options_.control ? kControlBit : std::uint16_t{0};
  count_ = 0;
  if (options_.codec == Codec::none) {
    return wrap_records(header, std::exchange(payload_, {}));
  }
  WEIR_TRY(const auto packed, compress(options_.codec, std::exchange(payload_, {}), options_.level));
  return wrap_records(header, packed);
}

Result<ValidBatch> RecordBatchBuilder::build_valid() {
  WEIR_TRY(auto bytes, build());
  return ValidBatch{SharedBytes::adopt(std::move(bytes))};
}

Result<std::vector<std::byte>> wrap_records(const BatchFacts& header, Bytes payload) {
  const auto total = kBatchHeaderSize + payload.size();
  if (total - kLengthEnd > INT32_MAX) {
    return Error{Errc::too_large, static_cast<std::int64_t>(total)};
  }
  std::vector<std::byte> batch;
  batch.reserve(total);
  batch.resize(kBatchHeaderSize);
  append_bytes(batch, payload);
  store_be(batch, kBaseOffsetAt, header.base_offset);
  store_be(batch, kLengthAt, static_cast<std::int32_t>(total - kLengthEnd));
  store_be(batch, kLeaderEpochAt, header.leader_epoch);
  store_be(batch, kMagicAt, kMagic);
  store_be(batch, kAttributesAt, header.attributes);
  store_be(batch, kLastOffsetDeltaAt, header.last_offset_delta);
  store_be(batch, kBaseTimestampAt, header.base_timestamp);
  store_be(batch, kMaxTimestampAt, header.max_timestamp);
  store_be(batch, kProducerIdAt, header.producer_id);
  store_be(batch, kProducerEpochAt, header.producer_epoch);
  store_be(batch, kBaseSequenceAt, header.base_sequence);
  store_be(batch, kRecordCountAt, header.record_count);
  renew_crc(batch);
  return batch;
}

}  // namespace weir::protocol
