#include "broker/advertised.hpp"

#include <gtest/gtest.h>

namespace weir::broker {
namespace {

const Endpoint kCameInOn{"10.0.0.7", 9092};

Endpoint told(std::optional<Endpoint> advertised) {
  return advertised_endpoint({.name = "PLAINTEXT", .endpoint = {"", 9092}, .advertised = std::move(advertised)},
                             kCameInOn);
}

TEST(Advertised, AClientIsToldWhatItsListenerSaysAndForTheRestWhereItCameIn) {
  EXPECT_EQ(told(std::nullopt), kCameInOn);
  EXPECT_EQ(told(Endpoint{"broker.example", 19092}), (Endpoint{"broker.example", 19092}));
  EXPECT_EQ(told(Endpoint{"", 19092}), (Endpoint{"10.0.0.7", 19092}));
  EXPECT_EQ(told(Endpoint{"broker.example", 0}), (Endpoint{"broker.example", 9092}));
}

}  // namespace
}  // namespace weir::broker
