#include "base/group_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Synonym = DescribedConfig::Synonym;

std::string refuse(std::string name, std::string value, const Config& broker = {}) {
  return refuse_group_overrides({{std::move(name), std::move(value)}}, broker).value_or("");
}

DescribedConfig described(const GroupOverrides& overrides, const Config& broker, std::string_view name) {
  const auto all = describe_group_config(overrides, broker);
  const auto found = std::ranges::find(all, name, &DescribedConfig::name);
  return found == all.end() ? DescribedConfig{.value = "absent"} : *found;
}

TEST(GroupConfig, RowsAreSortedAndTheirBrokerKeysExist) {
  EXPECT_TRUE(std::ranges::is_sorted(group_config_rows(), {}, &GroupConfigRow::name));
  const Config broker;
  for (const auto& row : group_config_rows()) {
    for (const auto key : {row.broker_key, row.least_key, row.most_key}) {
      EXPECT_TRUE(key == "-" || find_config_row(key) != nullptr) << key;
    }
    EXPECT_EQ(row.default_value.has_value(), row.broker_key == "-") << row.name;
    EXPECT_EQ(refuse(std::string(row.name), inherited_group_value(row, broker)), "") << row.name;
  }
}

TEST(GroupConfig, TheBrokerBoundsWhatAGroupMaySet) {
  EXPECT_EQ(refuse("consumer.session.timeout.ms", "45000"), "");
  EXPECT_THAT(refuse("consumer.session.timeout.ms", "44999"), HasSubstr("at least 45000"));
  EXPECT_EQ(refuse("consumer.session.timeout.ms", "60000"), "");
  EXPECT_THAT(refuse("consumer.session.timeout.ms", "60001"), HasSubstr("no more than 60000"));
  Config broker;
  ASSERT_EQ(broker.set("group.consumer.max.session.timeout.ms", "70000"), std::nullopt);
  EXPECT_EQ(refuse("consumer.session.timeout.ms", "60001", broker), "");
  EXPECT_THAT(refuse("streams.num.standby.replicas", "3"), HasSubstr("no more than 2"));
  EXPECT_THAT(refuse("consumer.session.timeout.ms", "soon"), HasSubstr("INT"));
  EXPECT_EQ(refuse("no.such", "1"), "Unknown group config name: no.such");
}

TEST(GroupConfig, ValuesWithAFormOfTheirOwnAreChecked) {
  for (const auto* good : {"earliest", "latest", "by_duration:PT1H", "by_duration:P2DT3H4M5.5S", "by_duration:P1D"}) {
    EXPECT_EQ(refuse("share.auto.offset.reset", good), "") << good;
  }
  for (const auto* bad : {"", "none", "by_duration:", "by_duration:P", "by_duration:PT", "by_duration:1H",
                          "by_duration:PT1M1H", "by_duration:PT1", "by_duration:P1H", "by_duration:PT1.5H"}) {
    EXPECT_NE(refuse("share.auto.offset.reset", bad), "") << bad;
  }
  EXPECT_EQ(refuse("streams.assignor.name", "sticky"), "");
  EXPECT_THAT(refuse("streams.assignor.name", "loose"), HasSubstr("sticky"));
  EXPECT_THAT(refuse("errors.deadletterqueue.topic.name", "__dead"), HasSubstr("__"));
  EXPECT_NE(refuse("share.isolation.level", "READ_COMMITTED"), "");
}

TEST(GroupConfig, SynonymsAreTheGroupsOwnValueAndTheBrokers) {
  const auto broker = Config{}.with_dynamic({{"group.consumer.assignment.interval.ms", "2000"}}, {});
  const auto inherited = described({}, broker, "consumer.assignment.interval.ms");
  EXPECT_EQ(inherited.value, "2000");
  EXPECT_EQ(inherited.source, ConfigSource::dynamic_default_broker);
  const auto own = described({{"consumer.assignment.interval.ms", "3000"}}, broker, "consumer.assignment.interval.ms");
  EXPECT_EQ(own.value, "3000");
  EXPECT_EQ(own.source, ConfigSource::group);
  EXPECT_THAT(
      own.synonyms,
      ElementsAre(Synonym{"consumer.assignment.interval.ms", "3000", ConfigSource::group},
                  Synonym{"group.consumer.assignment.interval.ms", "2000", ConfigSource::dynamic_default_broker},
                  Synonym{"group.consumer.assignment.interval.ms", "1000", ConfigSource::default_value}));
  EXPECT_EQ(described({}, broker, "share.assignor.offload.enable").value, "absent");
  EXPECT_EQ(described({{"share.assignor.offload.enable", "false"}}, broker, "share.assignor.offload.enable").value,
            "false");
}

}  // namespace
}  // namespace weir
