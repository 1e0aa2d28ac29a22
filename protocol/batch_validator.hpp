// What a broker checks in the records that a producer sends to one partition, before the log sees them, and what it
// repairs. A pure function of the bytes, the topic's rules and the time; it follows Kafka 4.4's answers case by case.
// Any thread; for plain batches that pass as they are it allocates nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/compression.hpp"
#include "protocol/errors.hpp"
#include "protocol/record_batch.hpp"
#include "protocol/valid_batch.hpp"

namespace weir::protocol {

// The topic's configuration as far as it concerns a batch. The comment names the key.
struct BatchRules {
  std::int32_t max_message_bytes = 1'048'588;                 // max.message.bytes
  std::int32_t max_decompressed_bytes = 2'147'483'639;        // max.decompressed.message.bytes: of one record
  std::optional<Codec> codec;                                 // compression.type; empty: "producer"
  std::optional<int> level;                                   // compression.*.level; empty: the codec's standard
  TimestampType timestamp_type = TimestampType::create_time;  // message.timestamp.type
  Millis timestamp_before_max_ms = INT64_MAX;                 // message.timestamp.before.max.ms
  Millis timestamp_after_max_ms = 3'600'000;                  // message.timestamp.after.max.ms
  bool compacted = false;                                     // cleanup.policy has compact: keys are required
};

enum class BatchOrigin : std::uint8_t { client, coordinator };

struct BatchContext {
  std::int16_t produce_version = INT16_MAX;  // of the request; a coordinator leaves it
  Millis now_ms = 0;
  BatchOrigin origin = BatchOrigin::client;
  // Output that a compressed batch may take before the verdict is BatchOverBudget. A small batch can expand to
  // gigabytes and so hold its thread for seconds: an io thread sets a budget and lets the pool judge what is over it.
  std::size_t expansion_budget = SIZE_MAX;
};

struct RecordError {
  std::int32_t batch_index = 0;  // of the record in its batch
  std::string message;
};

// At most this many records are named in an answer: a small compressed batch can hold millions of bad ones.
inline constexpr std::size_t kRecordErrorsMax = 1000;

struct BatchRefusal {
  // unknown_server_error, corrupt_message, message_too_large, invalid_timestamp, unsupported_compression_type or
  // invalid_record.
  ErrorCode code = ErrorCode::unknown_server_error;
  bool before_log = false;     // the answer's log start offset is -1, as for all that Kafka's log never looked at
  bool whole_request = false;  // nothing of the request is taken: Kafka fails at such a batch
  std::string_view reason;     // for our log and metrics; static text
  std::string error_message;   // for the answer; empty: null there, as with Kafka
  std::vector<RecordError> record_errors;
};

// `records` is the records field of one partition of a Produce request; null counts as empty. A ValidBatch shares them
// without what lies behind the batch (Kafka cuts that off likewise), or has bytes of its own when something was
// repaired, stamped or recompressed.
BatchVerdict validate_batch(const SharedBytes& records, const BatchRules& rules, const BatchContext& context);

}  // namespace weir::protocol
