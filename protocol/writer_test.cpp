#include "protocol/writer.hpp"

#include <gtest/gtest.h>

#include "protocol/codec.hpp"
#include "protocol/gen/fetch.hpp"
#include "protocol/gen/list_groups.hpp"
#include "protocol/gen/metadata.hpp"
#include "protocol/gen/produce.hpp"

namespace weir::protocol {
namespace {

using namespace std::string_view_literals;

FetchResponse with_records(const SharedBytes& records) {
  FetchResponse response;
  response.responses.resize(1);
  response.responses[0].partitions.resize(1);
  response.responses[0].partitions[0].records.emplace(records);
  return response;
}

TEST(Writer, RecordsGoIntoTheChainByReferenceAndTheRestIntoSlabs) {
  const auto records = SharedBytes::copy_of(as_bytes(std::string(5000, 'r')));
  Writer out = Writer::framed();
  ASSERT_TRUE(encode(out, 12, with_records(records)));
  const auto chain = out.finish();
  ASSERT_EQ(chain.pieces().size(), 3U) << "before, records, after";
  EXPECT_EQ(std::get<SharedBytes>(chain.pieces()[1]).view().data(), records.view().data());
  const auto bytes = chain.flatten();
  EXPECT_EQ(load_be<std::int32_t>(bytes, 0), std::ssize(bytes) - 4) << "the frame size counts what follows it";
}

TEST(Writer, TinyRecordsAreCopiedSoThatAGatheredWriteStaysShort) {
  Writer out;
  ASSERT_TRUE(encode(out, 12, with_records(SharedBytes::copy_of(as_bytes("tiny")))));
  EXPECT_EQ(out.finish().pieces().size(), 1U);
}

TEST(Writer, FileRunsPassThroughWhateverTheirSize) {
  FetchResponse response = with_records({});
  response.responses[0].partitions[0].records.emplace().append(
      FileRun{.handle = 3, .position = 0, .size = 10, .owner = {}});
  Writer out;
  ASSERT_TRUE(encode(out, 12, response));
  const auto chain = out.finish();
  ASSERT_EQ(chain.pieces().size(), 3U);
  EXPECT_TRUE(std::holds_alternative<FileRun>(chain.pieces()[1]));
}

TEST(Writer, AValueThatTheVersionCannotCarryIsRefusedByName) {
  FetchRequest request;
  request.topics.resize(1);
  request.topics[0].partitions.resize(1);
  request.topics[0].partitions[0].last_fetched_epoch = 4;
  Writer out;
  EXPECT_EQ(encode(out, 11, request).error().code, Errc::invalid_argument);
  EXPECT_EQ(out.refused_field(), "LastFetchedEpoch");
  Writer newer;
  EXPECT_TRUE(encode(newer, 12, request));
}

TEST(Writer, AnIgnorableValueIsDroppedWhereTheVersionLacksIt) {
  FetchRequest request;
  request.rack_id = "r1";
  EXPECT_EQ(*encode_all(request, 10), *encode_all(FetchRequest{}, 10));
  EXPECT_NE(*encode_all(request, 11), *encode_all(FetchRequest{}, 11));
}

TEST(Writer, NullWhereTheVersionHasNoNullIsRefused) {
  MetadataRequest all;
  all.topics.reset();
  EXPECT_TRUE(encode_all(all, 1));
  EXPECT_EQ(encode_all(all, 0).error().code, Errc::invalid_argument);
}

TEST(Writer, StringsOverInt16AreRefusedInBothForms) {
  MetadataRequest request;
  request.topics.emplace(1);
  for (const auto version : {std::int16_t{1}, std::int16_t{9}}) {
    request.topics->front().name = std::string(32767, 'x');
    EXPECT_TRUE(encode_all(request, version));
    request.topics->front().name = std::string(32768, 'x');
    EXPECT_EQ(encode_all(request, version).error().code, Errc::too_large);
  }
}

TEST(Writer, UnknownTagsAreKeptInOrderAndRefusedInAnOldVersion) {
  ListGroupsRequest request;
  request.unknown_tags = {{7, Blob{as_bytes("a")}}, {300, Blob{as_bytes("bc")}}};
  const auto bytes = encode_all(request, 3);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(as_text(*bytes),
            "\x02\x07\x01"
            "a\xac\x02\x02"
            "bc"sv);
  EXPECT_EQ(encode_all(request, 2).error().code, Errc::invalid_argument);
  std::swap(request.unknown_tags[0], request.unknown_tags[1]);
  EXPECT_EQ(encode_all(request, 3).error().code, Errc::invalid_argument) << "tags must ascend";
}

}  // namespace
}  // namespace weir::protocol
