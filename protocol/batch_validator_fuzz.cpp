// Any bytes as a produce request's records under rules drawn from the first bytes: what is accepted has a right
// checksum, as many readable records as it says, nothing behind it, and is accepted again unchanged.
#include "protocol/batch_validator.hpp"
#include "protocol/record.hpp"

namespace {

using namespace weir;
using namespace weir::protocol;

constexpr std::int16_t kNewestProduce = 13;

void require(bool condition) {
  if (!condition) {
    __builtin_trap();
  }
}

void check(Bytes input, const BatchRules& rules, const BatchContext& context) {
  const auto verdict = validate_batch({input, nullptr}, rules, context);
  if (const auto* refusal = std::get_if<BatchRefusal>(&verdict)) {
    require(refusal->record_errors.size() <= kRecordErrorsMax);
    return;
  }
  const auto* valid = std::get_if<ValidBatch>(&verdict);
  if (valid == nullptr) {
    return;
  }
  const auto whole = RecordBatchView::parse_whole(valid->view());  // what a start, a scrub and a fetch ask of it
  require(whole.has_value());
  const auto& batch = *whole;
  require(batch.facts() == valid->facts() && std::ssize(valid->view()) <= rules.max_message_bytes);
  std::int32_t index = 0;
  const auto read = for_each_record(batch, kExpansionMax, [&](const RecordView& record, const RecordReader&) {
    require(record.offset_delta == index++);
  });
  require(read && index == valid->facts().record_count);
  // Where the client has set the LogAppendTime bit the times in the records were not judged, as with Kafka.
  const bool is_stamped = RecordBatchView::parse(input)->timestamp_type() == TimestampType::log_append_time;
  if (rules.timestamp_type == TimestampType::create_time && !is_stamped) {
    auto newest = context;  // an old version may not send the topic's codec, which the batch has now
    newest.produce_version = kNewestProduce;
    const auto again = validate_batch({valid->view(), nullptr}, rules, newest);
    const auto* same = std::get_if<ValidBatch>(&again);
    require(same != nullptr && same->view().data() == valid->view().data());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  BatchRules rules{.max_message_bytes = 1 << 20U, .max_decompressed_bytes = 1 << 18U};
  if (const auto codec = data[0] & 7U; codec <= kCodecMax) {
    rules.codec = static_cast<Codec>(codec);
  }
  rules.timestamp_type = (data[0] & 8U) != 0 ? TimestampType::log_append_time : TimestampType::create_time;
  rules.compacted = (data[0] & 16U) != 0;
  const BatchContext context{.produce_version = data[1], .now_ms = 1'750'000'000'000, .expansion_budget = 1U << 20U};
  const auto input = std::as_bytes(std::span{data, size}).subspan(2);
  check(input, rules, context);
  // A fuzzer does not guess checksums: judge the same bytes with a right one too.
  std::vector<std::byte> fixed(input.begin(), input.end());
  if (RecordBatchView::parse(fixed)) {
    renew_crc(fixed);
    check(fixed, rules, context);
  }
  return 0;
}
