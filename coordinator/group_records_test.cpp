#include <gtest/gtest.h>

#include "coordinator/group_testing.hpp"
#include "coordinator/replay.hpp"
#include "protocol/record.hpp"

namespace weir::group {
namespace {

std::string hex(Bytes bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4U];
    text += kDigits[std::to_integer<unsigned>(byte) & 15U];
  }
  return text;
}

// The bytes below were put together by hand from the schemas of Kafka 4.4's records, field by field.
TEST(GroupRecords, ACommittedOffsetIsWrittenInVersionFourWithItsTopicId) {
  CommittedOffset value{.offset = 5, .leader_epoch = 3, .metadata = "x", .commit_ms = 0x0102030405060708};
  auto record = offset_record({"g1", "t", 7}, value);
  EXPECT_EQ(hex(record.key),
            "0001"
            "0002"
            "6731"
            "0001"
            "74"
            "00000007");
  EXPECT_EQ(hex(*record.value),
            "0004"
            "0000000000000005"
            "00000003"
            "0278"
            "0102030405060708"
            "00")
      << "no id, no tag";
  value.topic_id.bytes[0] = std::byte{0xab};
  record = offset_record({"g1", "t", 7}, value);
  EXPECT_EQ(hex(*record.value),
            "0004"
            "0000000000000005"
            "00000003"
            "0278"
            "0102030405060708"
            "01"
            "00"
            "10"
            "ab000000000000000000000000000000");
}

TEST(GroupRecords, AnOffsetWithItsOwnExpiryIsWrittenInVersionOne) {
  const auto record = offset_record({"g", "t", 0}, {.offset = -1, .metadata = "", .commit_ms = 1, .expire_ms = 2});
  EXPECT_EQ(hex(*record.value),
            "0001"
            "ffffffffffffffff"
            "0000"
            "0000000000000001"
            "0000000000000002");
}

TEST(GroupRecords, AGroupIsWrittenInVersionThree) {
  GroupValue value{
      .protocol_type = "consumer", .generation = 2, .protocol = "range", .leader = "m", .state_since_ms = 9};
  MemberValue member;
  member.member_id = "m";
  member.instance_id = "i";
  member.client_id = "c";
  member.client_host = "/h";
  member.rebalance_timeout_ms = 16;
  member.session_timeout_ms = 17;
  member.subscription = blob("S");
  member.assignment = blob("AA");
  value.members.push_back(member);
  const auto record = group_record("g", value);
  EXPECT_EQ(hex(record.key),
            "0002"
            "0001"
            "67");
  EXPECT_EQ(hex(*record.value),
            "0003"
            "0008"
            "636f6e73756d6572"
            "00000002"
            "0005"
            "72616e6765"
            "0001"
            "6d"
            "0000000000000009"
            "00000001"
            "0001"
            "6d"
            "0001"
            "69"
            "0001"
            "63"
            "0002"
            "2f68"
            "00000010"
            "00000011"
            "00000001"
            "53"
            "00000002"
            "4141");
}

TEST(GroupRecords, AGroupWithoutMembersHasNullsForProtocolAndLeader) {
  EXPECT_EQ(hex(*group_record("g", {.state_since_ms = -1}).value),
            "0003"
            "0000"
            "00000000"
            "ffff"
            "ffff"
            "ffffffffffffffff"
            "00000000");
  EXPECT_FALSE(group_tombstone("g").value.has_value());
  EXPECT_FALSE(offset_tombstone({"g", "t", 1}).value.has_value());
}

TEST(GroupRecords, WhatIsWrittenIsReadBack) {
  const CommittedOffset value{
      .offset = 5, .leader_epoch = 3, .metadata = "x", .commit_ms = 7, .topic_id = Random{3}.uuid()};
  const auto record = offset_record({"g", "t", 9}, value);
  const auto parsed = parse_record(record.key, Bytes{*record.value});
  EXPECT_EQ(std::get<OffsetRecord>(*parsed).key, (OffsetKey{"g", "t", 9}));
  EXPECT_EQ(std::get<OffsetRecord>(*parsed).value, value);
  EXPECT_FALSE(std::get<OffsetRecord>(*parse_record(record.key, {})).value.has_value());
}

TEST(GroupRecords, ForeignBytesAreErrorsAndLaterKindsAreKnownAsSuch) {
  const auto record = offset_record({"g", "t", 9}, {.offset = 1});
  for (std::size_t size = 0; size < record.key.size(); ++size) {
    EXPECT_FALSE(parse_record(Bytes{record.key}.first(size), {}));
  }
  for (std::size_t size = 0; size < record.value->size(); ++size) {
    EXPECT_FALSE(parse_record(record.key, Bytes{*record.value}.first(size)));
  }
  auto value = *record.value;
  value[1] = std::byte{9};
  EXPECT_EQ(parse_record(record.key, Bytes{value}).error().code, Errc::unsupported);
  auto key = record.key;
  key[1] = std::byte{3};
  EXPECT_EQ(std::get<UnknownRecord>(*parse_record(key, {})).type, 3);
}

TEST(GroupRecords, SubscriptionsAreReadFromTheirCommonPartOrNotAtAll) {
  EXPECT_EQ(subscribed_topics(subscription({"a", "b"}).view()), (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(subscribed_topics(blob("").view()).has_value());
  EXPECT_FALSE(subscribed_topics(as_bytes({"\0\1\x7f\xff\xff\xff", 6})).has_value());
}

TEST(GroupPartitionOf, IsJavasHashWithoutItsSign) {
  EXPECT_EQ(java_hash(""), 0);
  EXPECT_EQ(java_hash("group"), 98629247);
  EXPECT_EQ(java_hash("polygenelubricants"), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(partition_of_group("polygenelubricants", 50), 0) << "the one hash without a positive twin";
  EXPECT_EQ(partition_of_group("group", 50), 98629247 % 50);
  EXPECT_EQ(java_hash("\xc3\xa9"), 0xe9);
  EXPECT_EQ(java_hash("\xf0\x9f\x98\x80"), 0xd83d * 31 + 0xde00) << "two UTF-16 units";
  EXPECT_EQ(java_hash("\xff"), 0xfffd);
}

TEST(GroupReplay, ReadsBatchesOneBehindTheOtherAndStopsAtDamage) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 3; ++i) {
    protocol::RecordBatchBuilder builder{{.base_offset = Offset{i * 2}}};
    builder.append({.key = as_bytes("k"), .value = as_bytes("v"), .timestamp = 1});
    builder.append({.key = as_bytes("k"), .timestamp = 1});
    const auto batch = builder.build();
    bytes.insert(bytes.end(), batch->begin(), batch->end());
  }
  std::vector<std::pair<std::int64_t, bool>> seen;
  const auto each = [&](Offset offset, Bytes, std::optional<Bytes> value) {
    seen.emplace_back(offset.value, value.has_value());
  };
  const auto count = replay_batches(bytes, each);
  EXPECT_EQ(count->records, 6);
  EXPECT_EQ(seen[3], (std::pair<std::int64_t, bool>{3, false}));
  bytes.back() ^= std::byte{1};
  seen.clear();
  EXPECT_EQ(replay_batches(bytes, each).error().code, Errc::corrupt);
  EXPECT_EQ(seen.size(), 4U) << "what came before the damage was given";
  bytes.pop_back();
  EXPECT_FALSE(replay_batches(bytes, each));
}

}  // namespace
}  // namespace weir::group
