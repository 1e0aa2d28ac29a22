#include "protocol/record_batch.hpp"

#include <gtest/gtest.h>

#include "protocol/record.hpp"

namespace weir::protocol {
namespace {

using Buffer = std::vector<std::byte>;

Buffer batch_of(std::int32_t records, BatchOptions options = {}, Millis first_timestamp = 1'700'000'000'000) {
  RecordBatchBuilder builder{options};
  for (std::int32_t i = 0; i < records; ++i) {
    const auto value = "value " + std::to_string(i);
    builder.append({.key = as_bytes("key"), .value = as_bytes(value), .timestamp = first_timestamp + i});
  }
  return *builder.build();
}

TEST(RecordBatch, EveryHeaderFieldIsReadBack) {
  const auto bytes = batch_of(3, {.codec = Codec::zstd,
                                  .base_offset = Offset{77},
                                  .leader_epoch = LeaderEpoch{5},
                                  .producer_id = 1234,
                                  .producer_epoch = 6,
                                  .base_sequence = INT32_MAX - 1,
                                  .transactional = true,
                                  .control = true});
  const auto batch = *RecordBatchView::parse(bytes);
  EXPECT_EQ(batch.size(), bytes.size());
  EXPECT_EQ(batch.base_offset(), 77);
  EXPECT_EQ(batch.last_offset(), 79);
  EXPECT_EQ(batch.length(), static_cast<std::int32_t>(bytes.size() - kLengthEnd));
  EXPECT_EQ(batch.leader_epoch(), 5);
  EXPECT_EQ(batch.magic(), kMagic);
  EXPECT_EQ(batch.codec(), Codec::zstd);
  EXPECT_TRUE(batch.is_compressed() && batch.is_transactional() && batch.is_control() && batch.has_producer());
  EXPECT_EQ(batch.attributes(), 0x34);
  EXPECT_EQ(batch.timestamp_type(), TimestampType::create_time);
  EXPECT_EQ(batch.base_timestamp(), 1'700'000'000'000);
  EXPECT_EQ(batch.max_timestamp(), 1'700'000'000'002);
  EXPECT_EQ(batch.producer_id(), 1234);
  EXPECT_EQ(batch.producer_epoch(), 6);
  EXPECT_EQ(batch.base_sequence(), INT32_MAX - 1);
  EXPECT_EQ(batch.last_sequence(), 0) << "sequences wrap inside a batch";
  EXPECT_EQ(batch.record_count(), 3);
  EXPECT_FALSE(batch.delete_horizon());
  EXPECT_TRUE(batch.crc_ok());
  const auto facts = batch.facts();
  EXPECT_EQ(facts.size_bytes, bytes.size());
  EXPECT_EQ(facts.last_offset(), 79);
  EXPECT_EQ(facts.last_sequence(), 0);
  EXPECT_TRUE(facts.has_producer() && facts.is_transactional() && facts.is_control());
}

// Bytes that Kafka's clients would send for one record "k" -> "v" at 1700000000000, written down by hand.
TEST(RecordBatch, TheBuilderWritesKafkasBytes) {
  RecordBatchBuilder builder;
  builder.append({.key = as_bytes("k"), .value = as_bytes("v"), .timestamp = 1'700'000'000'000});
  const auto bytes = *builder.build();
  const std::string_view record{"\x10\x00\x00\x00\x02k\x02v\x00", 9};
  EXPECT_EQ(as_text(Bytes{bytes}.subspan(kBatchHeaderSize)), record);
  EXPECT_EQ(bytes.size(), 70U);
  EXPECT_EQ(load_be<std::int64_t>(bytes, kProducerIdAt), -1);
  EXPECT_EQ(load_be<std::int32_t>(bytes, kBaseSequenceAt), -1);
}

TEST(RecordBatch, EveryPrefixIsTruncatedAndTheWholeIsNot) {
  const auto bytes = batch_of(2);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    const auto result = RecordBatchView::parse(Bytes{bytes}.first(cut));
    ASSERT_FALSE(result) << cut;
    EXPECT_EQ(result.error().code, Errc::truncated) << cut;
  }
  auto more = bytes;
  more.resize(bytes.size() + 9);
  EXPECT_EQ(RecordBatchView::parse(more)->size(), bytes.size()) << "what follows is not part of it";
}

TEST(RecordBatch, AWholeOneFillsItsBytesAndItsOffsetsDoNotRunBackwards) {
  RecordBatchBuilder builder;
  builder.append({.value = as_bytes(std::string_view{"v"})});
  builder.append({.value = as_bytes(std::string_view{"w"})});
  const auto bytes = *builder.build();
  EXPECT_TRUE(RecordBatchView::parse_whole(bytes));
  auto longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_EQ(RecordBatchView::parse_whole(longer).error().code, Errc::corrupt);
  EXPECT_EQ(RecordBatchView::parse_whole(Bytes{bytes}.first(bytes.size() - 1)).error().code, Errc::truncated);
  for (std::size_t at = kCrcAt; at < bytes.size(); ++at) {
    auto flipped = bytes;
    flipped[at] ^= std::byte{1};
    EXPECT_FALSE(RecordBatchView::parse_whole(flipped)) << at;
  }
  const auto with_offsets = [&](std::int64_t base, std::int32_t last_delta) {
    auto changed = bytes;
    store_be(changed, kBaseOffsetAt, base);
    store_be(changed, kLastOffsetDeltaAt, last_delta);
    renew_crc(changed);
    return RecordBatchView::parse_whole(changed).has_value();
  };
  EXPECT_TRUE(with_offsets(0, 0));
  EXPECT_TRUE(with_offsets(7, INT32_MAX)) << "compaction leaves gaps";
  EXPECT_FALSE(with_offsets(0, -1));
  EXPECT_FALSE(with_offsets(-1, 1));
  EXPECT_TRUE(with_offsets(INT64_MAX - 2, 1));
  EXPECT_FALSE(with_offsets(INT64_MAX - 1, 1)) << "no offset would be left for the next one";
}

TEST(RecordBatch, OldAndUnknownMagicAndBadLengthsAreToldApart) {
  auto bytes = batch_of(1);
  for (const std::int8_t magic : {std::int8_t{0}, std::int8_t{1}}) {
    store_be(bytes, kMagicAt, magic);
    EXPECT_EQ(RecordBatchView::parse(bytes).error(), (Error{Errc::unsupported, magic}));
    EXPECT_EQ(RecordBatchView::parse(Bytes{bytes}.first(26)).error().code, Errc::unsupported)
        << "old batches may be shorter than our header";
  }
  for (const std::int8_t magic : {std::int8_t{3}, std::int8_t{-1}}) {
    store_be(bytes, kMagicAt, magic);
    EXPECT_EQ(RecordBatchView::parse(bytes).error(), (Error{Errc::corrupt, magic}));
  }
  store_be(bytes, kMagicAt, kMagic);
  for (const std::int32_t length : {kBatchLengthMin - 1, 0, -1, INT32_MIN}) {
    store_be(bytes, kLengthAt, length);
    EXPECT_EQ(RecordBatchView::parse(bytes).error(), (Error{Errc::corrupt, length}));
  }
  store_be(bytes, kLengthAt, INT32_MAX);
  EXPECT_EQ(RecordBatchView::parse(bytes).error().code, Errc::truncated);
}

TEST(RecordBatch, AnyFlippedBitBehindTheChecksumBreaksItAndNoneBeforeDoes) {
  const auto bytes = batch_of(1);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (at >= kLengthAt && at < kLengthEnd) {
      continue;  // another length is another batch
    }
    auto damaged = bytes;
    damaged[at] ^= std::byte{0x10};
    const auto batch = RecordBatchView::parse(damaged);
    if (at == kMagicAt) {
      EXPECT_FALSE(batch);
    } else {
      EXPECT_EQ(batch->crc_ok(), at < kMagicAt) << at;
    }
  }
}

