#include "broker/connection_quotas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::broker {
namespace {
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kNanosPerMilli = 1'000'000;

class ConnectionQuotasTest : public testing::Test {
 protected:
  void set(DynamicConfigs configs) { config_.set_dynamic({}, std::move(configs)); }
  ConnectionQuotas::Admission admit(const std::string& address = "10.0.0.1",
                                    const std::string& listener = "PLAINTEXT") {
    return quotas_.admit(listener, address, now_ms_ * kNanosPerMilli);
  }

  Millis now_ms_ = 1'000'000;
  EffectiveConfig config_{Config{}};
  ConnectionQuotas quotas_{config_};
};

TEST_F(ConnectionQuotasTest, OfOneAddressNoMoreAreTakenThanPerIpSaysAndOthersAreNotConcerned) {
  set({{"max.connections.per.ip", "2"}, {"max.connections.per.ip.overrides", "10.0.0.9:1"}});
  EXPECT_THAT(admit().refused, IsEmpty());
  EXPECT_THAT(admit().refused, IsEmpty());
  EXPECT_THAT(admit().refused, HasSubstr("max.connections.per.ip (2)"));
  EXPECT_THAT(admit("10.0.0.2").refused, IsEmpty());
  EXPECT_THAT(admit("10.0.0.9").refused, IsEmpty());
  EXPECT_THAT(admit("10.0.0.9").refused, HasSubstr("(1)")) << "its own limit";
  quotas_.left("PLAINTEXT", "10.0.0.1");
  EXPECT_THAT(admit().refused, IsEmpty()) << "one has left";
}

TEST_F(ConnectionQuotasTest, ALimitThatIsSetWhileSomeAreOpenHoldsForTheNext) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(admit().refused, IsEmpty());
  }
  set({{"max.connections.per.ip", "3"}});
  EXPECT_THAT(admit().refused, HasSubstr("(3)"));
  set({});
  EXPECT_THAT(admit().refused, IsEmpty());
}

TEST_F(ConnectionQuotasTest, TheBrokerAndEachListenerHaveLimitsOfTheirOwn) {
  set({{"max.connections", "3"}, {"listener.name.external.max.connections", "1"}});
  EXPECT_THAT(admit("10.0.0.1", "EXTERNAL").refused, IsEmpty());
  EXPECT_THAT(admit("10.0.0.1", "EXTERNAL").refused, HasSubstr("EXTERNAL (1)"));
  EXPECT_THAT(admit("10.0.0.1", "INTERNAL").refused, IsEmpty());
  EXPECT_THAT(admit("10.0.0.1", "INTERNAL").refused, IsEmpty());
  EXPECT_THAT(admit("10.0.0.1", "INTERNAL").refused, HasSubstr("max.connections (3)"));
}

// Measured: a Kafka node with rate 1 serves ten of sixteen at once, the others one a second.
TEST_F(ConnectionQuotasTest, BeyondTheRateOneComesAfterTheOther) {
  set({{"max.connection.creation.rate", "1"}});
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(admit().wait_ms, 0) << i;
  }
  EXPECT_EQ(admit().wait_ms, 1'000);
  EXPECT_EQ(admit().wait_ms, 2'000);
  now_ms_ += 2'500;
  EXPECT_EQ(admit().wait_ms, 500);
  now_ms_ += 20'000;
  EXPECT_EQ(admit().wait_ms, 0);
}

TEST_F(ConnectionQuotasTest, WhoWouldWaitTooLongIsRefusedAndCostsNoTurn) {
  set({{"max.connection.creation.rate", "1"}});
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(admit().refused, IsEmpty()) << i;
  }
  EXPECT_THAT(admit().refused, HasSubstr("max.connection.creation.rate"));
  EXPECT_THAT(admit().refused, HasSubstr("max.connection.creation.rate"));
  now_ms_ += 1'000;
  EXPECT_EQ(admit().wait_ms, 10'000);
}

TEST_F(ConnectionQuotasTest, ARateOfAListenerSlowsNobodyElse) {
  set({{"listener.name.external.max.connection.creation.rate", "2"}});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(admit("10.0.0.1", "EXTERNAL").wait_ms, 0);
  }
  EXPECT_EQ(admit("10.0.0.1", "EXTERNAL").wait_ms, 500);
  EXPECT_EQ(admit("10.0.0.1", "INTERNAL").wait_ms, 0);
}

}  // namespace
}  // namespace weir::broker
