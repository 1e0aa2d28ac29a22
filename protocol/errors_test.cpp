#include "protocol/errors.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

namespace weir::protocol {
namespace {

constexpr std::int16_t kLast = 136;

TEST(ErrorCode, EveryNumberFromMinusOneToTheLastHasOneNameAndASentence) {
  std::set<std::string_view> names;
  for (std::int16_t value = -1; value <= kLast; ++value) {
    const auto code = error_code_from(value);
    ASSERT_TRUE(code.has_value()) << value;
    EXPECT_EQ(wire(*code), value);
    names.insert(to_string(*code));
    const auto text = error_text(*code);
    EXPECT_GT(text.size(), 5U) << value;
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(text.front())) != 0) << text;
  }
  EXPECT_EQ(names.size(), 138U);
}

TEST(ErrorCode, NumbersOutsideTheTableAreNoCode) {
  EXPECT_FALSE(error_code_from(-2).has_value());
  EXPECT_FALSE(error_code_from(kLast + 1).has_value());
}

TEST(ErrorCode, NamesAreKafkasAndOnlyRetriableOnesSaySo) {
  EXPECT_EQ(to_string(ErrorCode::unknown_server_error), "UNKNOWN_SERVER_ERROR");
  EXPECT_EQ(to_string(ErrorCode::not_leader_or_follower), "NOT_LEADER_OR_FOLLOWER");
  EXPECT_EQ(wire(ErrorCode::invalid_record), 87);
  EXPECT_TRUE(is_retriable(ErrorCode::not_leader_or_follower));
  EXPECT_FALSE(is_retriable(ErrorCode::invalid_record));
}

}  // namespace
}  // namespace weir::protocol
