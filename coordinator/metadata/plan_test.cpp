#include "coordinator/metadata/plan.hpp"

#include <gtest/gtest.h>

#include "base/topic_config.hpp"
#include "coordinator/metadata/image_builder.hpp"

namespace weir::metadata {
namespace {

using protocol::CreateTopicsRequest;
using protocol::ErrorCode;

class PlanTest : public testing::Test {
 protected:
  PlanInput input() { return {.image = *image_, .settings = settings_, .identity = identity_, .random = random_}; }
  void apply(const RecordList& records) {
    ImageBuilder builder{*image_};
    ASSERT_TRUE(builder.apply_all(image_->end_offset(), records));
    image_ = builder.build();
  }
  static CreateTopicsRequest::CreatableTopic topic(std::string name, std::int32_t partitions = 1,
                                                   std::int16_t replication = 1) {
    CreateTopicsRequest::CreatableTopic asked;
    asked.name = name;
    asked.num_partitions = partitions;
    asked.replication_factor = replication;
    return asked;
  }
  static CreateTopicsRequest::CreatableTopic assigned(
      std::string name, std::vector<std::pair<std::int32_t, std::vector<std::int32_t>>> partitions) {
    auto asked = topic(std::move(name), -1, -1);
    for (auto& [index, brokers] : partitions) {
      asked.assignments.push_back({.partition_index = index, .broker_ids = brokers, .unknown_tags = {}});
    }
    return asked;
  }
  static CreateTopicsRequest::CreatableTopic with_config(CreateTopicsRequest::CreatableTopic asked, std::string name,
                                                         std::optional<std::string> value) {
    asked.configs.push_back(
        {.name = name, .value = value ? std::optional<protocol::Text>{*value} : std::nullopt, .unknown_tags = {}});
    return asked;
  }
  protocol::CreateTopicsResponse create(std::vector<CreateTopicsRequest::CreatableTopic> topics) {
    CreateTopicsRequest request;
    request.topics = std::move(topics);
    auto plan = plan_create_topics(input(), request);
    apply(plan.records);
    return plan.response;
  }
  ErrorCode create_one(CreateTopicsRequest::CreatableTopic asked) {
    const auto response = create({std::move(asked)});
    EXPECT_EQ(response.topics.size(), 1U);
    EXPECT_EQ(response.topics[0].error_message.has_value(), response.topics[0].error_code != 0);
    return static_cast<ErrorCode>(response.topics[0].error_code);
  }
  template <class Results>
  static std::vector<int> codes(const Results& results) {
    std::vector<int> all;
    for (const auto& result : results) {
      all.push_back(result.error_code);
    }
    return all;
  }
  std::vector<int> delete_topics(std::vector<std::pair<std::optional<std::string>, Uuid>> topics) {
    protocol::DeleteTopicsRequest request;
    for (const auto& [name, id] : topics) {
      auto& asked = request.topics.emplace_back();
      asked.name = name ? std::optional<protocol::Text>{*name} : std::nullopt;
      asked.topic_id = id;
    }
    auto plan = plan_delete_topics(input(), request);
    apply(plan.records);
    return codes(plan.response.responses);
  }
  int more_partitions(const std::string& name, std::int32_t count,
                      std::optional<std::vector<std::vector<std::int32_t>>> assignments = std::nullopt) {
    protocol::CreatePartitionsRequest request;
    auto& asked = request.topics.emplace_back();
    asked.name = name;
    asked.count = count;
    asked.assignments.reset();
    if (assignments) {
      auto& list = asked.assignments.emplace();
      for (const auto& brokers : *assignments) {
        list.push_back({.broker_ids = brokers, .unknown_tags = {}});
      }
    }
    auto plan = plan_create_partitions(input(), request);
    apply(plan.records);
    return plan.response.results.at(0).error_code;
  }
  struct Change {
    std::string name;
    int operation;
    std::optional<std::string> value;
  };
  int change(const std::string& name, std::vector<Change> changes, std::int8_t type = 2) {
    protocol::IncrementalAlterConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = type;
    resource.resource_name = name;
    for (const auto& one : changes) {
      resource.configs.push_back({.name = one.name,
                                  .config_operation = static_cast<std::int8_t>(one.operation),
                                  .value = one.value ? std::optional<protocol::Text>{*one.value} : std::nullopt,
                                  .unknown_tags = {}});
    }
    auto plan = plan_incremental_alter_configs(input(), request);
    apply(plan.records);
    EXPECT_EQ(plan.response.responses[0].error_message.has_value(), plan.response.responses[0].error_code != 0);
    return plan.response.responses[0].error_code;
  }
  ConfigOverrides overrides(std::string_view name) { return *image_->find_topic(name)->overrides; }

