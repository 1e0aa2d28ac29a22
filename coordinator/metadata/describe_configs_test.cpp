#include "coordinator/metadata/describe_configs.hpp"

#include <gtest/gtest.h>

#include "base/logging.hpp"
#include "base/topic_config.hpp"
#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/plan.hpp"

namespace weir::metadata {
namespace {

class DescribeConfigsTest : public testing::Test {
 protected:
  void SetUp() override {
    protocol::CreateTopicsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = "t";
    topic.num_partitions = topic.replication_factor = 1;
    topic.configs.push_back({.name = "retention.ms", .value = "1000", .unknown_tags = {}});
    Random random{1};
    const ControllerSettings settings;
    auto plan =
        plan_create_topics({.image = *image_, .settings = settings, .identity = identity_, .random = random}, request);
    ImageBuilder builder{*image_};
    ASSERT_TRUE(builder.apply_all(Offset{0}, plan.records));
    image_ = builder.build();
  }
  protocol::DescribeConfigsResponse::DescribeConfigsResult describe(
      std::int8_t type, std::string name, std::optional<std::vector<std::string>> keys = std::nullopt,
      bool synonyms = false, bool documentation = false) {
    protocol::DescribeConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = type;
    resource.resource_name = name;
    resource.configuration_keys.reset();
    if (keys) {
      resource.configuration_keys.emplace(keys->begin(), keys->end());
    }
    request.include_synonyms = synonyms;
    request.include_documentation = documentation;
    return describe_configs(*image_, broker_, identity_, request).results.at(0);
  }

  Config broker_;
  Identity identity_{.cluster_id = "c", .node_id = 1, .directory_id = Random{5}.uuid()};
  ImagePointer image_ = std::make_shared<const MetadataImage>();
};

TEST_F(DescribeConfigsTest, ATopicsOverrideIsToldWithItsSource) {
  const auto result = describe(2, "t", {{"retention.ms", "no.such.key"}}, true);
  EXPECT_EQ(result.error_code, 0);
  EXPECT_EQ(result.error_message, protocol::Text{}) << "empty, not null";
  ASSERT_EQ(result.configs.size(), 1U) << "an unknown key is just absent";
  const auto& config = result.configs[0];
  EXPECT_EQ(config.value, protocol::Text{"1000"});
  EXPECT_EQ(config.config_source, 1);
  EXPECT_EQ(config.config_type, 5);
  EXPECT_FALSE(config.documentation.has_value());
  ASSERT_FALSE(config.synonyms.empty());
  EXPECT_EQ(config.synonyms[0].name, "retention.ms");
  EXPECT_EQ(config.synonyms[0].source, 1);
}

TEST_F(DescribeConfigsTest, NoKeysAndNoListOfKeysBothMeanAll) {
  const auto all = describe_topic_config({}, broker_).size();
  EXPECT_EQ(describe(2, "t").configs.size(), all);
  EXPECT_EQ(describe(2, "t", std::vector<std::string>{}).configs.size(), all);
  EXPECT_TRUE(describe(2, "t").configs[0].synonyms.empty()) << "nobody asked for synonyms";
  EXPECT_TRUE(describe(2, "t", std::nullopt, false, true).configs[0].documentation.has_value());
}

TEST_F(DescribeConfigsTest, WhatTheBrokerSetsIsTheDefaultOfItsTopics) {
  ASSERT_FALSE(broker_.set("log.retention.bytes", "77").has_value());
  const auto result = describe(2, "t", {{"retention.bytes"}});
  EXPECT_EQ(result.configs.at(0).value, protocol::Text{"77"});
  EXPECT_EQ(result.configs.at(0).config_source, 4);
}

TEST_F(DescribeConfigsTest, ABrokerDescribesItselfAndNoOther) {
  EXPECT_GT(describe(4, "1").configs.size(), 300U);
  const auto read_only = describe(4, "1", {{"log.dirs", "sasl.jaas.config"}});
  for (const auto& config : read_only.configs) {
    EXPECT_EQ(config.is_sensitive, config.name == "sasl.jaas.config");
    EXPECT_TRUE(!config.is_sensitive || !config.value.has_value()) << "a secret was told";
  }
  EXPECT_EQ(describe(4, "9").error_code, 42);
  EXPECT_EQ(describe(4, "abc").error_code, 42);
  EXPECT_EQ(describe(4, "").error_code, 0);
  EXPECT_TRUE(describe(4, "").configs.empty());
}

TEST_F(DescribeConfigsTest, WhatIsSetForAllBrokersIsToldAloneAndAsTheDefaultOfEach) {
  broker_ = Config{}.with_dynamic({{"message.max.bytes", "77"}}, {});
  const auto all = describe(4, "", std::nullopt, true);
  ASSERT_EQ(all.configs.size(), 1U);
  EXPECT_EQ(all.configs[0].value, protocol::Text{"77"});
  EXPECT_EQ(all.configs[0].config_source, 3);
  ASSERT_EQ(all.configs[0].synonyms.size(), 1U);
  EXPECT_EQ(describe(4, "1", {{"message.max.bytes"}}).configs.at(0).config_source, 3);
  EXPECT_EQ(describe(2, "t", {{"max.message.bytes"}}).configs.at(0).config_source, 3);
}

TEST_F(DescribeConfigsTest, TheOneLoggerTellsTheLevelInKafkasWords) {
  const auto before = log_level();
  set_log_level(LogLevel::warn);
  const auto told = describe(8, "1", std::nullopt, true);
  set_log_level(before);
  ASSERT_EQ(told.configs.size(), 1U);
  EXPECT_EQ(told.configs[0].name, protocol::Text{"root"});
  EXPECT_EQ(told.configs[0].value, protocol::Text{"WARN"});
  EXPECT_EQ(told.configs[0].config_source, 6);
  EXPECT_EQ(told.configs[0].config_type, 0);
  EXPECT_EQ(told.configs[0].documentation, protocol::Text{});
  EXPECT_EQ(describe(8, "9").error_code, 42);
  EXPECT_EQ(describe(8, "").error_code, 42);
}

TEST_F(DescribeConfigsTest, AGroupNeedNotExistToHaveConfigs) {
  EXPECT_EQ(describe(32, "nobody").configs.size(), 21U);
  EXPECT_EQ(describe(32, "nobody", {{"consumer.session.timeout.ms"}}).configs.at(0).config_source, 5);
  EXPECT_EQ(describe(32, "").error_code, 42);
  EXPECT_EQ(describe(16, "nobody").configs.size(), 3U);
  EXPECT_EQ(describe(16, "").error_code, 42);
}

TEST_F(DescribeConfigsTest, OtherResourcesAreRefused) {
  EXPECT_EQ(describe(2, "unknown").error_code, 3);
  EXPECT_EQ(describe(2, "bad name").error_code, 17);
  EXPECT_EQ(describe(99, "1").error_code, 42);
  EXPECT_TRUE(describe(99, "1").configs.empty());
}

}  // namespace
}  // namespace weir::metadata
