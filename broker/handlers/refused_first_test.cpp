#include "broker/handlers/refused_first.hpp"

#include <gtest/gtest.h>

#include "protocol/gen/offset_delete.hpp"

namespace weir::broker {
namespace {
using protocol::ErrorCode;
using Topic = protocol::OffsetDeleteResponse::OffsetDeleteResponseTopic;

std::string name_of(const Topic& topic) {
  return topic.name.str();
}
using Topics = RefusedFirst<Topic, name_of>;

Topic topic(const char* name, std::vector<std::int32_t> partitions, ErrorCode code = ErrorCode::none) {
  Topic made{.name = name};
  for (const auto index : partitions) {
    made.partitions.push_back({.partition_index = index, .error_code = wire(code)});
  }
  return made;
}

// "name index:error ..." for each topic.
std::vector<std::string> shown(const std::vector<Topic>& topics) {
  std::vector<std::string> all;
  for (const auto& one : topics) {
    auto& text = all.emplace_back(one.name.str());
    for (const auto& part : one.partitions) {
      text += " " + std::to_string(part.partition_index) + ":" + std::to_string(part.error_code);
    }
  }
  return all;
}

TEST(RefusedFirst, WithoutARefusalTheTopicsAreAsTheyCame) {
  Topics topics;
  topics.pass(topic("a", {0, 1}));
  topics.pass(topic("b", {0}));
  topics.pass(topic("a", {0}));
  EXPECT_EQ(
      shown(topics.together({ErrorCode::none, ErrorCode::none, ErrorCode::none, ErrorCode::group_subscribed_to_topic})),
      (std::vector<std::string>{"a 0:0 1:0", "b 0:0", "a 0:86"}));
}

TEST(RefusedFirst, ARefusalComesFirstAndMakesOneEntryOfEachTopic) {
  Topics topics;
  topics.pass(topic("a", {0}));
  topics.refuse(topic("none", {}));
  topics.refuse(topic("a", {9}, ErrorCode::unknown_topic_or_partition));
  topics.pass(topic("b", {1}));
  topics.pass(topic("a", {0}));
  EXPECT_EQ(topics.passed().size(), 3U);
  EXPECT_EQ(shown(topics.together({ErrorCode::none, ErrorCode::none, ErrorCode::none})),
            (std::vector<std::string>{"none", "a 9:3 0:0 0:0", "b 1:0"}));
}

}  // namespace
}  // namespace weir::broker
