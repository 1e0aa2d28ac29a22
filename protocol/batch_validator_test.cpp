#include "protocol/batch_validator.hpp"

#include <gtest/gtest.h>

#include "base/varint.hpp"
#include "protocol/record.hpp"

namespace weir::protocol {
namespace {

using Buffer = std::vector<std::byte>;

constexpr Millis kNow = 1'750'000'000'000;
constexpr Millis kSent = 1'700'000'000'000;
constexpr std::array kCompressing{Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd};

Buffer batch_of(std::int32_t records, BatchOptions options = {}, Millis first = kSent, Millis step = 0) {
  RecordBatchBuilder builder{options};
  for (std::int32_t i = 0; i < records; ++i) {
    builder.append({.key = as_bytes("k"), .value = as_bytes("v"), .timestamp = first + step * i});
  }
  return *builder.build();
}

template <class Int>
Buffer with(Buffer batch, std::size_t at, Int value) {
  store_be(batch, at, value);
  renew_crc(batch);
  return batch;
}

// A batch whose records are these bytes, under a header that says `count` and is otherwise honest.
Buffer around(Bytes payload, std::int32_t count, Codec codec = Codec::none) {
  const auto packed = *compress(codec, payload);
  return *wrap_records({.record_count = count,
                        .last_offset_delta = count - 1,
                        .base_timestamp = kSent,
                        .max_timestamp = kSent,
                        .attributes = static_cast<std::uint16_t>(codec)},
                       packed);
}

Buffer joined(Bytes first, Bytes second) {
  Buffer out(first.begin(), first.end());
  out.insert(out.end(), second.begin(), second.end());
  return out;
}

BatchVerdict judge(Bytes records, const BatchRules& rules = {}, BatchContext context = {.now_ms = kNow}) {
  return validate_batch({records, nullptr}, rules, context);
}

struct Refused {
  int code;
  bool before_log;
  bool has_message = false;
};

void expect_refused(const BatchVerdict& verdict, Refused expected, const std::string& what) {
  const auto* refusal = std::get_if<BatchRefusal>(&verdict);
  ASSERT_NE(refusal, nullptr) << what;
  EXPECT_EQ(static_cast<int>(refusal->code), expected.code) << what << ": " << refusal->reason;
  EXPECT_EQ(refusal->before_log, expected.before_log) << what << ": " << refusal->reason;
  EXPECT_EQ(!refusal->error_message.empty(), expected.has_message) << what;
  EXPECT_FALSE(refusal->reason.empty()) << what;
}

const ValidBatch& expect_valid(const BatchVerdict& verdict, const std::string& what) {
  static const ValidBatch kNone;
  const auto* valid = std::get_if<ValidBatch>(&verdict);
  if (valid == nullptr) {
    const auto* refusal = std::get_if<BatchRefusal>(&verdict);
    ADD_FAILURE() << what << ": " << (refusal != nullptr ? refusal->reason : "over budget");
    return kNone;
  }
  EXPECT_TRUE(RecordBatchView::parse_whole(valid->view())) << what;
  EXPECT_EQ(valid->facts(), RecordBatchView::parse(valid->view())->facts()) << what;
  return *valid;
}

bool is_same(Bytes a, Bytes b) {
  return std::ranges::equal(a, b);
}

TEST(BatchValidator, AnHonestBatchPassesAsItIsInEveryCodec) {
  for (const auto codec : {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
    const auto batch = batch_of(3, {.codec = codec, .producer_id = 9, .producer_epoch = 1, .base_sequence = 7});
    const auto verdict = judge(batch);
    const auto& valid = expect_valid(verdict, std::string{to_string(codec)});
    EXPECT_EQ(valid.view().data(), batch.data());
    EXPECT_EQ(valid.facts().record_count, 3);
    EXPECT_EQ(valid.facts().base_sequence, 7);
    EXPECT_EQ(valid.facts().max_timestamp, kSent);
  }
}

// The cases of a real 4.4.0 node's produce recording, with its codes and whether it answered its log start offset.
TEST(BatchValidator, FramesAreRefusedAsKafkaDoes) {
  const auto one = batch_of(1);
  expect_refused(judge({}), {87, true}, "null or empty records");
  expect_refused(judge(joined(one, one)), {87, true}, "two batches");
  for (const std::int32_t length : {13, 0, -1}) {
    auto lie = one;
    store_be(lie, kLengthAt, length);
    expect_refused(judge(lie), {2, true, true}, "impossible length");
  }
  auto headless = one;
  store_be<std::int32_t>(headless, kLengthAt, kBatchLengthMin - 1);
  expect_refused(judge(Bytes{headless}.first(kBatchHeaderSize - 1)), {2, true}, "shorter than a header");
  auto longer = one;
  store_be<std::int32_t>(longer, kLengthAt, INT32_MAX);
  expect_refused(judge(longer), {87, true}, "longer than what came");
}

TEST(BatchValidator, BytesBehindTheBatchAreNoPartOfWhatIsValid) {
  for (const auto codec : {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
    const auto one = batch_of(2, {.codec = codec});
    for (std::size_t count = 1; count <= one.size() + 16; ++count) {  // zeros, then a second batch that is cut
      auto field = one;
      field.resize(one.size() + std::min<std::size_t>(count, 11));
      if (count > 16) {
        field = joined(one, Bytes{one}.first(count - 17));
      }
      const auto verdict = judge(field);
      const auto& valid = expect_valid(verdict, std::to_string(count));
      EXPECT_TRUE(is_same(valid.view(), one)) << count;
      EXPECT_EQ(valid.view().data(), field.data()) << "no copy";
      const auto stamped = judge(field, {.timestamp_type = TimestampType::log_append_time});
      EXPECT_EQ(expect_valid(stamped, "stamped").size(), one.size()) << count;
      const auto packed = judge(field, {.codec = Codec::lz4});
      expect_valid(packed, "packed");
    }
  }
}

// As a real node answers: the batch is taken, and as the LogAppendTime bit goes, what its records say comes to light.
TEST(BatchValidator, AStampByTheClientHidesTheTimesOfTheRecordsAsWithKafka) {
  constexpr Millis kFuture = 7'258'118'400'000;
  for (const Millis stamp : {Millis{-5}, Millis{0}, kSent}) {
    auto batch = batch_of(1, {}, kFuture);
    set_max_timestamp(batch, TimestampType::log_append_time, stamp);
    const auto verdict = judge(batch);
    const auto& valid = expect_valid(verdict, std::to_string(stamp));
    EXPECT_EQ(valid.facts().timestamp_type(), TimestampType::create_time);
    EXPECT_EQ(valid.facts().base_timestamp, kFuture);
    EXPECT_EQ(valid.facts().max_timestamp, std::max(stamp, kNoTimestamp));
    expect_refused(judge(valid.view()), {32, false, true}, "the same without the bit");
  }
  for (const auto stamp : {kNoTimestamp, kFuture}) {
    auto batch = batch_of(1, {}, kFuture);
    set_max_timestamp(batch, TimestampType::log_append_time, stamp);
    expect_refused(judge(batch), {32, false, true}, std::to_string(stamp));
  }
}

TEST(BatchValidator, HeadersThatLieAreRefusedWithKafkasCodes) {
  const auto one = batch_of(1);
  auto bad_crc = one;
  store_be<std::uint32_t>(bad_crc, kCrcAt, 1);
  expect_refused(judge(bad_crc), {2, true}, "bad crc");
  for (const std::int8_t magic : {std::int8_t{0}, std::int8_t{1}}) {
    auto old = one;
    store_be(old, kMagicAt, magic);
    expect_refused(judge(old), {87, true}, "old magic");
  }
  for (const std::int8_t magic : {std::int8_t{3}, std::int8_t{-1}}) {
    auto odd = one;
    store_be(odd, kMagicAt, magic);
    expect_refused(judge(odd), {2, true, true}, "unknown magic");
  }
  expect_refused(judge(with<std::int32_t>(one, kRecordCountAt, 2)), {87, false}, "count");
  expect_refused(judge(with<std::int32_t>(one, kRecordCountAt, INT32_MAX)), {87, false}, "count");
  expect_refused(judge(with<std::int32_t>(one, kRecordCountAt, -1)), {87, false}, "count");
  expect_refused(judge(with<std::int32_t>(one, kLastOffsetDeltaAt, 5)), {87, false}, "last offset delta");
  expect_refused(judge(with<std::int32_t>(one, kLastOffsetDeltaAt, INT32_MAX)), {87, false}, "last offset delta");
  expect_refused(judge(with<std::int32_t>(one, kLastOffsetDeltaAt, -1)), {87, false}, "last offset delta");
  auto empty = Buffer(one.begin(), one.begin() + kBatchHeaderSize);
  store_be<std::int32_t>(empty, kLengthAt, kBatchLengthMin);
  store_be<std::int32_t>(empty, kRecordCountAt, 0);
  renew_crc(empty);
  expect_refused(judge(empty), {87, false}, "no records");
  expect_refused(judge(with<std::int64_t>(one, kBaseOffsetAt, 7)), {87, false}, "base offset");
  expect_refused(judge(with<std::uint16_t>(one, kAttributesAt, kControlBit)), {87, false}, "control bit");
  expect_refused(judge(with<std::uint16_t>(one, kAttributesAt, 6)), {-1, false}, "codec 6");
  expect_refused(judge(batch_of(1, {.producer_id = 5, .producer_epoch = 0})), {87, false}, "negative sequence");
}

TEST(BatchValidator, ZstdNeedsProduceVersionSeven) {
  const auto batch = batch_of(1, {.codec = Codec::zstd});
  expect_refused(judge(batch, {}, {.produce_version = 6, .now_ms = kNow}), {76, true}, "version 6");
  expect_valid(judge(batch, {}, {.produce_version = 7, .now_ms = kNow}), "version 7");
  expect_valid(judge(batch_of(1, {.codec = Codec::lz4}), {}, {.produce_version = 3, .now_ms = kNow}), "lz4, version 3");
}

TEST(BatchValidator, TheSizeLimitIsInclusiveAndComesBeforeTheChecksum) {
  auto batch = batch_of(1);
  const auto size = static_cast<std::int32_t>(batch.size());
  expect_valid(judge(batch, {.max_message_bytes = size}), "exactly the limit");
  batch.back() ^= std::byte{1};
  expect_refused(judge(batch, {.max_message_bytes = size - 1}), {10, true}, "one over");
}

TEST(BatchValidator, EveryPrefixOfABatchIsRefusedAndAPartialOneBehindItIsDropped) {
  const auto batch = batch_of(2);
  for (std::size_t cut = 0; cut < batch.size(); ++cut) {
    expect_refused(judge(Bytes{batch}.first(cut)), {87, true}, "cut to " + std::to_string(cut));
    const auto records = joined(batch, Bytes{batch}.first(cut));
    const auto verdict = judge(records);
    EXPECT_EQ(expect_valid(verdict, "partial " + std::to_string(cut)).size(), batch.size());
  }
  expect_refused(judge(joined(batch, Buffer(20))), {2, true, true}, "zeros behind the batch");
}

TEST(BatchValidator, RecordsThatDoNotAddUpAreRefusedInEveryCodec) {
  const auto honest = batch_of(2);
  const auto payload = Bytes{honest}.subspan(kBatchHeaderSize);
  for (const auto codec : {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
    const auto name = std::string{to_string(codec)};
    expect_valid(judge(around(payload, 2, codec)), name);
    expect_refused(judge(around(payload, 3, codec)), {87, false}, name + " fewer records than counted");
    expect_refused(judge(around(payload, 1, codec)), {87, false}, name + " more records than counted");
    expect_refused(judge(around(joined(payload, Buffer(2)), 2, codec)), {87, false}, name + " junk behind");
    for (std::size_t cut = 1; cut < payload.size(); ++cut) {
      expect_refused(judge(around(payload.first(cut), 2, codec)), {87, false}, name + " cut records");
    }
    auto longer = Buffer(payload.begin(), payload.end());
    longer[0] = std::byte{0x12};  // the first record claims one byte more than it has
    expect_refused(judge(around(longer, 2, codec)), {87, false}, name + " a record's length");
  }
}

TEST(BatchValidator, UndecodablePayloadsAreAServerError) {
  const auto honest = batch_of(2);
  const auto payload = Bytes{honest}.subspan(kBatchHeaderSize);
  for (const auto codec : kCompressing) {
    BatchFacts header{.record_count = 2,
                      .last_offset_delta = 1,
                      .base_timestamp = kSent,
                      .max_timestamp = kSent,
                      .attributes = static_cast<std::uint16_t>(codec)};
    expect_refused(judge(*wrap_records(header, payload)), {-1, false}, std::string{to_string(codec)} + " garbage");
  }
}

TEST(BatchValidator, AWrongMaxTimestampIsRepairedWithANewChecksum) {
  for (const auto codec : {Codec::none, Codec::lz4}) {
    const auto honest = batch_of(3, {.codec = codec}, kSent, 10);
    const auto wrong = with<std::int64_t>(honest, kMaxTimestampAt, 5);
    const auto verdict = judge(wrong);
    const auto& valid = expect_valid(verdict, "repair");
    EXPECT_TRUE(is_same(valid.view(), honest));
    EXPECT_EQ(valid.facts().max_timestamp, kSent + 20);
  }
}

TEST(BatchValidator, UnknownAttributeBitsStayUnlessTheHeaderIsRewritten) {
  const auto one = batch_of(1);
  const auto odd = with<std::uint16_t>(one, kAttributesAt, 0x0240);
  const auto kept = judge(odd);
  EXPECT_EQ(expect_valid(kept, "bits 6 and 9").view().data(), odd.data());
  const auto stamped = with<std::uint16_t>(one, kAttributesAt, kLogAppendTimeBit);
  const auto cleared = judge(stamped);
  EXPECT_TRUE(is_same(expect_valid(cleared, "LogAppendTime bit on a CreateTime topic").view(), one));
}

TEST(BatchValidator, LogAppendTimeTopicsStampTheBatchAndRefuseAClientsStamp) {
  const BatchRules rules{.timestamp_type = TimestampType::log_append_time};
  for (const auto codec : {Codec::none, Codec::zstd}) {
    const auto batch = batch_of(2, {.codec = codec}, kNow * 2);
    const auto verdict = judge(batch, rules);
    const auto& valid = expect_valid(verdict, "stamped");
    EXPECT_NE(valid.view().data(), batch.data());
    EXPECT_EQ(valid.facts().max_timestamp, kNow);
    EXPECT_EQ(valid.facts().timestamp_type(), TimestampType::log_append_time);
    EXPECT_EQ(valid.facts().base_timestamp, kNow * 2) << "the producer's times stay in the records";
  }
  auto stamped = batch_of(2);
  set_max_timestamp(stamped, TimestampType::log_append_time, kNow);
  expect_refused(judge(stamped, rules), {32, false, true}, "stamped by the client");
}

TEST(BatchValidator, TimestampsOutsideTheWindowAreNamedOneByOne) {
  const auto edge = kNow + 3'600'000;
  expect_valid(judge(batch_of(1, {}, edge)), "exactly an hour ahead");
  const auto verdict = judge(batch_of(3, {}, edge - 1, 1));
  expect_refused(verdict, {32, false, true}, "one a millisecond over");
  const auto& refusal = std::get<BatchRefusal>(verdict);
  ASSERT_EQ(refusal.record_errors.size(), 1U);
  EXPECT_EQ(refusal.record_errors[0].batch_index, 2);
  EXPECT_NE(refusal.record_errors[0].message.find(std::to_string(edge + 1)), std::string::npos);

  expect_valid(judge(batch_of(1, {}, 0)), "1970");
  expect_valid(judge(batch_of(1, {}, -1)), "no timestamp");
  const BatchRules strict{.timestamp_before_max_ms = 1000};
  expect_valid(judge(batch_of(1, {}, kNow - 1000), strict), "exactly a second old");
  expect_refused(judge(batch_of(1, {}, kNow - 1001), strict), {32, false, true}, "older");
  expect_valid(judge(batch_of(1, {}, -1), strict), "no timestamp, strict topic");
}

TEST(BatchValidator, CompactedTopicsNeedKeysAndTheMessageListsThreeAtMost) {
  for (const auto codec : {Codec::none, Codec::snappy}) {
    RecordBatchBuilder builder{{.codec = codec}};
    builder.append({.key = as_bytes("k"), .value = as_bytes("v"), .timestamp = kSent});
    for (int i = 0; i < 5; ++i) {
      builder.append({.value = as_bytes("v"), .timestamp = kSent});
    }
    const auto batch = *builder.build();
    expect_valid(judge(batch), "not compacted");
    const auto verdict = judge(batch, {.compacted = true});
    expect_refused(verdict, {87, false, true}, "null keys");
    const auto& refusal = std::get<BatchRefusal>(verdict);
    ASSERT_EQ(refusal.record_errors.size(), 5U);
    EXPECT_EQ(refusal.record_errors[4].batch_index, 5);
    EXPECT_NE(refusal.error_message.find("record 3:"), std::string::npos);
    EXPECT_EQ(refusal.error_message.find("record 4:"), std::string::npos);
  }
}

TEST(BatchValidator, AnAnswerNamesABoundedNumberOfBadRecords) {
  RecordBatchBuilder builder{{.codec = Codec::zstd}};
  for (int i = 0; i < 5000; ++i) {
    builder.append({.timestamp = kSent});
  }
  const auto verdict = judge(*builder.build(), {.compacted = true});
  expect_refused(verdict, {87, false, true}, "5000 null keys");
  EXPECT_EQ(std::get<BatchRefusal>(verdict).record_errors.size(), kRecordErrorsMax);
  EXPECT_EQ(std::get<BatchRefusal>(verdict).error_message.find("5000"), 0U);
}

std::vector<std::string> values_of(Bytes bytes) {
  std::vector<std::string> values;
  const auto batch = *RecordBatchView::parse(bytes);
  EXPECT_TRUE(for_each_record(batch, SIZE_MAX, [&](const RecordView& record, const RecordReader& reader) {
    values.push_back(std::to_string(reader.offset_of(record).value) + "@" +
                     std::to_string(reader.timestamp_of(record)) + "=" + std::string{as_text(*record.value)} + "/" +
                     std::to_string(record.headers.size()));
  }));
  return values;
}

TEST(BatchValidator, ATopicsCodecWinsOverTheProducersBothWays) {
  for (const auto sent : {Codec::none, Codec::gzip, Codec::zstd}) {
    for (const auto stored : {Codec::none, Codec::snappy, Codec::lz4, Codec::zstd}) {
      const auto what = std::string{to_string(sent)} + " to " + std::string{to_string(stored)};
      const auto batch = batch_of(
          20, {.codec = sent, .producer_id = 3, .producer_epoch = 2, .base_sequence = 4, .transactional = true}, kSent,
          5);
      const auto verdict = judge(batch, {.codec = stored});
      const auto& valid = expect_valid(verdict, what);
      EXPECT_EQ(valid.view().data() == batch.data(), sent == stored) << what;
      EXPECT_EQ(RecordBatchView::parse(valid.view())->codec(), stored) << what;
      EXPECT_EQ(values_of(valid.view()), values_of(batch)) << what;
      EXPECT_TRUE(valid.facts().is_transactional());
      EXPECT_EQ(valid.facts().base_sequence, 4);
      EXPECT_EQ(valid.facts().max_timestamp, kSent + 95);
    }
  }
}

TEST(BatchValidator, ARecompressedBatchMustFitTheTopicToo) {
  RecordBatchBuilder builder{{.codec = Codec::zstd}};
  const std::string zeros(10'000, '\0');
  builder.append({.key = as_bytes("k"), .value = as_bytes(zeros), .timestamp = kSent});
  const auto batch = *builder.build();
  expect_valid(judge(batch, {.max_message_bytes = 1000}), "small while compressed");
  expect_refused(judge(batch, {.max_message_bytes = 1000, .codec = Codec::none}), {10, true}, "large when not");
}

TEST(BatchValidator, OffsetDeltasWithGapsAreRenumbered) {
  for (const auto codec : {Codec::none, Codec::gzip}) {
    Buffer payload;
    for (const std::int32_t delta : {0, 5}) {
      Buffer body{std::byte{0}, std::byte{0}};
      append_varint(body, delta);
      append_varint(body, -1);
      append_varint(body, 1);
      body.push_back(std::byte{'v'});
      append_varint(body, 0);
      append_varint(payload, std::ssize(body));
      payload.insert(payload.end(), body.begin(), body.end());
    }
    const auto batch = around(payload, 2, codec);
    const auto verdict = judge(batch);
    const auto& valid = expect_valid(verdict, std::string{to_string(codec)});
    EXPECT_NE(valid.view().data(), batch.data());
    const auto time = std::to_string(kSent);
    EXPECT_EQ(values_of(valid.view()), (std::vector<std::string>{"0@" + time + "=v/0", "1@" + time + "=v/0"}));
    EXPECT_EQ(RecordBatchView::parse(valid.view())->codec(), codec);
  }
}

TEST(BatchValidator, ARecordOverTheTopicsDecompressedBoundIsInvalid) {
  const std::string zeros(100'000, '\0');
  for (const auto codec : kCompressing) {
    RecordBatchBuilder builder{{.codec = codec}};
    builder.append({.value = as_bytes(zeros), .timestamp = kSent});
    builder.append({.value = as_bytes(zeros), .timestamp = kSent});
    const auto batch = *builder.build();
    expect_valid(judge(batch, {.max_decompressed_bytes = 100'100}), "bound is per record, not per batch");
    expect_refused(judge(batch, {.max_decompressed_bytes = 99'999}), {87, false}, std::string{to_string(codec)});
  }
}

TEST(BatchValidator, ABombOverTheBudgetIsLeftToThePoolAndJudgedThere) {
  const std::string zeros(30'000'000, '\0');
  for (const auto codec : {Codec::gzip, Codec::lz4, Codec::zstd}) {
    RecordBatchBuilder builder{{.codec = codec}};
    builder.append({.value = as_bytes(zeros), .timestamp = kSent});
    const auto batch = *builder.build();
    EXPECT_TRUE(
        std::holds_alternative<BatchOverBudget>(judge(batch, {}, {.now_ms = kNow, .expansion_budget = 1'000'000})));
    expect_valid(judge(batch), std::string{to_string(codec)});
  }
}

TEST(BatchValidator, CoordinatorsMayWriteControlBatches) {
  const auto marker = batch_of(1, {.producer_id = 4, .producer_epoch = 0, .transactional = true, .control = true});
  expect_refused(judge(marker), {87, false}, "a client");
  const BatchContext inside{.now_ms = kNow, .origin = BatchOrigin::coordinator};
  const auto verdict = judge(marker, {.codec = Codec::zstd}, inside);
  const auto& valid = expect_valid(verdict, "a coordinator");
  EXPECT_EQ(valid.view().data(), marker.data()) << "control batches are not compressed";
}

}  // namespace
}  // namespace weir::protocol
