#include "protocol/batch_validator.hpp"

#include <algorithm>

#include "protocol/batch_frame.hpp"
#include "protocol/record.hpp"
#include "protocol/record_walk.hpp"

namespace weir::protocol {
namespace {

constexpr bool kBeforeLog = true;
constexpr bool kInLog = false;

BatchRefusal refuse(ErrorCode code, bool before_log, std::string_view reason) {
  return {.code = code, .before_log = before_log, .reason = reason};
}

// --- The header, in Kafka's order: where two things are wrong, the first decides the code.

std::optional<BatchRefusal> check_header(Bytes bytes, const BatchRules& rules, const BatchContext& context) {
  if (context.origin == BatchOrigin::client && load_be<std::int64_t>(bytes, kBaseOffsetAt) != 0) {
    return refuse(ErrorCode::invalid_record, kInLog, "base offset is not 0");
  }
  if (std::ssize(bytes) > rules.max_message_bytes) {
    return refuse(ErrorCode::message_too_large, kBeforeLog, "batch is over max.message.bytes");
  }
  const auto parsed = RecordBatchView::parse(bytes);
  if (!parsed || !parsed->crc_ok()) {
    return refuse(ErrorCode::corrupt_message, kBeforeLog, "batch is shorter than a header or its checksum is wrong");
  }
  const auto& batch = *parsed;
  if (!batch.codec()) {
    return refuse(ErrorCode::unknown_server_error, kInLog, "unknown codec");
  }
  if (context.origin != BatchOrigin::client) {
    return std::nullopt;
  }
  if (batch.record_count() <= 0 || std::int64_t{batch.last_offset_delta()} + 1 != batch.record_count()) {
    return refuse(ErrorCode::invalid_record, kInLog, "record count and last offset delta do not agree");
  }
  if (batch.is_control()) {
    return refuse(ErrorCode::invalid_record, kInLog, "clients may not write control batches");
  }
  if (batch.has_producer() && batch.base_sequence() < 0) {
    return refuse(ErrorCode::invalid_record, kInLog, "negative sequence with a producer id");
  }
  return std::nullopt;
}

// --- The records.

struct Walk {
  Millis max_timestamp = kNoTimestamp;
  bool offsets_consecutive = true;
  bool bad_timestamp = false;
  std::int64_t error_count = 0;
  std::vector<RecordError> errors;
};

bool timestamp_out_of_range(Millis timestamp, const BatchRules& rules, Millis now_ms) {
  const auto age = wrapping_sub(now_ms, timestamp);
  return age > rules.timestamp_before_max_ms || wrapping_sub(0, age) > rules.timestamp_after_max_ms;
}

void add_error(Walk& walk, std::int32_t index, std::string message) {
  ++walk.error_count;
  if (walk.errors.size() < kRecordErrorsMax) {
    walk.errors.push_back({index, std::move(message)});
  }
}

void check_record(Walk& walk, std::int32_t index, bool has_key, Millis timestamp, TimestampType sent_type,
                  const BatchRules& rules, Millis now_ms) {
  if (rules.compacted && !has_key) {
    add_error(walk, index, "A compacted topic takes no record without a key.");
    return;
  }
  if (rules.timestamp_type == TimestampType::create_time && timestamp != kNoTimestamp) {
    if (timestamp_out_of_range(timestamp, rules, now_ms)) {
      walk.bad_timestamp = true;
      add_error(walk, index,
                "Timestamp " + std::to_string(timestamp) + " is not within [" +
                    std::to_string(wrapping_sub(now_ms, rules.timestamp_before_max_ms)) + ", " +
                    std::to_string(wrapping_add(now_ms, rules.timestamp_after_max_ms)) + "].");
    }
  } else if (sent_type == TimestampType::log_append_time) {
    walk.bad_timestamp = true;
    add_error(walk, index, "A producer may not set the timestamp type to LogAppendTime.");
  }
}

enum class Walked : std::uint8_t { all, malformed, junk_behind, undecodable, too_much };

template <class Source>
Walked walk_records(const RecordBatchView& batch, Source&& source, std::int32_t record_max, const BatchRules& rules,
                    Millis now_ms, Walk& walk) {
  const auto sent_type = batch.timestamp_type();
  const auto base = batch.base_timestamp();
  const auto sent_max = batch.max_timestamp();
  const auto count = batch.record_count();
  RecordShape shape;
  bool sound = true;
  for (std::int32_t i = 0; i < count && sound; ++i) {
    sound = walk_record(source, record_max, shape);
    if (sound) {
      const auto timestamp =
          sent_type == TimestampType::log_append_time ? sent_max : wrapping_add(base, shape.timestamp_delta);
      check_record(walk, i, shape.has_key, timestamp, sent_type, rules, now_ms);
      walk.max_timestamp = std::max(walk.max_timestamp, timestamp);
      walk.offsets_consecutive = walk.offsets_consecutive && shape.offset_delta == i;
    }
  }
  const auto at_end = sound && source.at_end();
  if (const auto& failure = source.failure()) {
    return failure->code == Errc::too_large ? Walked::too_much : Walked::undecodable;
  }
  if (!sound) {
    return Walked::malformed;
  }
  return at_end ? Walked::all : Walked::junk_behind;
}

Walked walk_records(const RecordBatchView& batch, const BatchRules& rules, const BatchContext& context, Walk& walk) {
  if (!batch.is_compressed()) {
    // The topic's bound on one record counts for compressed batches only; max.message.bytes bounds the plain ones.
    return walk_records(batch, PlainRecords{batch.payload()}, INT32_MAX, rules, context.now_ms, walk);
  }
  const auto output_max = std::min(context.expansion_budget, kExpansionMax);
  return walk_records(batch, PackedRecords{*batch.codec(), batch.payload(), output_max}, rules.max_decompressed_bytes,
                      rules, context.now_ms, walk);
}

BatchRefusal refuse_records(Walk walk) {
  auto refusal = refuse(walk.bad_timestamp ? ErrorCode::invalid_timestamp : ErrorCode::invalid_record, kInLog,
                        walk.bad_timestamp ? "record timestamps out of range" : "records without a key");
  if (walk.bad_timestamp) {
    refusal.error_message = "Some records were refused because of their timestamps.";
  } else {
    constexpr std::size_t kShown = 3;
    refusal.error_message = std::to_string(walk.error_count) + " records were refused; the first of them:";
    for (std::size_t i = 0; i < std::min(kShown, walk.errors.size()); ++i) {
      refusal.error_message += " record " + std::to_string(walk.errors[i].batch_index) + ": " + walk.errors[i].message;
    }
  }
  refusal.record_errors = std::move(walk.errors);
  return refusal;
}

// --- What is stored.

// A new batch in the topic's codec, with consecutive offsets. Attributes that we do not know and the delete horizon do
// not survive this, as with Kafka.
Result<std::vector<std::byte>> rebuild(const RecordBatchView& batch, Codec codec, const BatchRules& rules,
                                       const Walk& walk) {
  auto header = batch.facts();
  header.attributes = static_cast<std::uint16_t>((header.attributes & kTransactionalBit) |
                                                 (header.attributes & kControlBit) | static_cast<unsigned>(codec));
  header.max_timestamp = walk.max_timestamp;
  if (walk.offsets_consecutive && batch.timestamp_type() == TimestampType::create_time) {
    // The records themselves can stay as they are.
    if (!batch.is_compressed()) {
      WEIR_TRY(const auto packed, compress(codec, batch.payload(), rules.level));
      return wrap_records(header, packed);
    }
    WEIR_TRY(auto plain, decompress(*batch.codec(), batch.payload(), kExpansionMax));
    if (codec == Codec::none) {
      return wrap_records(header, plain);
    }
    WEIR_TRY(const auto packed, compress(codec, plain, rules.level));
    return wrap_records(header, packed);
  }
  RecordBatchBuilder builder{{.codec = codec,
                              .level = rules.level,
                              .base_offset = Offset{header.base_offset},
                              .leader_epoch = LeaderEpoch{header.leader_epoch},
                              .producer_id = header.producer_id,
                              .producer_epoch = header.producer_epoch,
                              .base_sequence = header.base_sequence,
                              .transactional = batch.is_transactional(),
                              .control = batch.is_control()}};
  std::vector<HeaderView> headers;
  WEIR_TRY_VOID(for_each_record(batch, kExpansionMax, [&](const RecordView& record, const RecordReader& reader) {
    headers.assign(record.headers.begin(), record.headers.end());
    builder.append({record.key, record.value, reader.timestamp_of(record), headers});
  }));
  return builder.build();
}

// Empty: the batch is stored as it came.
using Rewritten = std::vector<std::byte>;

std::variant<Rewritten, BatchRefusal> rewrite(const RecordBatchView& batch, const BatchRules& rules,
                                              const BatchContext& context, const Walk& walk) {
  const auto target = batch.is_control() && !batch.is_compressed() ? Codec::none : rules.codec.value_or(*batch.codec());
  const auto max_timestamp =
      rules.timestamp_type == TimestampType::log_append_time ? context.now_ms : walk.max_timestamp;
  Rewritten rewritten;
  if (target != *batch.codec() || !walk.offsets_consecutive) {
    auto rebuilt = rebuild(batch, target, rules, walk);
    if (!rebuilt) {
      return refuse(ErrorCode::unknown_server_error, kInLog, "batch cannot be rebuilt in the topic's codec");
    }
    rewritten = std::move(*rebuilt);
    if (std::ssize(rewritten) > rules.max_message_bytes) {
      return refuse(ErrorCode::message_too_large, kBeforeLog, "recompressed batch is over max.message.bytes");
    }
  } else if (batch.timestamp_type() != rules.timestamp_type || batch.max_timestamp() != max_timestamp) {
    rewritten.assign(batch.bytes().begin(), batch.bytes().end());
  }
  if (!rewritten.empty()) {
    set_max_timestamp(rewritten, rules.timestamp_type, max_timestamp);
  }
  return rewritten;
}

}  // namespace

BatchVerdict validate_batch(const SharedBytes& records, const BatchRules& rules, const BatchContext& context) {
  Bytes bytes;
  if (auto refusal = refuse_frame(records.view(), context.produce_version, bytes)) {
    return std::move(*refusal);
  }
  if (auto refusal = check_header(bytes, rules, context)) {
    return std::move(*refusal);
  }
  const auto batch = *RecordBatchView::parse(bytes);
  Walk walk;
  switch (walk_records(batch, rules, context, walk)) {
    case Walked::all: break;
    case Walked::malformed: return refuse(ErrorCode::invalid_record, kInLog, "a record is cut or contradicts itself");
    case Walked::junk_behind: return refuse(ErrorCode::invalid_record, kInLog, "bytes behind the last record");
    case Walked::undecodable: return refuse(ErrorCode::unknown_server_error, kInLog, "payload is not in its codec");
    case Walked::too_much:
      if (context.expansion_budget < kExpansionMax) {
        return BatchOverBudget{};
      }
      return refuse(ErrorCode::invalid_record, kInLog, "batch expands beyond all bounds");
  }
  if (walk.error_count > 0) {
    return refuse_records(std::move(walk));
  }
  auto rewritten = rewrite(batch, rules, context, walk);
  if (auto* refusal = std::get_if<BatchRefusal>(&rewritten)) {
    return std::move(*refusal);
  }
  auto& own = std::get<Rewritten>(rewritten);
  return ValidBatch{own.empty() ? SharedBytes{bytes, records.owner()} : SharedBytes::adopt(std::move(own))};
}

}  // namespace weir::protocol
