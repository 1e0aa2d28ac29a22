#include "broker/request_entries.hpp"

#include <gtest/gtest.h>

#include "protocol/gen/delete_records.hpp"

namespace weir::broker {
namespace {
using Topic = protocol::DeleteRecordsRequest::DeleteRecordsTopic;
using Partition = protocol::DeleteRecordsRequest::DeleteRecordsPartition;

const auto kName = [](const Topic& topic) { return topic.name.view(); };

std::vector<std::pair<std::int32_t, std::int64_t>> content(const std::vector<Partition>& partitions) {
  std::vector<std::pair<std::int32_t, std::int64_t>> found;
  for (const auto& partition : partitions) {
    found.emplace_back(partition.partition_index, partition.offset);
  }
  return found;
}

using Content = decltype(content({}));

TEST(RequestEntries, ATopicThatIsNamedTwiceIsOneInThePlaceOfItsFirst) {
  std::vector<Topic> topics{{.name = "b", .partitions = {{0, 1}}},
                            {.name = "a", .partitions = {{0, 2}}},
                            {.name = "b", .partitions = {{1, 3}, {0, 4}}}};
  merge_topics(topics, &Topic::partitions, kName);
  ASSERT_EQ(topics.size(), 2U);
  EXPECT_EQ(topics[0].name.view(), "b");
  EXPECT_EQ(content(topics[0].partitions), (Content{{0, 1}, {1, 3}, {0, 4}}));
  EXPECT_EQ(content(topics[1].partitions), (Content{{0, 2}}));
}

TEST(RequestEntries, ATopicWithoutPartitionsIsNone) {
  std::vector<Topic> topics{{.name = "a"}, {.name = "b", .partitions = {{0, 1}}}, {.name = "b"}};
  merge_topics(topics, &Topic::partitions, kName);
  ASSERT_EQ(topics.size(), 1U);
  EXPECT_EQ(topics[0].name.view(), "b");
}

TEST(RequestEntries, OfAPartitionThatIsNamedTwiceTheLastEntryCounts) {
  std::vector<Partition> partitions{{3, 1}, {0, 2}, {3, 5}, {1, 4}, {3, 6}};
  keep_last_of_each(partitions, &Partition::partition_index);
  EXPECT_EQ(content(partitions), (Content{{3, 6}, {0, 2}, {1, 4}}));
}

TEST(RequestEntries, WhatIsNamedOnceStaysAsItIs) {
  std::vector<Partition> none;
  keep_last_of_each(none, &Partition::partition_index);
  EXPECT_TRUE(none.empty());
  std::vector<Partition> falling{{2, 1}, {1, 1}, {0, 1}};
  keep_last_of_each(falling, &Partition::partition_index);
  EXPECT_EQ(content(falling), (Content{{2, 1}, {1, 1}, {0, 1}}));
}

}  // namespace
}  // namespace weir::broker
