#include "protocol/record.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "base/varint.hpp"

namespace weir::protocol {
namespace {

using Buffer = std::vector<std::byte>;

struct Plain {
  std::optional<std::string> key;
  std::optional<std::string> value;
  Millis timestamp = 0;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
  friend bool operator==(const Plain&, const Plain&) = default;
};

std::optional<Bytes> bytes_of(const std::optional<std::string>& text) {
  return text ? std::optional{as_bytes(*text)} : std::nullopt;
}
std::optional<std::string> text_of(const std::optional<Bytes>& bytes) {
  return bytes ? std::optional{std::string{as_text(*bytes)}} : std::nullopt;
}

std::optional<std::string> maybe_text(Random& random, std::size_t size_max) {
  if (random.chance(5)) {
    return std::nullopt;
  }
  return std::string(random.below(size_max + 1), static_cast<char>('a' + random.below(26)));
}

std::vector<Plain> some_records(std::uint64_t seed, int count) {
  Random random{seed};
  std::vector<Plain> records;
  for (int i = 0; i < count; ++i) {
    Plain record{maybe_text(random, 20),
                 maybe_text(random, random.chance(20) ? 200'000 : 300),
                 1'700'000'000'000 + static_cast<Millis>(random.below(100'000)),
                 {}};
    for (auto left = random.below(4); left > 0; --left) {
      record.headers.emplace_back("h" + std::to_string(left), maybe_text(random, 10));
    }
    records.push_back(std::move(record));
  }
  return records;
}

Buffer built(const std::vector<Plain>& records, BatchOptions options) {
  RecordBatchBuilder builder{options};
  for (const auto& record : records) {
    std::vector<HeaderView> headers;
    for (const auto& [key, value] : record.headers) {
      headers.push_back({key, bytes_of(value)});
    }
    builder.append({bytes_of(record.key), bytes_of(record.value), record.timestamp, headers});
  }
  return *builder.build();
}

std::vector<Plain> read_all(const RecordBatchView& batch) {
  std::vector<Plain> records;
  const auto done = for_each_record(batch, SIZE_MAX, [&](const RecordView& view, const RecordReader& reader) {
    Plain record{text_of(view.key), text_of(view.value), reader.timestamp_of(view), {}};
    for (const auto& header : view.headers) {
      record.headers.emplace_back(std::string{header.key}, text_of(header.value));
    }
    EXPECT_EQ(reader.offset_of(view).value, batch.base_offset() + std::ssize(records));
    records.push_back(std::move(record));
  });
  EXPECT_TRUE(done) << to_string(done.error());
  return records;
}

TEST(Record, KeysValuesHeadersAndTimesComeBackThroughEveryCodec) {
  for (const auto codec : {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const auto records = some_records(seed, 100);
      const auto bytes = built(records, {.codec = codec, .base_offset = Offset{50}});
      EXPECT_EQ(read_all(*RecordBatchView::parse(bytes)), records) << to_string(codec) << " seed " << seed;
    }
  }
}

TEST(Record, EmptyIsNotNull) {
  const std::vector<Plain> records{{"", "", 5, {{"", ""}, {"x", std::nullopt}}}, {std::nullopt, std::nullopt, 5, {}}};
  const auto bytes = built(records, {});
  EXPECT_EQ(read_all(*RecordBatchView::parse(bytes)), records);
}

TEST(Record, TheLogsStampCountsWhereTheBatchSaysSo) {
  auto bytes = built({{"k", "v", 100, {}}}, {});
  set_max_timestamp(bytes, TimestampType::log_append_time, 777);
  EXPECT_EQ(read_all(*RecordBatchView::parse(bytes))[0].timestamp, 777);
}

TEST(Record, EveryPrefixOfARecordIsTruncated) {
  const auto bytes = built({{"key", "value", 9, {{"header", "x"}}}}, {});
  const auto payload = Bytes{bytes}.subspan(kBatchHeaderSize);
  for (std::size_t cut = 1; cut < payload.size(); ++cut) {
    RecordCursor cursor{payload.first(cut)};
    EXPECT_EQ(cursor.next().error().code, Errc::truncated) << cut;
  }
  RecordCursor cursor{payload};
  EXPECT_TRUE(*cursor.next());
  EXPECT_FALSE(*cursor.next());
}

// A record whose inside is given number by number; its length in front is `lie` or, if absent, the true one.
Buffer record_of(std::initializer_list<std::int64_t> fields, std::optional<std::int64_t> lie = {}) {
  Buffer body{std::byte{0}};
  for (const auto field : fields) {
    append_varint(body, field);
  }
  Buffer out;
  append_varint(out, lie.value_or(std::ssize(body)));
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

TEST(Record, LengthsThatContradictEachOtherAreCorrupt) {
  const auto code = [](const Buffer& bytes) { return RecordCursor{bytes}.next().error().code; };
  EXPECT_TRUE(RecordCursor{record_of({0, 0, -1, -1, 0})}.next()) << "the honest one";
  EXPECT_TRUE(RecordCursor{record_of({0, 0, -7, -9, 0})}.next()) << "any negative length is null";
  EXPECT_EQ(code(record_of({0, 0, 100, -1, 0})), Errc::corrupt) << "a key beyond the record";
  EXPECT_EQ(code(record_of({0, 0, -1, INT32_MAX, 0})), Errc::corrupt);
  EXPECT_EQ(code(record_of({0, 0, -1, -1, -1})), Errc::corrupt) << "fewer than no headers";
  EXPECT_EQ(code(record_of({0, 0, -1, -1, INT32_MAX})), Errc::corrupt) << "headers that are not there";
  EXPECT_EQ(code(record_of({0, 0, -1, -1, 1, -1, -1})), Errc::corrupt) << "a header without a key";
  EXPECT_EQ(code(record_of({0, 0, -1, -1, 0, 0})), Errc::corrupt) << "a byte left over";
  EXPECT_EQ(code(record_of({0, 0, -1, -1, 0}, 5)), Errc::corrupt) << "a length that is one short";
  EXPECT_EQ(code(record_of({0, 0, -1, -1, 0}, -1)), Errc::corrupt);
  EXPECT_EQ(code(record_of({0, 0, -1, -1, 0}, INT32_MAX)), Errc::truncated);
  EXPECT_EQ(code(Buffer(6, std::byte{0x80})), Errc::corrupt) << "a length that never ends";
}

TEST(Record, ACountThatIsTooHighOrTooLowIsRefusedInEveryCodec) {
  for (const auto codec : {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
    auto bytes = built(some_records(4, 10), {.codec = codec});
    for (const auto& [count, expected] : std::vector<std::pair<std::int32_t, Errc>>{{11, Errc::truncated},
                                                                                    {INT32_MAX, Errc::truncated},
                                                                                    {9, Errc::corrupt},
                                                                                    {0, Errc::corrupt},
                                                                                    {-1, Errc::corrupt}}) {
      store_be(bytes, kRecordCountAt, count);
      const auto batch = *RecordBatchView::parse(bytes);
      const auto done = for_each_record(batch, SIZE_MAX, [](const RecordView&, const RecordReader&) {});
      ASSERT_FALSE(done) << to_string(codec) << " " << count;
      EXPECT_EQ(done.error().code, expected) << to_string(codec) << " " << count;
    }
  }
}

TEST(Record, ABombStopsAtTheLimitAndUnknownCodecsAreUnsupported) {
  const std::string zeros(20'000'000, '\0');
  for (const auto codec : {Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
    auto bytes = built({{"k", zeros, 1, {}}}, {.codec = codec});
    const auto batch = *RecordBatchView::parse(bytes);
    RecordReader reader{batch, 1'000'000};
    EXPECT_EQ(reader.next().error().code, Errc::too_large) << to_string(codec);
    EXPECT_EQ(reader.next().error().code, Errc::too_large) << "a failure stays";
    store_be<std::uint16_t>(bytes, kAttributesAt, 6);
    const auto unknown = *RecordBatchView::parse(bytes);
    EXPECT_EQ(RecordReader(unknown, 100).next().error(), (Error{Errc::unsupported, 6}));
  }
}

TEST(Record, ExtremeTimestampsWrapAndDoNotOverflow) {
  RecordBatchBuilder builder;
  builder.append({.timestamp = INT64_MAX});
  builder.append({.timestamp = INT64_MIN});
  const auto bytes = *builder.build();
  const auto batch = *RecordBatchView::parse(bytes);
  const auto records = read_all(batch);
  EXPECT_EQ(records[0].timestamp, INT64_MAX);
  EXPECT_EQ(records[1].timestamp, INT64_MIN);
}

}  // namespace
}  // namespace weir::protocol
