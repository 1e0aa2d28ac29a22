#include "protocol/reader.hpp"

#include <gtest/gtest.h>

#include "protocol/codec.hpp"
#include "protocol/gen/alter_user_scram_credentials.hpp"
#include "protocol/gen/fetch.hpp"
#include "protocol/gen/metadata.hpp"
#include "protocol/gen/produce.hpp"

namespace weir::protocol {
namespace {

using namespace std::string_view_literals;

Reader over(std::string_view text) {
  return Reader{as_bytes(text)};
}

TEST(Reader, TheFirstFailureSticksAndLaterReadsGiveZero) {
  auto in = over("\0\x01\0"sv);
  EXPECT_EQ(in.read_int16(), 1);
  EXPECT_EQ(in.read_int32(), 0);
  EXPECT_EQ(in.read_int8(), 0) << "the byte that is left is not read after a failure";
  EXPECT_EQ(in.result().error(), (Error{Errc::truncated, 2}));
}

TEST(Reader, VarintsTakeAtMostFiveBytesAndThirtyTwoBits) {
  EXPECT_EQ(over("\xff\xff\xff\xff\x0f"sv).read_uvarint(), 0xffffffffU);
  auto wide = over("\xff\xff\xff\xff\x1f"sv);
  wide.read_uvarint();
  EXPECT_EQ(wide.result().error().code, Errc::corrupt);
  auto endless = over("\x80\x80\x80\x80\x80\x01"sv);
  endless.read_uvarint();
  EXPECT_EQ(endless.result().error().code, Errc::corrupt);
  auto cut = over("\x80"sv);
  cut.read_uvarint();
  EXPECT_EQ(cut.result().error().code, Errc::truncated);
}

TEST(Reader, NullIsRefusedWhereTheVersionHasNoNull) {
  auto old = over("\xff\xff"sv);
  EXPECT_FALSE(old.read_nullable_string().has_value());
  EXPECT_TRUE(old.ok());
  auto refused = over("\xff\xff"sv);
  refused.read_string();
  EXPECT_EQ(refused.result().error().code, Errc::corrupt);
  auto compact = over("\0"sv);
  compact.set_flexible(true);
  compact.read_nullable_string(false);
  EXPECT_EQ(compact.result().error().code, Errc::corrupt);
}

// Metadata v0 with a count of 2^31-1 and v9 with 2^32-2: neither may take memory for more than the bytes that came.
TEST(Reader, AFalseCountIsRefusedBeforeMemoryIsTaken) {
  for (const auto& [version, bytes] : {std::pair{std::int16_t{0}, "\x7f\xff\xff\xff\0\0\0\0"sv},
                                       std::pair{std::int16_t{9}, "\xff\xff\xff\xff\x0f\0\0\0"sv}}) {
    auto in = over(bytes);
    MetadataRequest request;
    EXPECT_EQ(decode(in, version, request).error().code, Errc::truncated);
    EXPECT_TRUE(!request.topics || request.topics->capacity() == 0) << version;
  }
  auto in = over("\x7f\xff\xff\xff\0\0\0\1"sv);
  std::vector<std::int32_t> numbers;
  in.read_list(numbers);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(numbers.capacity(), 0U);
}

TEST(Reader, TagsMustAscendAndAKnownTagMustFillItsSize) {
  const auto read = [](std::string_view section) {
    auto in = over(section);
    in.set_flexible(true);
    std::vector<UnknownTag> unknown;
    in.read_tags(unknown, [&](std::uint32_t tag) {
      if (tag == 0) {
        in.read_int16();
      }
      return tag == 0;
    });
    return in.ok() ? static_cast<int>(unknown.size()) : -1;
  };
  EXPECT_EQ(read("\0"sv), 0);
  EXPECT_EQ(read("\x02\x00\x02\x01\x01\x05\x01x"sv), 1);
  EXPECT_EQ(read("\x02\x05\x01x\x00\x02\x01\x01"sv), -1) << "descending";
  EXPECT_EQ(read("\x02\x05\x01x\x05\x01x"sv), -1) << "twice";
  EXPECT_EQ(read("\x01\x00\x03\x01\x01\x01"sv), -1) << "one byte too many";
  EXPECT_EQ(read("\x01\x00\x01\x01\x01\x01"sv), -1) << "may not read beyond its own size";
  EXPECT_EQ(read("\x01\x05\x7f"sv), -1) << "longer than the bytes left";
}

TEST(Reader, RecordsShareTheFrameAndOutliveTheRequest) {
  ProduceRequest sent;
  sent.topic_data.resize(1);
  sent.topic_data[0].name = "orders";
  sent.topic_data[0].partition_data.resize(1);
  const std::string records(5000, 'r');
  sent.topic_data[0].partition_data[0].records.emplace(SharedBytes::copy_of(as_bytes(records)));
  std::optional<BufferChain> kept;
  const std::byte* inside_frame = nullptr;
  {
    const auto frame = SharedBytes::adopt(*encode_all(sent, 9));
    auto request = decode_all<ProduceRequest>(frame, 9);
    ASSERT_TRUE(request);
    EXPECT_TRUE(request->topic_data[0].name.is_borrowed());
    kept = std::move(request->topic_data[0].partition_data[0].records);
    inside_frame = frame.view().data();
  }
  const auto& piece = std::get<SharedBytes>(kept->pieces().front());
  EXPECT_EQ(as_text(piece.view()), records);
  EXPECT_GT(piece.view().data(), inside_frame) << "not a copy";
}

TEST(LogString, HidesSecretsShowsBytesAsSizesAndLeavesOutDefaults) {
  AlterUserScramCredentialsRequest request;
  request.upsertions.resize(1);
  request.upsertions[0].name = "ann\nforged line";
  request.upsertions[0].salted_password = Blob{as_bytes("hunter2")};
  const auto line = log_string(request);
  EXPECT_EQ(line,
            "AlterUserScramCredentialsRequest{upsertions=[{name=\"ann?forged line\", salted_password=<hidden>}]}");

  FetchResponse fetch;
  EXPECT_EQ(log_string(fetch), "FetchResponse{}");
  fetch.responses.resize(20);
  EXPECT_TRUE(log_string(fetch).ends_with(" +12]}")) << log_string(fetch);
}

}  // namespace
}  // namespace weir::protocol
