#include "base/dynamic_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir {
namespace {

using testing::HasSubstr;

class DynamicConfigTest : public testing::Test {
 protected:
  // "" if it may be set.
  std::string for_all(std::string name, std::string value) {
    const DynamicConfigs after{{std::move(name), std::move(value)}};
    return refuse(
        {.fixed = fixed_, .now = fixed_, .for_all = after, .for_this = {}, .scope = DynamicScope::all_brokers});
  }
  std::string for_this(std::string name, std::string value) {
    const DynamicConfigs after{{std::move(name), std::move(value)}};
    return refuse(
        {.fixed = fixed_, .now = fixed_, .for_all = {}, .for_this = after, .scope = DynamicScope::this_broker});
  }
  static std::string refuse(const DynamicChange& change) { return refuse_dynamic(change).value_or(""); }

  Config fixed_;
};

TEST_F(DynamicConfigTest, EachKeyIsAllowedWhereItsUpdateModeSays) {
  for (const auto& row : config_rows()) {
    const auto value = std::string(row.default_value.value_or("1"));
    const auto name = std::string(row.name);
    if (row.type == ConfigType::class_name && !row.default_value) {
      continue;  // no class can be named
    }
    const bool changes = row.handling != ConfigHandling::at_start;
    const bool free = changes && row.update == ConfigUpdate::cluster_wide;
    const bool own = free || (changes && row.update == ConfigUpdate::per_broker);
    EXPECT_EQ(for_all(name, value).empty(), free) << name << ": " << for_all(name, value);
    EXPECT_EQ(for_this(name, value).empty(), own) << name << ": " << for_this(name, value);
  }
}

TEST_F(DynamicConfigTest, ValuesAreCheckedByTypeAndRange) {
  EXPECT_EQ(for_all("log.cleaner.threads", "2"), "");
  EXPECT_THAT(for_all("log.cleaner.threads", "x"), HasSubstr("not a number of type INT"));
  EXPECT_THAT(for_all("message.max.bytes", "-3"), HasSubstr("must be at least 0"));
  EXPECT_THAT(for_all("log.message.timestamp.type", "never"), HasSubstr("must be one of"));
  EXPECT_THAT(for_this("principal.builder.class", "x"), HasSubstr("no such class"));
}

TEST_F(DynamicConfigTest, KeysOfAListenerAreOneBrokersButForConnectionBounds) {
  EXPECT_EQ(for_this("listener.name.inside.ssl.keystore.type", "PEM"), "");
  EXPECT_THAT(for_this("ssl.keystore.type", "PEM"), HasSubstr("listener.name.NAME."));
  EXPECT_THAT(for_all("listener.name.inside.ssl.keystore.type", "PEM"), HasSubstr("name the id"));
  EXPECT_EQ(for_all("listener.name.inside.max.connections", "5"), "");
  EXPECT_THAT(for_all("listener.name.inside.max.connections", "few"), HasSubstr("INT"));
  EXPECT_EQ(for_this("listener.name.inside.scram-sha-256.sasl.jaas.config", "x"), "");
}

TEST_F(DynamicConfigTest, AKeyOfNoTableMayBeAPluginsButNotOneThatLooksLikeOurs) {
  EXPECT_EQ(for_all("my.key", "1"), "");
  EXPECT_THAT(for_all("mq.flsh", "sync"), HasSubstr("mq.flush"));
}

TEST_F(DynamicConfigTest, KeysThatDependOnEachOtherAreCheckedTogether) {
  EXPECT_THAT(for_all("log.roll.ms", "0"), HasSubstr("log.roll.ms"));
  EXPECT_EQ(for_all("log.roll.ms", "1"), "");
  EXPECT_THAT(for_all("log.retention.ms", "0"), HasSubstr("log.retention.ms"));
  EXPECT_EQ(for_all("log.retention.ms", "-1"), "");
  EXPECT_THAT(for_all("log.local.retention.ms", "604800001"), HasSubstr("is larger than log.retention.ms"));
  EXPECT_EQ(for_all("log.local.retention.ms", "604800000"), "");
  EXPECT_EQ(for_all("log.local.retention.bytes", "1"), "") << "the whole has no bound";
  EXPECT_THAT(for_all("log.cleaner.dedupe.buffer.size", "1048575"), HasSubstr("1048576"));
  EXPECT_EQ(for_all("log.cleaner.dedupe.buffer.size", "1048576"), "");
  EXPECT_THAT(for_all("group.consumer.assignment.interval.ms", "15001"), HasSubstr("max.assignment"));
  EXPECT_EQ(for_all("group.consumer.assignment.interval.ms", "15000"), "");
}

TEST_F(DynamicConfigTest, APoolOfThreadsDoublesOrHalvesAtMost) {
  EXPECT_EQ(for_all("num.io.threads", "16"), "");
  EXPECT_THAT(for_all("num.io.threads", "17"), HasSubstr("doubles"));
  EXPECT_EQ(for_all("num.io.threads", "4"), "");
  EXPECT_THAT(for_all("num.io.threads", "3"), HasSubstr("halves"));
}

TEST_F(DynamicConfigTest, WhatTheBrokerCannotChangeWhileItRunsIsRefusedAlthoughKafkaWould) {
  EXPECT_THAT(for_this("listeners", "PLAINTEXT://127.0.0.1:1"), HasSubstr("listeners"));
  EXPECT_THAT(for_all("num.network.threads", "4"), HasSubstr("num.network.threads"));
  EXPECT_THAT(for_this("cordoned.log.dirs", "elsewhere"), HasSubstr("elsewhere"));
  EXPECT_EQ(for_this("cordoned.log.dirs", "*"), "");
  EXPECT_THAT(for_all("max.connections.per.ip.overrides", "zz"), HasSubstr("ADDRESS:COUNT"));
  EXPECT_EQ(for_all("max.connections.per.ip.overrides", "127.0.0.1:7"), "");
}

}  // namespace
}  // namespace weir
