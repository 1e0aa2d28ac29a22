// Changes of the configs of brokers, groups and loggers. Those of topics are in plan_test.cpp.
#include <gtest/gtest.h>

#include "base/logging.hpp"
#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/logger_configs.hpp"
#include "coordinator/metadata/plan.hpp"

namespace weir::metadata {
namespace {

constexpr std::int8_t kTopic = 2;
constexpr std::int8_t kBroker = 4;
constexpr std::int8_t kLogger = 8;
constexpr std::int8_t kClientMetrics = 16;
constexpr std::int8_t kGroup = 32;
constexpr int kSet = 0;
constexpr int kDelete = 1;
constexpr int kAppend = 2;
constexpr int kSubtract = 3;

class PlanConfigsTest : public testing::Test {
 protected:
  PlanInput input() { return {.image = *image_, .settings = settings_, .identity = identity_, .random = random_}; }
  void apply(const RecordList& records) {
    ImageBuilder builder{*image_};
    ASSERT_TRUE(builder.apply_all(image_->end_offset(), records));
    image_ = builder.build();
    effective_.set_dynamic(*image_->overrides(ResourceType::broker, ""), *image_->overrides(ResourceType::broker, "1"));
  }
  struct Change {
    std::string name;
    int operation;
    std::optional<std::string> value;
  };
  static protocol::IncrementalAlterConfigsRequest request_of(std::int8_t type, const std::string& resource_name,
                                                             const std::vector<Change>& changes) {
    protocol::IncrementalAlterConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = type;
    resource.resource_name = resource_name;
    for (const auto& one : changes) {
      resource.configs.push_back({.name = one.name,
                                  .config_operation = static_cast<std::int8_t>(one.operation),
                                  .value = one.value ? std::optional<protocol::Text>{*one.value} : std::nullopt,
                                  .unknown_tags = {}});
    }
    return request;
  }
  int change(std::int8_t type, const std::string& resource_name, const std::vector<Change>& changes) {
    auto plan = plan_incremental_alter_configs(input(), request_of(type, resource_name, changes));
    apply(plan.records);
    EXPECT_EQ(plan.response.responses[0].error_message.has_value(), plan.response.responses[0].error_code != 0);
    return plan.response.responses[0].error_code;
  }
  int replace(std::int8_t type, const std::string& resource_name, const ConfigOverrides& all) {
    protocol::AlterConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = type;
    resource.resource_name = resource_name;
    for (const auto& [name, value] : all) {
      resource.configs.push_back({.name = name, .value = protocol::Text{value}, .unknown_tags = {}});
    }
    auto plan = plan_alter_configs(input(), request);
    apply(plan.records);
    return plan.response.responses[0].error_code;
  }
  int create(const std::string& topic, const ConfigOverrides& configs) {
    protocol::CreateTopicsRequest request;
    auto& wanted = request.topics.emplace_back();
    wanted.name = topic;
    wanted.num_partitions = 1;
    wanted.replication_factor = 1;
    for (const auto& [name, value] : configs) {
      wanted.configs.push_back({.name = name, .value = protocol::Text{value}, .unknown_tags = {}});
    }
    auto plan = plan_create_topics(input(), request);
    apply(plan.records);
    return plan.response.topics[0].error_code;
  }
  ConfigOverrides overrides(ResourceType type, std::string_view name) { return *image_->overrides(type, name); }

