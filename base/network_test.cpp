#include "base/network.hpp"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(Endpoint, TextComesBackEqualForNamesAndBothFamilies) {
  for (const Endpoint& endpoint :
       {Endpoint{"127.0.0.1", 9092}, Endpoint{"::1", 0}, Endpoint{"broker-1.example", 65535}, Endpoint{"", 9092}}) {
    EXPECT_EQ(endpoint_from_string(to_string(endpoint)), endpoint);
  }
  EXPECT_EQ(to_string(Endpoint{"::1", 80}), "[::1]:80");
}

TEST(Endpoint, TextWithoutAClearPortIsRefused) {
  for (const auto* text :
       {"", "host", "host:", ":", "host:65536", "host:-1", "host:9x", "::1", "[::1]", "[::1]9", "[::1"}) {
    EXPECT_FALSE(endpoint_from_string(text)) << text;
  }
}

}  // namespace
}  // namespace weir
