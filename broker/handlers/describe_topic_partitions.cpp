// DescribeTopicPartitions (key 75): topics by name in pages; a cursor names where the next page begins.
#include "protocol/gen/describe_topic_partitions.hpp"

#include <set>

#include "broker/advertised.hpp"
#include "broker/handlers/handlers.hpp"
#include "broker/partition_lookup.hpp"
#include "coordinator/metadata/topic_name.hpp"

namespace weir::broker {
namespace {
using protocol::DescribeTopicPartitionsRequest;
using protocol::DescribeTopicPartitionsResponse;
using protocol::ErrorCode;
using TopicAnswer = DescribeTopicPartitionsResponse::DescribeTopicPartitionsResponseTopic;

std::set<std::string> names_asked(const DescribeTopicPartitionsRequest& request, const metadata::MetadataImage& image) {
  std::set<std::string> names;
  for (const auto& topic : request.topics) {
    names.insert(topic.name.str());
  }
  if (names.empty()) {
    image.for_each_topic([&](const metadata::Topic& topic) { names.insert(topic.name); });
  }
  return names;
}

TopicAnswer unknown(const std::string& name) {
  const bool bad = metadata::refuse_topic_name(name).has_value();
  return {.error_code = wire(bad ? ErrorCode::invalid_topic_exception : ErrorCode::unknown_topic_or_partition),
          .name = name,
          .topic_authorized_operations = kAllTopicOperations};
}

// A page cannot begin before a first partition, or with a topic that was not asked for.
bool is_impossible(const DescribeTopicPartitionsRequest& request) {
  const auto& cursor = request.cursor;
  const auto is_at = [&](const auto& topic) { return topic.name == cursor->topic_name; };
  return cursor &&
         (cursor->partition_index < 0 || (!request.topics.empty() && std::ranges::none_of(request.topics, is_at)));
}

// Each topic of the request is refused, in their order.
DescribeTopicPartitionsResponse refused(const DescribeTopicPartitionsRequest& request) {
  DescribeTopicPartitionsResponse response;
  for (const auto& topic : request.topics) {
    response.topics.push_back({.error_code = wire(ErrorCode::invalid_request), .name = topic.name});
  }
  return response;
}

// Partitions [first, first + room) of the topic.
TopicAnswer describe(const metadata::Topic& topic, std::size_t first, std::size_t room) {
  TopicAnswer answer{.name = topic.name,
                     .topic_id = topic.id,
                     .is_internal = topic.internal(),
                     .topic_authorized_operations = kAllTopicOperations};
  for (std::size_t i = first; i < topic.partitions.size() && i - first < room; ++i) {
    const auto& partition = topic.partitions[i];
    answer.partitions.push_back({.partition_index = static_cast<std::int32_t>(i),
                                 .leader_id = partition.leader,
                                 .leader_epoch = partition.leader_epoch.value,
                                 .replica_nodes = partition.replicas,
                                 .isr_nodes = partition.isr,
                                 .eligible_leader_replicas = partition.eligible_leaders,
                                 .last_known_elr = partition.last_known_leaders});
  }
  return answer;
}

}  // namespace

void handle(RequestContext context, DescribeTopicPartitionsRequest request,
            Reply<DescribeTopicPartitionsResponse> reply) {
  if (is_impossible(request)) {
    return reply(refused(request));
  }
  const auto image = context.services.controller.image();
  const auto names = names_asked(request, *image);
  const auto limit =
      std::min(request.response_partition_limit, context.services.config.max_request_partition_size_limit);
  auto room = static_cast<std::size_t>(std::max(limit, 1));
  const std::string start = request.cursor ? request.cursor->topic_name.str() : std::string{};
  DescribeTopicPartitionsResponse response;
  for (auto name = names.lower_bound(start); name != names.end(); ++name) {
    const bool resumed = request.cursor && *name == start;
    const auto first = static_cast<std::size_t>(resumed ? request.cursor->partition_index : 0);
    if (room == 0) {
      response.next_cursor = {.topic_name = *name, .partition_index = static_cast<std::int32_t>(first)};
      break;
    }
    const auto& topic = image->find_topic(*name);
    if (!topic) {
      response.topics.push_back(unknown(*name));
      continue;
    }
    response.topics.push_back(describe(*topic, first, room));
    const auto sent = response.topics.back().partitions.size();
    room -= sent;
    if (first + sent < topic->partitions.size()) {
      response.next_cursor = {.topic_name = *name, .partition_index = static_cast<std::int32_t>(first + sent)};
      break;
    }
  }
  reply(response);
}

}  // namespace weir::broker
