// Every config that a real Kafka 4.4 node tells of a broker, a topic, a group and a subscription to client metrics, as
// compat_tests/oracle/record_configs.py recorded it: ours have the same names, types, defaults, flags and synonyms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "base/topic_config.hpp"
#include "coordinator/metadata/describe_configs.hpp"
#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/plan.hpp"

namespace weir::metadata {
namespace {

struct Told {
  std::string type;
  std::string default_value;
  std::string read_only;
  std::string sensitive;
  std::string synonyms;
  friend bool operator==(const Told&, const Told&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Told& told) {
    return out << told.type << " | " << told.default_value << " | " << told.read_only << " | " << told.sensitive
               << " | " << told.synonyms;
  }
};
using Configs = std::map<std::string, Told>;

std::map<std::string, Configs> recorded() {
  std::map<std::string, Configs> all;
  std::ifstream in{WEIR_SOURCE_DIR "/coordinator/testdata/kafka_configs.tsv"};
  std::string line;
  std::getline(in, line);  // the names of the columns
  while (std::getline(in, line)) {
    std::vector<std::string> cells{""};
    for (const char c : line) {
      if (c == '\t') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    cells.resize(7);
    all[cells[0]][cells[1]] = {cells[2], cells[3], cells[4], cells[5], cells[6]};
  }
  return all;
}

std::string shown(const std::optional<protocol::Text>& text) {
  return text ? text->str() : "(null)";
}

Configs described(ResourceType type, const std::string& name) {
  constexpr std::array kTypes{"UNKNOWN", "BOOLEAN", "STRING", "INT",   "SHORT",
                              "LONG",    "DOUBLE",  "LIST",   "CLASS", "PASSWORD"};
  const Identity identity{.cluster_id = "c", .node_id = 1, .directory_id = Random{5}.uuid()};
  const ControllerSettings settings;
  Random random{1};
  protocol::CreateTopicsRequest create;
  auto& topic = create.topics.emplace_back();
  topic.name = "recorded";
  topic.num_partitions = topic.replication_factor = 1;
  const MetadataImage empty;
  ImageBuilder builder{empty};
  const auto plan =
      plan_create_topics({.image = empty, .settings = settings, .identity = identity, .random = random}, create);
  EXPECT_TRUE(builder.apply_all(Offset{0}, plan.records));
  protocol::DescribeConfigsRequest request;
  auto& resource = request.resources.emplace_back();
  resource.resource_type = static_cast<std::int8_t>(type);
  resource.resource_name = name;
  resource.configuration_keys.reset();
  request.include_synonyms = request.include_documentation = true;
  const auto image = builder.build();
  const auto response = describe_configs(*image, Config{}, identity, request);
  Configs all;
  for (const auto& config : response.results.at(0).configs) {
    Told told{.type = kTypes.at(static_cast<std::size_t>(config.config_type)),
              .default_value = shown(config.value),
              .read_only = config.read_only ? "yes" : "no",
              .sensitive = config.is_sensitive ? "yes" : "no",
              .synonyms = {}};
    for (const auto& synonym : config.synonyms) {
      told.synonyms += (told.synonyms.empty() ? "" : ",") + synonym.name.str() + "=" + shown(synonym.value);
    }
    EXPECT_FALSE(config.documentation.value_or(protocol::Text{}).view().empty())
        << config.name.view() << " has no words";
    all[config.name.str()] = told;
  }
  return all;
}

// What differs on purpose, and each for its reason.
const std::set<std::string> kOtherDefaults{
    "controller.listener.names",                 // Kafka demands one; here the controller needs none
    "node.id",                                   // the same
    "process.roles",                             // the same
    "listeners",                                 // ours listens on loopback unless told otherwise
    "log.dir",                                   // not a folder that the machine clears at its next start
    "offsets.topic.replication.factor",          // 3, which one node cannot have
    "transaction.state.log.min.isr",             // 2, the same
    "transaction.state.log.replication.factor",  // 3, the same
};

void compare(const std::string& kind, const Configs& ours) {
  const auto all = recorded();
  const auto& kafkas = all.at(kind);
  for (const auto& [name, told] : kafkas) {
    const auto found = ours.find(name);
    if (found == ours.end()) {
      ADD_FAILURE() << kind << " " << name << " is not told";
      continue;
    }
    auto expected = told;
    if (kind == "broker" && kOtherDefaults.contains(name)) {
      EXPECT_NE(found->second.default_value, told.default_value) << name << " is the same: take it off the list";
      expected.default_value = found->second.default_value;
      expected.synonyms = found->second.synonyms;
    }
    EXPECT_EQ(found->second, expected) << kind << " " << name;
  }
  for (const auto& [name, told] : ours) {
    EXPECT_TRUE(kafkas.contains(name) || name.starts_with("mq.")) << kind << " " << name << " is not told by Kafka";
  }
}

TEST(KafkaConfigs, ABrokersAreToldAsKafkaTellsThem) {
  compare("broker", described(ResourceType::broker, "1"));
}

TEST(KafkaConfigs, ATopicsAreToldAsKafkaTellsThem) {
  compare("topic", described(ResourceType::topic, "recorded"));
}

TEST(KafkaConfigs, AGroupsAreToldAsKafkaTellsThem) {
  compare("group", described(ResourceType::group, "recorded"));
}

TEST(KafkaConfigs, ASubscriptionThatNobodyMadeIsToldAsKafkaTellsIt) {
  compare("client_metrics", described(ResourceType::client_metrics, "recorded"));
}

}  // namespace
}  // namespace weir::metadata
