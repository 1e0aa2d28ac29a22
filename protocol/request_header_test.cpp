#include "protocol/request_header.hpp"

#include <gtest/gtest.h>

#include "protocol/gen/api_table.hpp"

namespace weir::protocol {
namespace {

constexpr std::int16_t kProduce = 0;
constexpr std::int16_t kSaslHandshake = 17;
constexpr std::int16_t kApiVersions = 18;
constexpr std::int16_t kOffsetDelete = 47;

SharedBytes bytes_of(std::string_view text) {
  return SharedBytes::copy_of(as_bytes(text));
}

TEST(RequestHeader, ClientIdKeepsItsInt16LengthInTheFlexibleHeaderAndATagByteFollows) {
  using namespace std::string_view_literals;
  const auto frame = bytes_of("\0\0\0\x0d\0\0\0\x07\0\x02me\0B"sv);
  const auto request = parse_request(frame);
  ASSERT_TRUE(request) << to_string(request.error());
  EXPECT_EQ(request->api_key, kProduce);
  EXPECT_EQ(request->version, 13);
  EXPECT_EQ(request->correlation_id, 7);
  EXPECT_EQ(request->client_id, "me");
  EXPECT_EQ(as_text(request->body.rest()), "B");
}

TEST(RequestHeader, OldVersionsHaveNoTagByteAndANullClientIdIsLegal) {
  using namespace std::string_view_literals;
  const auto request =
      parse_request(bytes_of("\0\0\0\x08\0\0\0\x07\xff\xff"
                             "B"sv));
  ASSERT_TRUE(request) << to_string(request.error());
  EXPECT_FALSE(request->client_id.has_value());
  EXPECT_EQ(as_text(request->body.rest()), "B");
}

TEST(RequestHeader, UnknownKeysAreRefusedAndShortFramesAreTruncated) {
  using namespace std::string_view_literals;
  EXPECT_EQ(parse_request(bytes_of("\x7f\xff\0\0\0\0\0\x07\0\0"sv)).error(), (Error{Errc::unsupported, 32767}));
  EXPECT_EQ(parse_request(bytes_of("\0\x04\0\0\0\0\0\x07\0\0"sv)).error(), (Error{Errc::unsupported, 4}))
      << "LeaderAndIsr was removed";
  const auto whole = "\0\0\0\x0d\0\0\0\x07\0\x02me\0"sv;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(parse_request(bytes_of(whole.substr(0, size))).error().code, Errc::truncated) << size;
  }
}

TEST(RequestHeader, ApiVersionsOfTheFutureIsReadAsTheNewestForm) {
  using namespace std::string_view_literals;
  const auto request = parse_request(bytes_of("\0\x12\0\x63\0\0\0\x07\0\0\0B"sv));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->version, 99);
  EXPECT_EQ(as_text(request->body.rest()), "B");
}

TEST(HeaderVersions, FollowTheApiTableAndApiVersionsAnswersPlainly) {
  EXPECT_EQ(request_header_version(kProduce, 8), 1);
  EXPECT_EQ(request_header_version(kProduce, 9), 2);
  EXPECT_EQ(response_header_version(kProduce, 8), 0);
  EXPECT_EQ(response_header_version(kProduce, 9), 1);
  EXPECT_EQ(request_header_version(kApiVersions, 3), 2);
  EXPECT_EQ(response_header_version(kApiVersions, 5), 0);
  EXPECT_EQ(request_header_version(kSaslHandshake, 1), 1);
  EXPECT_EQ(request_header_version(kOffsetDelete, 0), 1);
}

TEST(RequestHeader, WhatAClientWritesIsWhatTheBrokerReads) {
  Writer out;
  ASSERT_TRUE(write_request_header(out, kProduce, 12, 42, Text{"client"}));
  const auto request = parse_request(SharedBytes::adopt(out.finish().flatten()));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->correlation_id, 42);
  EXPECT_EQ(request->client_id, "client");
  EXPECT_EQ(request->body.remaining(), 0U);

  Writer answer;
  write_response_header(answer, kProduce, 12, 42);
  const auto response = parse_response(SharedBytes::adopt(answer.finish().flatten()), kProduce, 12);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->correlation_id, 42);
  EXPECT_EQ(response->body.remaining(), 0U);
}

TEST(ApiTable, HasEveryKeyOnceInOrderWithOurExtensions) {
  std::int16_t last = -1;
  for (const auto& api : api_table()) {
    EXPECT_GT(api.key, last);
    EXPECT_LE(api.min_version, api.max_version) << api.name;
    last = api.key;
  }
  EXPECT_EQ(api_table().size(), 91U + 10U) << "95 keys of Kafka without the four removed ones, and ours";
  EXPECT_EQ(api_name(0), "Produce");
  EXPECT_EQ(api_name(19004), "PrepareMessage");
  EXPECT_EQ(api_name(4), "unknown");
  EXPECT_EQ(find_api(93 + 1000), nullptr);
  const auto* init = find_api(22);
  ASSERT_NE(init, nullptr);
  EXPECT_TRUE(init->top_unstable);
  EXPECT_TRUE(init->on_broker);
  EXPECT_FALSE(init->on_controller);
}

}  // namespace
}  // namespace weir::protocol