TEST(RecordBatch, OffsetAndEpochArePatchedOutsideTheChecksum) {
  auto bytes = batch_of(2);
  patch_base_offset(bytes, Offset{1'000'000'000'000});
  patch_leader_epoch(bytes, LeaderEpoch{9});
  const auto batch = *RecordBatchView::parse(bytes);
  EXPECT_TRUE(batch.crc_ok());
  EXPECT_EQ(batch.last_offset(), 1'000'000'000'001);
  EXPECT_EQ(batch.leader_epoch(), 9);
}

TEST(RecordBatch, MaxTimestampIsSetWithANewChecksumAndOnlyWhenItChanges) {
  auto bytes = batch_of(2);
  store_be<std::uint16_t>(bytes, kAttributesAt, 0x0240);
  renew_crc(bytes);
  const auto before = bytes;
  set_max_timestamp(bytes, TimestampType::create_time, 1'700'000'000'001);
  EXPECT_EQ(bytes, before) << "nothing to change keeps unknown bits";
  set_max_timestamp(bytes, TimestampType::log_append_time, 42);
  auto batch = *RecordBatchView::parse(bytes);
  EXPECT_TRUE(batch.crc_ok());
  EXPECT_EQ(batch.max_timestamp(), 42);
  EXPECT_EQ(batch.attributes(), 0x0048) << "a rewrite drops the unknown bit and keeps the delete horizon";
  set_max_timestamp(bytes, TimestampType::create_time, 42);
  batch = *RecordBatchView::parse(bytes);
  EXPECT_EQ(batch.attributes(), 0x0040);
  EXPECT_TRUE(batch.crc_ok());
  EXPECT_EQ(batch.delete_horizon(), 1'700'000'000'000);
}

TEST(RecordBatch, AChainGivesEachBatchAndReportsAPartialLastOne) {
  auto bytes = batch_of(1);
  const auto second = batch_of(4);
  bytes.insert(bytes.end(), second.begin(), second.end());
  for (const std::size_t cut : {bytes.size(), bytes.size() - 1, bytes.size() - second.size() + 1}) {
    BatchChain chain{Bytes{bytes}.first(cut)};
    EXPECT_EQ((*chain.next())->record_count(), 1);
    if (cut == bytes.size()) {
      EXPECT_EQ((*chain.next())->record_count(), 4);
    }
    EXPECT_FALSE(*chain.next());
    EXPECT_EQ(chain.has_partial(), cut != bytes.size());
    EXPECT_EQ(chain.rest().size(), cut == bytes.size() ? 0 : cut - (bytes.size() - second.size()));
  }
  store_be<std::int8_t>(bytes, bytes.size() - second.size() + kMagicAt, 7);
  BatchChain chain{bytes};
  EXPECT_TRUE(*chain.next());
  EXPECT_EQ(chain.next().error().code, Errc::corrupt);
  EXPECT_EQ(chain.next().error().code, Errc::corrupt) << "a chain does not step over damage";
}

TEST(RecordBatch, SequencesWrapToZeroAfterTheLargest) {
  EXPECT_EQ(sequence_plus(INT32_MAX, 1), 0);
  EXPECT_EQ(sequence_plus(INT32_MAX - 1, 3), 1);
  EXPECT_EQ(sequence_plus(5, 0), 5);
}

}  // namespace
}  // namespace weir::protocol
