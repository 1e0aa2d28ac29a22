// DescribeLogDirs (key 35): the one data folder, its volume, and the bytes of each partition that is asked for.
#include "protocol/gen/describe_log_dirs.hpp"

#include "broker/handlers/handlers.hpp"
#include "broker/partition_lookup.hpp"
#include "broker/request_entries.hpp"

namespace weir::broker {
namespace {
using protocol::DescribeLogDirsRequest;
using protocol::DescribeLogDirsResponse;
using Directory = DescribeLogDirsResponse::DescribeLogDirsResult;

void add_topic(Directory& directory, const metadata::Topic& topic, const log::CommitLog& log,
               const std::vector<std::int32_t>* only) {
  DescribeLogDirsResponse::DescribeLogDirsTopic answer;
  answer.name = topic.name;
  for (std::int32_t index = 0; std::cmp_less(index, topic.partitions.size()); ++index) {
    if (only != nullptr && std::ranges::find(*only, index) == only->end()) {
      continue;
    }
    if (const auto partition = log.find({topic.id, index})) {
      answer.partitions.push_back({.partition_index = index, .partition_size = log.size_bytes(*partition)});
    }
  }
  if (!answer.partitions.empty()) {
    directory.topics.push_back(std::move(answer));
  }
}

DescribeLogDirsResponse describe(const Services& services, const DescribeLogDirsRequest& request) {
  Directory directory{.log_dir = services.data_folder};
  if (const auto total = services.runtime.disk.total_bytes(services.data_folder)) {
    directory.total_bytes = *total;
  }
  if (const auto free = services.runtime.disk.free_bytes(services.data_folder)) {
    directory.usable_bytes = *free;
  }
  const auto image = services.controller.image();
  if (!request.topics) {
    image->for_each_topic([&](const metadata::Topic& topic) { add_topic(directory, topic, services.log, nullptr); });
  } else {
    for (const auto& asked : *request.topics) {
      if (const auto& topic = image->find_topic(asked.topic)) {
        add_topic(directory, *topic, services.log, &asked.partitions);
      }
    }
  }
  DescribeLogDirsResponse response;
  response.results.push_back(std::move(directory));
  return response;
}

}  // namespace

void handle(RequestContext context, DescribeLogDirsRequest request, Reply<DescribeLogDirsResponse> reply) {
  if (request.topics) {
    merge_topics(*request.topics, &DescribeLogDirsRequest::DescribableLogDirTopic::partitions,
                 [](const auto& topic) { return topic.topic.view(); });
  }
  // The sizes of thousands of partitions and the volume's facts: not on an io loop.
  context.services.runtime.pool.post([&services = context.services, &loop = context.loop, context = std::move(context),
                                      request = std::move(request), reply = std::move(reply)]() mutable {
    auto response = describe(services, request);
    loop.post([context = std::move(context), reply = std::move(reply), response = std::move(response)]() mutable {
      reply(response);
    });
  });
}

}  // namespace weir::broker
