// A record batch of format 2 as it travels and as it is stored: 61 header bytes, big-endian, then records, perhaps
// compressed. RecordBatchView borrows the bytes; whoever made the view keeps them alive. Pure, any thread.
//
// The checksum covers everything from the attributes to the end, so base offset, length, leader epoch and magic may be
// patched in place without it. Records themselves: protocol/record.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "base/compression.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"

namespace weir::protocol {

inline constexpr std::size_t kBaseOffsetAt = 0;
inline constexpr std::size_t kLengthAt = 8;
inline constexpr std::size_t kLengthEnd = 12;  // what the length field counts begins here
inline constexpr std::size_t kLeaderEpochAt = 12;
inline constexpr std::size_t kMagicAt = 16;
inline constexpr std::size_t kCrcAt = 17;
inline constexpr std::size_t kAttributesAt = 21;
inline constexpr std::size_t kCrcFrom = kAttributesAt;  // the checksum covers the bytes from here to the end
inline constexpr std::size_t kLastOffsetDeltaAt = 23;
inline constexpr std::size_t kBaseTimestampAt = 27;
inline constexpr std::size_t kMaxTimestampAt = 35;
inline constexpr std::size_t kProducerIdAt = 43;
inline constexpr std::size_t kProducerEpochAt = 51;
inline constexpr std::size_t kBaseSequenceAt = 53;
inline constexpr std::size_t kRecordCountAt = 57;
inline constexpr std::size_t kBatchHeaderSize = 61;
inline constexpr std::int32_t kBatchLengthMin = static_cast<std::int32_t>(kBatchHeaderSize - kLengthEnd);
inline constexpr std::int8_t kMagic = 2;

inline constexpr std::uint16_t kCodecMask = 0x0007;
inline constexpr std::uint16_t kLogAppendTimeBit = 0x0008;
inline constexpr std::uint16_t kTransactionalBit = 0x0010;
inline constexpr std::uint16_t kControlBit = 0x0020;
inline constexpr std::uint16_t kDeleteHorizonBit = 0x0040;
inline constexpr std::uint16_t kKnownAttributes = 0x007f;

inline constexpr std::int64_t kNoProducerId = -1;
inline constexpr std::int16_t kNoProducerEpoch = -1;
inline constexpr std::int32_t kNoSequence = -1;
inline constexpr Millis kNoTimestamp = -1;

enum class TimestampType : std::uint8_t { create_time = 0, log_append_time = 1 };

// The sequence number `count` steps after `sequence`: they run from 0 to 2^31 - 1 and then start again at 0.
constexpr std::int32_t sequence_plus(std::int32_t sequence, std::int32_t count) {
  return static_cast<std::int32_t>((static_cast<std::uint32_t>(sequence) + static_cast<std::uint32_t>(count)) &
                                   0x7fffffffU);
}

// What the log must know of a batch to give it offsets, index it and check its producer. Plain data, taken once.
struct BatchFacts {
  std::int64_t base_offset = 0;
  std::uint32_t size_bytes = 0;  // the whole batch, header included
  std::int32_t record_count = 0;
  std::int32_t last_offset_delta = 0;
  std::int32_t leader_epoch = -1;
  Millis base_timestamp = kNoTimestamp;
  Millis max_timestamp = kNoTimestamp;
  std::int64_t producer_id = kNoProducerId;
  std::int16_t producer_epoch = kNoProducerEpoch;
  std::uint16_t attributes = 0;
  std::int32_t base_sequence = kNoSequence;

  [[nodiscard]] bool has_producer() const { return producer_id > kNoProducerId; }
  [[nodiscard]] bool is_transactional() const { return (attributes & kTransactionalBit) != 0; }
  [[nodiscard]] bool is_control() const { return (attributes & kControlBit) != 0; }
  [[nodiscard]] TimestampType timestamp_type() const {
    return (attributes & kLogAppendTimeBit) != 0 ? TimestampType::log_append_time : TimestampType::create_time;
  }
  [[nodiscard]] std::int64_t last_offset() const { return base_offset + last_offset_delta; }
  [[nodiscard]] std::int32_t last_sequence() const {
    return base_sequence == kNoSequence ? kNoSequence : sequence_plus(base_sequence, last_offset_delta);
  }
  friend bool operator==(const BatchFacts&, const BatchFacts&) = default;
};

class RecordBatchView {
 public:
  // The first batch of `bytes`; more may follow. Checks the frame only: magic and length, not the checksum, not the
  // records. unsupported (detail: the magic) for the old formats 0 and 1; truncated when the batch is not all there;
  // corrupt for any other magic or a length below the header's.
  static Result<RecordBatchView> parse(Bytes bytes);
  // What a log may hold as one batch: a frame that fills `bytes` to the last one, a right checksum, offsets that do not
  // run backwards. Whoever reads a log (start, scrub, verify, fetch, replica) asks this and nothing else of a batch,
  // and whatever produce accepts passes. The errors of parse(); corrupt otherwise.
  static Result<RecordBatchView> parse_whole(Bytes bytes);

  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] Bytes payload() const { return bytes_.subspan(kBatchHeaderSize); }  // records as stored