  ControllerSettings settings_;
  Identity identity_{.cluster_id = "c", .node_id = 1, .directory_id = Random{5}.uuid()};
  Random random_{7};
  ImagePointer image_ = std::make_shared<const MetadataImage>();
};

TEST_F(PlanTest, ANewTopicHasRealReplicasEpochsAndDirectoriesAndTellsAllItsConfigs) {
  const auto response = create({topic("t", 3)});
  const auto& result = response.topics.at(0);
  EXPECT_EQ(result.error_code, 0);
  EXPECT_EQ(result.num_partitions, 3);
  EXPECT_EQ(result.replication_factor, 1);
  ASSERT_TRUE(result.configs.has_value());
  EXPECT_GE(result.configs->size(), 37U);
  const auto& made = image_->find_topic("t");
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->id, result.topic_id);
  ASSERT_EQ(made->partitions.size(), 3U);
  for (const auto& partition : made->partitions) {
    EXPECT_EQ(partition.leader, 1);
    EXPECT_EQ(partition.leader_epoch, LeaderEpoch{0});
    EXPECT_EQ(partition.isr, std::vector<std::int32_t>{1});
    EXPECT_EQ(partition.directories, std::vector<Uuid>{identity_.directory_id});
  }
}

TEST_F(PlanTest, MinusOneTakesTheBrokersDefaults) {
  settings_.num_partitions = 4;
  EXPECT_EQ(create_one(topic("t", -1, -1)), ErrorCode::none);
  EXPECT_EQ(image_->find_topic("t")->partitions.size(), 4U);
  settings_.default_replication_factor = 3;
  EXPECT_EQ(create_one(topic("u", -1, -1)), ErrorCode::invalid_replication_factor);
}

TEST_F(PlanTest, CountsMustBePositiveAndReachable) {
  EXPECT_EQ(create_one(topic("t", 0)), ErrorCode::invalid_partitions);
  EXPECT_EQ(create_one(topic("t", -2)), ErrorCode::invalid_partitions);
  EXPECT_EQ(create_one(topic("t", 1, 0)), ErrorCode::invalid_replication_factor);
  EXPECT_EQ(create_one(topic("t", 1, -2)), ErrorCode::invalid_replication_factor);
  EXPECT_EQ(create_one(topic("t", 1, 2)), ErrorCode::invalid_replication_factor);
  EXPECT_EQ(create_one(topic("t", 1, 1)), ErrorCode::none);
}

TEST_F(PlanTest, NamesFollowKafkasRules) {
  for (const auto* name : {"", ".", "..", "a b", "a/b", "a\xc3\xa4"}) {
    EXPECT_EQ(create_one(topic(name)), ErrorCode::invalid_topic_exception) << name;
  }
  EXPECT_EQ(create_one(topic(std::string(250, 'a'))), ErrorCode::invalid_topic_exception);
  EXPECT_EQ(create_one(topic(std::string(249, 'a'))), ErrorCode::none);
  EXPECT_EQ(create_one(topic("...")), ErrorCode::none);
  EXPECT_EQ(create_one(topic("A-z_0.9")), ErrorCode::none);
  EXPECT_EQ(create_one(topic("__cluster_metadata")), ErrorCode::topic_authorization_failed);
}

TEST_F(PlanTest, NamesThatShareTheirMetricsCollideAlsoWithinOneRequest) {
  EXPECT_EQ(create_one(topic("a.b")), ErrorCode::none);
  EXPECT_EQ(create_one(topic("a_b")), ErrorCode::invalid_topic_exception);
  EXPECT_EQ(create_one(topic("a.b")), ErrorCode::topic_already_exists);
  EXPECT_EQ(create_one(topic("a-b")), ErrorCode::none);
  EXPECT_EQ(codes(create({topic("x.y"), topic("x_y")}).topics), (std::vector<int>{0, 17}));
}

TEST_F(PlanTest, ATopicNamedTwiceIsAnsweredOnceAndNotMade) {
  EXPECT_EQ(codes(create({topic("dd"), topic("other"), topic("dd")}).topics), (std::vector<int>{42, 0}));
  EXPECT_EQ(image_->find_topic("dd"), nullptr);
}

TEST_F(PlanTest, ManualAssignmentsNameThisBrokerOnceAndHaveNoGap) {
  EXPECT_EQ(create_one(assigned("ok", {{1, {1}}, {0, {1}}})), ErrorCode::none);
  EXPECT_EQ(image_->find_topic("ok")->partitions.size(), 2U);
  EXPECT_EQ(create_one(assigned("t", {{0, {9}}})), ErrorCode::invalid_replica_assignment);
  EXPECT_EQ(create_one(assigned("t", {{0, {1, 1}}})), ErrorCode::invalid_replica_assignment);
  EXPECT_EQ(create_one(assigned("t", {{0, {}}})), ErrorCode::invalid_replica_assignment);
  EXPECT_EQ(create_one(assigned("t", {{0, {1}}, {2, {1}}})), ErrorCode::invalid_replica_assignment);
  EXPECT_EQ(create_one(assigned("t", {{1, {1}}})), ErrorCode::invalid_replica_assignment);
  EXPECT_EQ(create_one(assigned("t", {{0, {1}}, {0, {1}}})), ErrorCode::invalid_replica_assignment);
  auto with_count = assigned("t", {{0, {1}}});
  with_count.num_partitions = 1;
  EXPECT_EQ(create_one(with_count), ErrorCode::invalid_request);
  auto with_replication = assigned("t", {{0, {1}}});
  with_replication.replication_factor = 1;
  EXPECT_EQ(create_one(with_replication), ErrorCode::invalid_request);
}

TEST_F(PlanTest, ConfigsAreCheckedAndTheLastOfTwoCounts) {
  EXPECT_EQ(create_one(with_config(topic("t"), "no.such.key", "1")), ErrorCode::invalid_config);
  EXPECT_EQ(create_one(with_config(topic("t"), "retention.ms", "soon")), ErrorCode::invalid_config);
  EXPECT_EQ(create_one(with_config(topic("t"), "retention.ms", std::nullopt)), ErrorCode::invalid_config);
  EXPECT_EQ(create_one(with_config(topic("t"), "remote.storage.enable", "true")), ErrorCode::invalid_config);
  EXPECT_EQ(create_one(with_config(with_config(topic("t"), "retention.ms", "1"), "retention.ms", "2")),
            ErrorCode::none);
  EXPECT_EQ(overrides("t"), (ConfigOverrides{{"retention.ms", "2"}}));
}

TEST_F(PlanTest, OneRequestMakesAtMostTenThousandPartitionsAndTheNodeHasALimitToo) {
  EXPECT_EQ(codes(create({topic("a", 5000), topic("b", 5001)}).topics), (std::vector<int>{44, 44}));
  settings_.partitions_max = 10;
  EXPECT_EQ(codes(create({topic("a", 6), topic("b", 5), topic("c", 4)}).topics), (std::vector<int>{0, 44, 0}));
  EXPECT_EQ(more_partitions("c", 5), 44);
}

TEST_F(PlanTest, AutoCreateMakesNothingBeyondTheBoundOfOneRequest) {
  ASSERT_EQ(create_one(topic("known")), ErrorCode::none);
  std::vector<std::string> names{"known"};
  for (std::int64_t i = 0; i < kPartitionsPerRequestMax; ++i) {
    names.push_back("t" + std::to_string(i));
  }
  names.push_back("t0");
  EXPECT_EQ(plan_auto_create(input(), names).response.back().error, ErrorCode::none) << "a name twice counts once";
  names.push_back("one more");
  const auto plan = plan_auto_create(input(), names);
  EXPECT_TRUE(plan.records.empty());
  ASSERT_EQ(plan.response.size(), names.size());
  EXPECT_EQ(plan.response.front().error, ErrorCode::none);
  EXPECT_EQ(plan.response[1].error, ErrorCode::policy_violation);
  EXPECT_EQ(plan.response.back().error, ErrorCode::policy_violation);
}

TEST_F(PlanTest, AutoCreateIsIdempotentAndGivesTheOffsetsTopicItsOwnSettings) {
  settings_.num_partitions = 2;
  auto plan = plan_auto_create(input(), {"a", "__consumer_offsets", "a", "bad name", "__transaction_state"});
  apply(plan.records);
  std::vector<ErrorCode> errors;
  for (const auto& result : plan.response) {
    errors.push_back(result.error);
  }
  EXPECT_EQ(errors, (std::vector{ErrorCode::none, ErrorCode::none, ErrorCode::none, ErrorCode::invalid_topic_exception,
                                 ErrorCode::unknown_topic_or_partition}));
  EXPECT_EQ(image_->find_topic("a")->partitions.size(), 2U);
  EXPECT_EQ(image_->find_topic("__consumer_offsets")->partitions.size(), 50U);
  EXPECT_EQ(overrides("__consumer_offsets").at("cleanup.policy"), "compact");
  EXPECT_EQ(overrides("__consumer_offsets").at("segment.bytes"), "104857600");
  EXPECT_TRUE(image_->find_topic("__consumer_offsets")->internal());
  const auto again = plan_auto_create(input(), {"a"});
  EXPECT_TRUE(again.records.empty());
  EXPECT_EQ(again.response.at(0).error, ErrorCode::none);
}

TEST_F(PlanTest, TopicsAreDeletedByNameOrById) {
  create({topic("a"), topic("b"), topic("c")});
  const auto id = image_->find_topic("b")->id;
  EXPECT_EQ(delete_topics({{"a", {}}, {std::nullopt, id}}), (std::vector<int>{0, 0}));
  EXPECT_EQ(image_->topic_count(), 1U);
  EXPECT_EQ(delete_topics({{"a", {}}}), std::vector<int>{3});
  EXPECT_EQ(delete_topics({{std::nullopt, id}}), std::vector<int>{100});
  EXPECT_EQ(delete_topics({{"c", image_->find_topic("c")->id}}), std::vector<int>{42}) << "name and id";
  EXPECT_EQ(delete_topics({{std::nullopt, {}}}), std::vector<int>{42}) << "neither";
  EXPECT_EQ(delete_topics({{"c", {}}, {"c", {}}}), std::vector<int>{42}) << "twice, answered once";
  EXPECT_EQ(delete_topics({{"c", {}}, {std::nullopt, image_->find_topic("c")->id}}), (std::vector<int>{42, 42}));
  EXPECT_EQ(delete_topics({{"d", image_->find_topic("c")->id}, {"d", {}}}), (std::vector<int>{42, 3}))
      << "what is refused for its form names nothing twice";
  EXPECT_EQ(image_->topic_count(), 1U);
  settings_.delete_topic_enable = false;
  EXPECT_EQ(delete_topics({{"c", {}}}), std::vector<int>{73});
}

TEST_F(PlanTest, TheOffsetsTopicCannotBeDeleted) {
  apply(plan_auto_create(input(), {"__consumer_offsets"}).records);
  EXPECT_EQ(delete_topics({{"__consumer_offsets", {}}}), std::vector<int>{42});
}

TEST_F(PlanTest, PartitionsOnlyGrow) {
  create({topic("t", 2)});
  EXPECT_EQ(more_partitions("t", 2), 37);
  EXPECT_EQ(more_partitions("t", 1), 37);
  EXPECT_EQ(more_partitions("t", 0), 37);
  EXPECT_EQ(more_partitions("u", 3), 3);
  EXPECT_EQ(more_partitions("t", 3), 0);
  EXPECT_EQ(image_->find_topic("t")->partitions.size(), 3U);
  EXPECT_EQ(more_partitions("t", 4, {{{9}}}), 39);
  EXPECT_EQ(more_partitions("t", 5, {{{1}}}), 39) << "one assignment for two partitions";
  EXPECT_EQ(more_partitions("t", 5, {{{1}, {1}}}), 0);
  EXPECT_EQ(more_partitions("t", 10'006), 44);
  EXPECT_EQ(more_partitions("t", 10'005), 0);
}

TEST_F(PlanTest, IncrementalChangesTouchOnlyWhatTheyName) {
  create({with_config(topic("t"), "retention.ms", "5")});
  EXPECT_EQ(change("t", {{"segment.bytes", 0, "2000000"}}), 0);
  EXPECT_EQ(overrides("t"), (ConfigOverrides{{"retention.ms", "5"}, {"segment.bytes", "2000000"}}));
  EXPECT_EQ(change("t", {{"retention.ms", 1, std::nullopt}, {"max.message.bytes", 1, std::nullopt}}), 0);
  EXPECT_EQ(overrides("t"), (ConfigOverrides{{"segment.bytes", "2000000"}}));
  EXPECT_EQ(change("t", {}), 0);
}

TEST_F(PlanTest, ListsAreAppendedToAndSubtractedFromStartingAtTheDefault) {
  create({topic("t")});
  EXPECT_EQ(change("t", {{"cleanup.policy", 2, "compact"}}), 0);
  EXPECT_EQ(overrides("t").at("cleanup.policy"), "delete,compact");
  EXPECT_EQ(change("t", {{"cleanup.policy", 2, "compact"}}), 0);
  EXPECT_EQ(overrides("t").at("cleanup.policy"), "delete,compact");
  EXPECT_EQ(change("t", {{"cleanup.policy", 3, "delete"}}), 0);
  EXPECT_EQ(overrides("t").at("cleanup.policy"), "compact");
  EXPECT_EQ(change("t", {{"retention.ms", 2, "1"}}), 40);
}

TEST_F(PlanTest, RefusedChangesChangeNothing) {
  create({topic("t")});
  EXPECT_EQ(change("t", {{"retention.ms", 0, "5"}, {"no.such.key", 0, "1"}}), 40);
  EXPECT_EQ(change("t", {{"retention.ms", 0, "soon"}}), 40);
  EXPECT_EQ(change("t", {{"retention.ms", 0, std::nullopt}}), 42);
  EXPECT_EQ(change("t", {{"retention.ms", 0, "1"}, {"retention.ms", 1, std::nullopt}}), 42);
  EXPECT_EQ(change("t", {{"retention.ms", 4, "1"}}), 42);
  EXPECT_EQ(change("t", {{"retention.ms", -1, "1"}}), 42);
  EXPECT_EQ(change("u", {{"retention.ms", 0, "1"}}), 3);
  EXPECT_EQ(change("t", {{"min.compaction.lag.ms", 0, "10"}, {"max.compaction.lag.ms", 0, "9"}}), 40);
  EXPECT_TRUE(overrides("t").empty());
  EXPECT_EQ(change("t", {{"min.compaction.lag.ms", 0, "9"}, {"max.compaction.lag.ms", 0, "9"}}), 0);
}

TEST_F(PlanTest, AResourceNamedTwiceIsRefusedBothTimes) {
  create({topic("t")});
  protocol::IncrementalAlterConfigsRequest request;
  for (int i = 0; i < 2; ++i) {
    auto& resource = request.resources.emplace_back();
    resource.resource_type = 2;
    resource.resource_name = "t";
  }
  const auto plan = plan_incremental_alter_configs(input(), request);
  EXPECT_EQ(codes(plan.response.responses), (std::vector<int>{42, 42}));
}

TEST_F(PlanTest, AlterConfigsReplacesTheWholeSet) {
  create({with_config(topic("t"), "retention.ms", "5")});
  protocol::AlterConfigsRequest request;
  auto& resource = request.resources.emplace_back();
  resource.resource_type = 2;
  resource.resource_name = "t";
  resource.configs.push_back({.name = "segment.bytes", .value = "2000000", .unknown_tags = {}});
  auto plan = plan_alter_configs(input(), request);
  EXPECT_EQ(codes(plan.response.responses), std::vector<int>{0});
  apply(plan.records);
  EXPECT_EQ(overrides("t"), (ConfigOverrides{{"segment.bytes", "2000000"}}));
  request.resources[0].configs[0].value = "small";
  EXPECT_EQ(codes(plan_alter_configs(input(), request).response.responses), std::vector<int>{40});
}

TEST_F(PlanTest, ProducerIdBlocksFollowEachOtherToTheLastOne) {
  auto plan = plan_producer_ids(input());
  ASSERT_TRUE(plan.response);
  EXPECT_EQ(plan.response->first, 0);
  EXPECT_EQ(plan.response->count, 1000);
  apply(plan.records);
  EXPECT_EQ(plan_producer_ids(input()).response->first, 1000);
}

TEST_F(PlanTest, LeaderEpochsAreBumpedForPartitionsThatExist) {
  create({topic("t", 2)});
  const auto id = image_->find_topic("t")->id;
  const std::vector<log::PartitionKey> one{{id, 1}};
  const auto records = plan_leader_epochs(input(), one);
  ASSERT_TRUE(records);
  apply(*records);
  EXPECT_EQ(image_->find_topic("t")->partitions[0].leader_epoch, LeaderEpoch{0});
  EXPECT_EQ(image_->find_topic("t")->partitions[1].leader_epoch, LeaderEpoch{1});
  const std::vector<log::PartitionKey> missing{{id, 2}};
  EXPECT_FALSE(plan_leader_epochs(input(), missing));
}

TEST_F(PlanTest, RegistrationIsWrittenOnceAndAgainOnlyWhenItsFactsChange) {
  auto records = plan_registration(input());
  EXPECT_EQ(records.size(), 2U);
  apply(records);
  EXPECT_EQ(image_->features().at("metadata.version"), 33);
  EXPECT_EQ(image_->brokers().at(1).epoch, 1) << "the offset of its record";
  EXPECT_TRUE(plan_registration(input()).empty());
  settings_.rack = "r1";
  records = plan_registration(input());
  EXPECT_EQ(records.size(), 1U);
  apply(records);
  EXPECT_EQ(image_->brokers().at(1).rack, "r1");
}

}  // namespace
}  // namespace weir::metadata