  EffectiveConfig effective_{Config{}};
  ControllerSettings settings_{.config = &effective_};
  Identity identity_{.cluster_id = "c", .node_id = 1, .directory_id = Random{5}.uuid()};
  Random random_{7};
  ImagePointer image_ = std::make_shared<const MetadataImage>();
};

TEST_F(PlanConfigsTest, ABrokersConfigsAreSetForAllBrokersOrForThisOne) {
  EXPECT_EQ(change(kBroker, "", {{"log.retention.ms", kSet, "2000"}}), 0);
  EXPECT_EQ(change(kBroker, "1", {{"log.retention.ms", kSet, "1000"}}), 0);
  EXPECT_EQ(effective_.current()->value("log.retention.ms"), "1000");
  EXPECT_EQ(change(kBroker, "01", {{"log.retention.ms", kDelete, std::nullopt}}), 0) << "the same broker";
  EXPECT_EQ(effective_.current()->value("log.retention.ms"), "2000");
  EXPECT_TRUE(overrides(ResourceType::broker, "1").empty());
  EXPECT_EQ(overrides(ResourceType::broker, ""), (ConfigOverrides{{"log.retention.ms", "2000"}}));
}

TEST_F(PlanConfigsTest, WhatABrokerDoesNotAllowIsRefusedAsAnInvalidRequest) {
  EXPECT_EQ(change(kBroker, "1", {{"num.partitions", kSet, "3"}, {"log.cleaner.threads", kSet, "2"}}), 42);
  EXPECT_EQ(change(kBroker, "1", {{"num.partitions", kDelete, std::nullopt}}), 0) << "nothing is left that is wrong";
  EXPECT_EQ(change(kBroker, "", {{"cordoned.log.dirs", kSet, "*"}}), 42) << "of one broker";
  EXPECT_EQ(change(kBroker, "1", {{"cordoned.log.dirs", kSet, "*"}}), 0);
  EXPECT_EQ(change(kBroker, "1", {{"log.cleaner.threads", kSet, "x"}}), 42);
  EXPECT_EQ(change(kBroker, "1", {{"log.cleaner.threads", kSet, std::nullopt}}), 42);
  EXPECT_EQ(change(kBroker, "1", {{"log.cleaner.threads", 7, "1"}}), 42);
  EXPECT_EQ(change(kBroker, "9", {{"log.cleaner.threads", kSet, "1"}}), 42);
  EXPECT_EQ(change(kBroker, "one", {{"log.cleaner.threads", kSet, "1"}}), 42);
  EXPECT_EQ(overrides(ResourceType::broker, "1"), (ConfigOverrides{{"cordoned.log.dirs", "*"}}));
}

TEST_F(PlanConfigsTest, ListsOfABrokerBeginWithItsFilesValue) {
  EXPECT_EQ(change(kBroker, "", {{"log.cleanup.policy", kAppend, "compact"}}), 0);
  EXPECT_EQ(overrides(ResourceType::broker, "").at("log.cleanup.policy"), "delete,compact");
  EXPECT_EQ(change(kBroker, "", {{"log.cleanup.policy", kSubtract, "delete"}}), 0);
  EXPECT_EQ(overrides(ResourceType::broker, "").at("log.cleanup.policy"), "compact");
  EXPECT_EQ(change(kBroker, "", {{"log.cleaner.threads", kAppend, "2"}}), 40);
  EXPECT_EQ(change(kBroker, "", {{"my.key", kAppend, "2"}}), 40);
}

TEST_F(PlanConfigsTest, AlterConfigsReplacesWhatABrokerOrAGroupHas) {
  EXPECT_EQ(change(kBroker, "", {{"log.cleaner.threads", kSet, "2"}}), 0);
  EXPECT_EQ(replace(kBroker, "", {{"background.threads", "7"}}), 0);
  EXPECT_EQ(overrides(ResourceType::broker, ""), (ConfigOverrides{{"background.threads", "7"}}));
  EXPECT_EQ(replace(kBroker, "", {{"num.partitions", "7"}}), 42);
  EXPECT_EQ(replace(kBroker, "", {}), 0);
  EXPECT_TRUE(overrides(ResourceType::broker, "").empty());
  EXPECT_EQ(replace(kGroup, "g", {{"consumer.session.timeout.ms", "50000"}}), 0);
  EXPECT_EQ(replace(kGroup, "g", {{"consumer.session.timeout.ms", "5"}}), 40);
  EXPECT_EQ(overrides(ResourceType::group, "g"), (ConfigOverrides{{"consumer.session.timeout.ms", "50000"}}));
  EXPECT_EQ(replace(kLogger, "1", {{"root", "INFO"}}), 42);
}

TEST_F(PlanConfigsTest, AGroupHasConfigsOfItsOwnWithinTheBrokersBounds) {
  EXPECT_EQ(change(kGroup, "g", {{"consumer.session.timeout.ms", kSet, "46000"}}), 0);
  EXPECT_EQ(change(kGroup, "g", {{"consumer.session.timeout.ms", kSet, "1"}}), 40);
  EXPECT_EQ(change(kGroup, "g", {{"no.such", kSet, "1"}}), 40);
  EXPECT_EQ(change(kGroup, "g", {{"consumer.session.timeout.ms", kSet, std::nullopt}}), 42);
  EXPECT_EQ(change(kGroup, "", {{"consumer.session.timeout.ms", kSet, "46000"}}), 42);
  EXPECT_EQ(overrides(ResourceType::group, "g"), (ConfigOverrides{{"consumer.session.timeout.ms", "46000"}}));
  EXPECT_EQ(change(kGroup, "g", {{"consumer.session.timeout.ms", kDelete, std::nullopt}}), 0);
  EXPECT_TRUE(overrides(ResourceType::group, "g").empty());
}

TEST_F(PlanConfigsTest, ADefaultOfTheBrokersIsWhatATopicsOwnValueMustGoWith) {
  protocol::CreateTopicsRequest create;
  auto& topic = create.topics.emplace_back();
  topic.name = "t";
  topic.num_partitions = topic.replication_factor = 1;
  apply(plan_create_topics(input(), create).records);
  EXPECT_EQ(change(kBroker, "", {{"log.cleaner.min.compaction.lag.ms", kSet, "10"}}), 0);
  EXPECT_EQ(change(kTopic, "t", {{"max.compaction.lag.ms", kSet, "9"}}), 40);
  EXPECT_EQ(change(kTopic, "t", {{"max.compaction.lag.ms", kSet, "10"}}), 0);
  EXPECT_EQ(change(kTopic, "t", {{"no.such", kDelete, std::nullopt}}), 0) << "nothing is left that is wrong";
}

TEST_F(PlanConfigsTest, WhereATopicsRecordsLiveIsFixedWhenItIsMade) {
  EXPECT_EQ(create("in-memory", {{"mq.storage", "memory"}}), 0);
  EXPECT_EQ(create("in-log", {}), 0);
  EXPECT_EQ(create("compacted", {{"mq.storage", "memory"}, {"cleanup.policy", "compact"}}), 40);
  EXPECT_EQ(create("__consumer_offsets", {{"mq.storage", "memory"}}), 40);
  EXPECT_EQ(create("elsewhere", {{"mq.storage", "disk"}}), 40);
  for (const auto& [topic, other] : {std::pair{"in-memory", "log"}, {"in-log", "memory"}}) {
    EXPECT_EQ(change(kTopic, topic, {{"mq.storage", kSet, other}}), 40) << topic;
    EXPECT_EQ(replace(kTopic, topic, {{"mq.storage", other}}), 40) << topic;
  }
  EXPECT_EQ(change(kTopic, "in-memory", {{"mq.storage", kDelete, std::nullopt}}), 40);
  EXPECT_EQ(change(kTopic, "in-memory", {{"cleanup.policy", kSet, "compact"}}), 40);
  EXPECT_EQ(change(kTopic, "in-memory", {{"mq.storage", kSet, "memory"}, {"retention.ms", kSet, "1"}}), 0);
  EXPECT_EQ(replace(kTopic, "in-memory", {{"retention.ms", "2"}}), 0) << "it keeps what cannot change";
  EXPECT_EQ(overrides(ResourceType::topic, "in-memory"),
            (ConfigOverrides{{"mq.storage", "memory"}, {"retention.ms", "2"}}));
}

TEST_F(PlanConfigsTest, ANewTopicTakesTheBrokersStorageUnlessItMayNotBeInMemory) {
  Config broker;
  broker.mq_storage = "memory";
  EffectiveConfig effective{broker};
  settings_.config = &effective;
  EXPECT_EQ(create("plain", {}), 0);
  EXPECT_EQ(create("in-log", {{"mq.storage", "log"}}), 0);
  EXPECT_EQ(create("compacted", {{"cleanup.policy", "compact"}}), 0);
  apply(plan_auto_create(input(), {"made-by-use", "__consumer_offsets"}).records);
  const auto is_memory = [&](const char* topic) {
    return overrides(ResourceType::topic, topic).contains("mq.storage");
  };
  EXPECT_TRUE(is_memory("plain"));
  EXPECT_TRUE(is_memory("made-by-use"));
  EXPECT_FALSE(is_memory("compacted"));
  EXPECT_FALSE(is_memory("__consumer_offsets"));
  EXPECT_EQ(overrides(ResourceType::topic, "in-log"), (ConfigOverrides{{"mq.storage", "log"}}));
  settings_.config = &effective_;
  EXPECT_EQ(change(kTopic, "plain", {{"retention.ms", kSet, "1"}}), 0) << "the broker's default is another now";
}

TEST_F(PlanConfigsTest, ALoggersLevelIsSetWithoutARecordAndOnlyWhenItWasAllowed) {
  const auto before = log_level();
  const auto set = [&](std::vector<Change> changes, bool validate_only = false) {
    auto request = request_of(kLogger, "1", changes);
    request.validate_only = validate_only;
    const auto plan = plan_incremental_alter_configs(input(), request);
    EXPECT_TRUE(plan.records.empty());
    set_logger_levels(request, plan.response);
    return int{plan.response.responses[0].error_code};
  };
  set_log_level(LogLevel::info);
  EXPECT_EQ(set({{"root", kSet, "ERROR"}}, true), 0);
  EXPECT_EQ(log_level(), LogLevel::info) << "only asked";
  EXPECT_EQ(set({{"root", kSet, "ERROR"}}), 0);
  EXPECT_EQ(log_level(), LogLevel::error);
  EXPECT_EQ(set({{"root", kSet, "debug"}}), 40) << "levels are written large";
  EXPECT_EQ(set({{"root", kSet, "OFF"}}), 40);
  EXPECT_EQ(set({{"root", kDelete, std::nullopt}}), 42);
  EXPECT_EQ(set({{"root", kAppend, "INFO"}}), 42);
  EXPECT_EQ(set({{"root", kSet, std::nullopt}}), 42);
  EXPECT_EQ(set({{"org.example", kSet, "INFO"}}), 40);
  EXPECT_EQ(log_level(), LogLevel::error);
  set_log_level(before);
  EXPECT_EQ(change(kLogger, "9", {{"root", kSet, "INFO"}}), 42);
}

// Each row is a real 4.4.0 node's answer to two mistakes at once, or to one about a topic that is not there.
TEST_F(PlanConfigsTest, OfTwoMistakesTheOneIsToldThatKafkaLooksForFirst) {
  struct Row {
    const char* topic;
    std::vector<Change> changes;
    int code;
  };
  const std::string limit = "retention.ms";
  const std::string list = "cleanup.policy";
  for (const auto& row : std::initializer_list<Row>{{"zz", {{limit, kSet, "1"}}, 3},
                                                    {"zz", {{limit, kSet, "x"}}, 40},
                                                    {"zz", {{limit, kSet, std::nullopt}}, 42},
                                                    {"zz", {{limit, kSet, "1"}, {limit, kSet, "2"}}, 42},
                                                    {"zz", {{limit, kSubtract, "1"}}, 40},
                                                    {"zz", {{limit, kDelete, std::nullopt}}, 3},
                                                    {"zz", {{"bogus", kSet, "1"}}, 40},
                                                    {"zz", {{"bogus", kDelete, "1"}}, 3},
                                                    {"zz", {{list, kAppend, "compact"}}, 3},
                                                    {"zz", {{list, kAppend, "bogus"}}, 40},
                                                    {"zz", {{list, kAppend, ""}}, 40},
                                                    {"zz", {{list, kSubtract, ""}}, 3},
                                                    {"zz", {}, 3},
                                                    {"a b", {}, 17},
                                                    {"a b", {{limit, kSet, "x"}}, 17},
                                                    {"a b", {{limit, kSubtract, "1"}}, 40},
                                                    {"a b", {{limit, kSet, std::nullopt}}, 42},
                                                    {"", {{limit, kSet, "x"}}, 42},
                                                    {"", {{limit, kSubtract, "1"}}, 40}}) {
    EXPECT_EQ(change(kTopic, row.topic, row.changes), row.code)
        << "'" << row.topic << "' " << (row.changes.empty() ? "" : row.changes[0].name);
  }
  for (const auto type : {kBroker, kGroup}) {
    const auto* name = type == kBroker ? "1" : "g";
    EXPECT_EQ(change(type, name, {{limit, kSubtract, "1"}, {"retention.bytes", kSubtract, std::nullopt}}), 42);
    EXPECT_EQ(change(type, name, {{limit, kSubtract, "1"}, {"retention.bytes", kSubtract, "1"}}), 40);
  }
  EXPECT_EQ(change(kGroup, "", {{limit, kSubtract, "1"}}), 40);
  EXPECT_EQ(change(kClientMetrics, "m", {{"interval.ms", kSubtract, "1"}}), 40);
  EXPECT_EQ(change(kLogger, "1", {{"root", kSet, "INFO"}, {"root", kSet, "INFO"}}), 42);
  EXPECT_EQ(change(kLogger, "1", {{"bogus", kSet, std::nullopt}}), 42);
  EXPECT_EQ(replace(kTopic, "zz", {}), 3);
  EXPECT_EQ(replace(kTopic, "zz", {{limit, "x"}}), 40);
  EXPECT_EQ(replace(kTopic, "a b", {{limit, "x"}}), 17);
}

TEST_F(PlanConfigsTest, WhatThisBrokerDoesNotHaveIsRefused) {
  EXPECT_EQ(change(kClientMetrics, "m", {{"interval.ms", kSet, "1000"}}), 42);
  EXPECT_EQ(change(99, "x", {{"interval.ms", kSet, "1000"}}), 42);
}

}  // namespace
}  // namespace weir::metadata
