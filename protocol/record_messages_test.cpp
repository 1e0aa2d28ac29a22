#include "protocol/record_messages.hpp"

#include <gtest/gtest.h>

#include "protocol/gen/offset_commit_record.hpp"
#include "protocol/gen/topic_record.hpp"

namespace weir::protocol {
namespace {

TEST(CoordinatorRecords, AKeyIsItsTypeThenTheBodyAndAValueItsVersionThenTheBody) {
  OffsetCommitKey key;
  key.group = "g";
  key.topic = "t";
  key.partition = 3;
  const auto key_bytes = encode_coordinator_key(key);
  EXPECT_EQ(as_text(key_bytes), std::string_view("\0\1\0\1g\0\1t\0\0\0\3", 12));
  EXPECT_EQ(*peek_record_type(key_bytes), OffsetCommitKey::kRecordType);
  EXPECT_EQ(*decode_coordinator_key<OffsetCommitKey>(key_bytes), key);

  OffsetCommitValue value;
  value.offset = 42;
  value.metadata = "m";
  value.commit_timestamp = 7;
  const auto value_bytes = encode_coordinator_value(value, 3);
  ASSERT_TRUE(value_bytes);
  EXPECT_EQ(*peek_record_type(*value_bytes), 3);
  EXPECT_EQ(*decode_coordinator_value<OffsetCommitValue>(*value_bytes), value);
}

TEST(CoordinatorRecords, ANewerVersionIsUnsupportedAndAnotherTypeIsNotThisKey) {
  const std::byte newer[] = {std::byte{0}, std::byte{5}};
  EXPECT_EQ(decode_coordinator_value<OffsetCommitValue>(newer).error(), (Error{Errc::unsupported, 5}));
  const std::byte other[] = {std::byte{0}, std::byte{2}, std::byte{0}, std::byte{0}};
  EXPECT_EQ(decode_coordinator_key<OffsetCommitKey>(other).error(), (Error{Errc::invalid_argument, 2}));
  EXPECT_EQ(peek_record_type(Bytes{newer}.first(1)).error().code, Errc::truncated);
}

TEST(MetadataRecords, CarryFrameVersionKeyAndVersionAsVarints) {
  TopicRecord topic;
  topic.name = "orders";
  topic.topic_id.bytes.fill(std::byte{9});
  const auto bytes = encode_metadata_record(topic, 0);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(as_text(Bytes{*bytes}.first(4)), std::string_view("\1\2\0\7", 4));
  const auto frame = peek_metadata_record(*bytes);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->api_key, TopicRecord::kApiKey);
  EXPECT_EQ(frame->version, 0);
  EXPECT_EQ(*decode_metadata_record<TopicRecord>(*bytes), topic);
}

TEST(MetadataRecords, AnotherFrameVersionIsUnsupported) {
  const std::byte bytes[] = {std::byte{2}, std::byte{2}, std::byte{0}};
  EXPECT_EQ(peek_metadata_record(bytes).error(), (Error{Errc::unsupported, 2}));
}

}  // namespace
}  // namespace weir::protocol
