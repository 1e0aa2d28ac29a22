#include "protocol/record_batch.hpp"

#include "base/crc32c.hpp"

namespace weir::protocol {

Result<RecordBatchView> RecordBatchView::parse(Bytes bytes) {
  // The magic first: batches of the old formats may be shorter than our header and still deserve their own answer.
  if (bytes.size() <= kMagicAt) {
    return Error{Errc::truncated, std::ssize(bytes)};
  }
  const auto magic = load_be<std::int8_t>(bytes, kMagicAt);
  if (magic == 0 || magic == 1) {
    return Error{Errc::unsupported, magic};
  }
  if (magic != kMagic) {
    return Error{Errc::corrupt, magic};
  }
  const auto length = load_be<std::int32_t>(bytes, kLengthAt);
  if (length < kBatchLengthMin) {
    return Error{Errc::corrupt, length};
  }
  const auto total = kLengthEnd + static_cast<std::size_t>(length);
  if (total > bytes.size()) {
    return Error{Errc::truncated, length};
  }
  return RecordBatchView{bytes.first(total)};  // from here on no accessor can fail
}

Result<RecordBatchView> RecordBatchView::parse_whole(Bytes bytes) {
  WEIR_TRY(const auto batch, parse(bytes));
  const auto delta = batch.last_offset_delta();
  if (batch.size() != bytes.size() || delta < 0 || batch.base_offset() < 0 ||
      batch.base_offset() >= INT64_MAX - delta || !batch.crc_ok()) {
    return Error{Errc::corrupt, batch.base_offset()};
  }
  return batch;
}

std::optional<Codec> RecordBatchView::codec() const {
  const auto number = attributes() & kCodecMask;
  if (number > kCodecMax) {
    return std::nullopt;
  }
  return static_cast<Codec>(number);
}

std::optional<Millis> RecordBatchView::delete_horizon() const {
  if ((attributes() & kDeleteHorizonBit) == 0) {
    return std::nullopt;
  }
  return base_timestamp();
}

bool RecordBatchView::crc_ok() const {
  return crc32c(bytes_.subspan(kCrcFrom)) == crc();
}

BatchFacts RecordBatchView::facts() const {
  return {.base_offset = base_offset(),
          .size_bytes = static_cast<std::uint32_t>(bytes_.size()),
          .record_count = record_count(),
          .last_offset_delta = last_offset_delta(),
          .leader_epoch = leader_epoch(),
          .base_timestamp = base_timestamp(),
          .max_timestamp = max_timestamp(),
          .producer_id = producer_id(),
          .producer_epoch = producer_epoch(),
          .attributes = attributes(),
          .base_sequence = base_sequence()};
}

BatchFacts RecordBatchView::facts_of_header(Bytes header, std::uint32_t size_bytes) {
  WEIR_CHECK(header.size() >= kBatchHeaderSize);
  auto facts = RecordBatchView{header}.facts();
  facts.size_bytes = size_bytes;
  return facts;
}

namespace {
MutableBytes first_batch(MutableBytes bytes) {
  const auto view = RecordBatchView::parse(bytes);
  WEIR_CHECK(view.has_value());
  return bytes.first(view->size());
}
}  // namespace

void patch_base_offset(MutableBytes batch, Offset base_offset) {
  WEIR_CHECK(batch.size() >= kBatchHeaderSize);
  store_be(batch, kBaseOffsetAt, base_offset.value);
}

void patch_leader_epoch(MutableBytes batch, LeaderEpoch epoch) {
  WEIR_CHECK(batch.size() >= kBatchHeaderSize);
  store_be(batch, kLeaderEpochAt, epoch.value);
}

void set_max_timestamp(MutableBytes batch, TimestampType type, Millis max_timestamp) {
  const auto mine = first_batch(batch);
  const auto view = RecordBatchView::parse(mine);
  if (view->timestamp_type() == type && view->max_timestamp() == max_timestamp) {
    return;
  }
  auto attributes = static_cast<std::uint16_t>(view->attributes() & kKnownAttributes & ~kLogAppendTimeBit);
  if (type == TimestampType::log_append_time) {
    attributes |= kLogAppendTimeBit;
  }
  store_be(mine, kAttributesAt, attributes);
  store_be(mine, kMaxTimestampAt, max_timestamp);
  renew_crc(mine);
}

void renew_crc(MutableBytes batch) {
  const auto mine = first_batch(batch);
  store_be(mine, kCrcAt, crc32c(mine.subspan(kCrcFrom)));
}

Result<std::optional<RecordBatchView>> BatchChain::next() {
  auto batch = RecordBatchView::parse(rest_);
  if (batch) {
    rest_ = rest_.subspan(batch->size());
    return std::optional{*batch};
  }
  if (batch.error().code == Errc::truncated) {
    return std::optional<RecordBatchView>{};
  }
  return batch.error();
}

}  // namespace weir::protocol