  [[nodiscard]] std::int64_t base_offset() const { return load_be<std::int64_t>(bytes_, kBaseOffsetAt); }
  [[nodiscard]] std::int32_t length() const { return load_be<std::int32_t>(bytes_, kLengthAt); }
  [[nodiscard]] std::int32_t leader_epoch() const { return load_be<std::int32_t>(bytes_, kLeaderEpochAt); }
  [[nodiscard]] std::int8_t magic() const { return load_be<std::int8_t>(bytes_, kMagicAt); }
  [[nodiscard]] std::uint32_t crc() const { return load_be<std::uint32_t>(bytes_, kCrcAt); }
  [[nodiscard]] std::uint16_t attributes() const { return load_be<std::uint16_t>(bytes_, kAttributesAt); }
  [[nodiscard]] std::int32_t last_offset_delta() const { return load_be<std::int32_t>(bytes_, kLastOffsetDeltaAt); }
  [[nodiscard]] Millis base_timestamp() const { return load_be<std::int64_t>(bytes_, kBaseTimestampAt); }
  [[nodiscard]] Millis max_timestamp() const { return load_be<std::int64_t>(bytes_, kMaxTimestampAt); }
  [[nodiscard]] std::int64_t producer_id() const { return load_be<std::int64_t>(bytes_, kProducerIdAt); }
  [[nodiscard]] std::int16_t producer_epoch() const { return load_be<std::int16_t>(bytes_, kProducerEpochAt); }
  [[nodiscard]] std::int32_t base_sequence() const { return load_be<std::int32_t>(bytes_, kBaseSequenceAt); }
  [[nodiscard]] std::int32_t record_count() const { return load_be<std::int32_t>(bytes_, kRecordCountAt); }

  [[nodiscard]] std::int64_t last_offset() const { return base_offset() + last_offset_delta(); }
  [[nodiscard]] std::int32_t last_sequence() const { return facts().last_sequence(); }
  [[nodiscard]] std::optional<Codec> codec() const;  // nullopt: a number that no codec has
  [[nodiscard]] bool is_compressed() const { return (attributes() & kCodecMask) != 0; }
  [[nodiscard]] bool is_transactional() const { return (attributes() & kTransactionalBit) != 0; }
  [[nodiscard]] bool is_control() const { return (attributes() & kControlBit) != 0; }
  [[nodiscard]] bool has_producer() const { return producer_id() > kNoProducerId; }
  [[nodiscard]] TimestampType timestamp_type() const {
    return (attributes() & kLogAppendTimeBit) != 0 ? TimestampType::log_append_time : TimestampType::create_time;
  }
  // Set by compaction: until when tombstones of this batch stay. It sits in the base timestamp field.
  [[nodiscard]] std::optional<Millis> delete_horizon() const;

  [[nodiscard]] bool crc_ok() const;
  [[nodiscard]] BatchFacts facts() const;
  // The same of a batch whose first kBatchHeaderSize bytes alone are at hand.
  [[nodiscard]] static BatchFacts facts_of_header(Bytes header, std::uint32_t size_bytes);

 private:
  explicit RecordBatchView(Bytes bytes) : bytes_(bytes) {}
  Bytes bytes_;
};

// Header changes in place. `batch` begins with a batch that parse() accepts. The first two lie outside the checksum.
void patch_base_offset(MutableBytes batch, Offset base_offset);
void patch_leader_epoch(MutableBytes batch, LeaderEpoch epoch);
// Does nothing if both already hold; else drops unknown attribute bits, as Kafka does, and renews the checksum.
void set_max_timestamp(MutableBytes batch, TimestampType type, Millis max_timestamp);
void renew_crc(MutableBytes batch);

// Walks batches that lie one behind the other (a fetch answer, a segment's payload). Stops for good at a failure.
class BatchChain {
 public:
  explicit BatchChain(Bytes bytes) : rest_(bytes) {}
  // nullopt at the end, and before a last batch that is not all there: rest() then has its bytes.
  Result<std::optional<RecordBatchView>> next();
  [[nodiscard]] Bytes rest() const { return rest_; }                 // bytes not yet given out
  [[nodiscard]] bool has_partial() const { return !rest_.empty(); }  // meaningful after next() said nullopt

 private:
  Bytes rest_;
};

}  // namespace weir::protocol
