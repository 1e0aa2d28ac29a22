#include "protocol/batch_frame.hpp"

#include <gtest/gtest.h>

#include "protocol/record.hpp"

namespace weir::protocol {
namespace {

std::vector<std::byte> one_batch(Codec codec = Codec::none) {
  RecordBatchBuilder builder{{.codec = codec}};
  builder.append({.value = as_bytes(std::string_view{"value"}), .timestamp = 1'700'000'000'000});
  return *builder.build();
}

std::vector<std::byte> with_length(std::int32_t length) {
  auto lie = one_batch();
  store_be(lie, kLengthAt, length);
  return lie;
}

std::vector<std::byte> with_magic(std::int8_t magic) {
  auto lie = one_batch();
  lie[kMagicAt] = static_cast<std::byte>(magic);
  return lie;
}

// The cases of a real 4.4.0 node: compat_tests/differ/cases/produce_what_is_looked_at_first.json.
TEST(BatchFrame, GarbledIsOnlyAFirstBatchWhoseMagicOrLengthIsImpossible) {
  for (const auto& bytes : {with_length(-1), with_length(0), with_length(13), with_magic(-1), with_magic(3)}) {
    const auto refusal = refuse_garbled(bytes);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code, ErrorCode::corrupt_message);
    EXPECT_FALSE(refusal->error_message.empty());
  }
  auto behind = one_batch();
  const auto bad = with_length(0);
  behind.insert(behind.end(), bad.begin(), bad.end());
  for (const auto& bytes : {one_batch(), with_length(14), with_length(INT32_MAX), with_magic(0), with_magic(1), behind,
                            std::vector<std::byte>{}, std::vector<std::byte>(kLengthEnd - 1)}) {
    EXPECT_FALSE(refuse_garbled(bytes)) << bytes.size();
  }
}

TEST(BatchFrame, ExactlyOneBatchOfThisFormatPasses) {
  const auto code = [](Bytes records, std::int16_t version = 13) {
    Bytes batch;
    const auto refusal = refuse_frame(records, version, batch);
    EXPECT_TRUE(!refusal || refusal->before_log);
    return refusal ? refusal->code : ErrorCode::none;
  };
  auto two = one_batch();
  const auto part = one_batch();
  two.insert(two.end(), part.begin(), part.end());
  EXPECT_EQ(code(one_batch()), ErrorCode::none);
  EXPECT_EQ(code(two), ErrorCode::invalid_record);
  EXPECT_EQ(code(Bytes{two}.first(two.size() - 1)), ErrorCode::none) << "a partial one behind it";
  EXPECT_EQ(code({}), ErrorCode::invalid_record);
  EXPECT_EQ(code(with_magic(1)), ErrorCode::invalid_record);
  EXPECT_EQ(code(with_length(0)), ErrorCode::corrupt_message);
  EXPECT_EQ(code(one_batch(Codec::zstd), 6), ErrorCode::unsupported_compression_type);
  EXPECT_EQ(code(one_batch(Codec::zstd), 7), ErrorCode::none);
}

std::vector<std::byte> with_attributes(std::uint16_t attributes) {
  auto lie = one_batch();
  store_be(lie, kAttributesAt, attributes);
  return lie;
}

TEST(BatchFrame, BeforeVersion7ACodecThatDoesNotExistIsTheEndOfTheWholeRequest) {
  const auto whole = [](Bytes records, std::int16_t version) {
    Bytes batch;
    const auto refusal = refuse_frame(records, version, batch);
    EXPECT_TRUE(!refusal || !refusal->whole_request || refusal->code == ErrorCode::unknown_server_error);
    return refusal && refusal->whole_request;
  };
  for (std::uint16_t codec = 5; codec <= kCodecMask; ++codec) {
    EXPECT_TRUE(whole(with_attributes(codec), 6)) << codec;
    EXPECT_FALSE(whole(with_attributes(codec), 7)) << codec;
  }
  EXPECT_FALSE(whole(one_batch(Codec::zstd), 6));
  EXPECT_FALSE(whole(one_batch(Codec::lz4), 6));
  EXPECT_FALSE(whole(with_magic(1), 6)) << "the format is looked at first";
}

TEST(BatchFrame, OnlyAWholeBatchOfThisFormatCanBeOfATransaction) {
  auto transactional = with_attributes(kTransactionalBit);
  EXPECT_TRUE(is_transactional(transactional));
  EXPECT_TRUE(is_transactional(with_attributes(0x15)));
  EXPECT_FALSE(is_transactional(one_batch()));
  EXPECT_FALSE(is_transactional(Bytes{transactional}.first(transactional.size() - 1)));
  EXPECT_FALSE(is_transactional({}));
  transactional[kMagicAt] = std::byte{1};
  EXPECT_FALSE(is_transactional(transactional));
}

}  // namespace
}  // namespace weir::protocol
