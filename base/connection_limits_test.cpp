#include "base/connection_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/config.hpp"

namespace weir {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

LoadedConfig load(std::vector<std::pair<std::string, std::string>> settings) {
  std::vector<ConfigInput> inputs;
  for (auto& [name, value] : settings) {
    inputs.push_back({name, value, ConfigInput::From::file});
  }
  return load_config(inputs);
}

TEST(ConnectionLimits, WithoutAnyKeyThereIsNone) {
  const auto limits = connection_limits(Config{});
  EXPECT_EQ(limits.connections, kNoConnectionLimit);
  EXPECT_EQ(limits.new_per_second, kNoConnectionLimit);
  EXPECT_EQ(limits.at("10.0.0.1"), kNoConnectionLimit);
  EXPECT_EQ(limits.burst_ms, 10'000) << "eleven windows of a second, the last is not over";
}

TEST(ConnectionLimits, OverridesAreOfAddressesHoweverTheyAreWritten) {
  const auto loaded =
      load({{"max.connections.per.ip", "7"},
            {"max.connections.per.ip.overrides", "127.0.0.9:3, 0:0:0:0:0:0:0:7:4 , 10.0.0.1 : 0,localhost:5"}});
  EXPECT_THAT(loaded.errors, IsEmpty());
  const auto limits = connection_limits(loaded.config);
  EXPECT_THAT(limits.of_address, ElementsAre(Pair("10.0.0.1", 0), Pair("127.0.0.1", 5), Pair("127.0.0.9", 3),
                                             Pair("::1", 5), Pair("::7", 4)));
  EXPECT_EQ(limits.at("127.0.0.9"), 3);
  EXPECT_EQ(limits.at("127.0.0.8"), 7);
}

TEST(ConnectionLimits, WhatIsNoPairAndWhatWouldShutEverybodyOutIsRefused) {
  for (const auto* bad : {"127.0.0.1", "127.0.0.1:x", "127.0.0.1:-1", ":3", "broker.example:3", "127.0.0.1:3,,"}) {
    EXPECT_THAT(load({{"max.connections.per.ip.overrides", bad}}).errors, ElementsAre(HasSubstr("ADDRESS:COUNT")))
        << bad;
  }
  EXPECT_THAT(load({{"max.connections.per.ip", "0"}}).errors, ElementsAre(HasSubstr("max.connections.per.ip")));
  EXPECT_THAT(load({{"max.connections.per.ip", "0"}, {"max.connections.per.ip.overrides", "::1:2"}}).errors, IsEmpty());
}

TEST(ConnectionLimits, AListenerMayHaveItsOwnOfTheFileAndSetLater) {
  const auto loaded = load({{"listener.name.external.max.connections", "2"}});
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(connection_limits(loaded.config, "EXTERNAL").connections, 2);
  EXPECT_EQ(connection_limits(loaded.config, "INTERNAL").connections, kNoConnectionLimit);
  const auto later = loaded.config.with_dynamic({}, {{"listener.name.internal.max.connection.creation.rate", "9"}});
  EXPECT_EQ(connection_limits(later, "INTERNAL").new_per_second, 9);
  EXPECT_THAT(load({{"listener.name.external.max.connections", "many"}}).errors, ElementsAre(HasSubstr("many")));
}

}  // namespace
}  // namespace weir
