// OffsetDelete (key 47): an admin takes offsets away that no member reads on. Never flexible.
#include "protocol/gen/offset_delete.hpp"

#include "broker/handlers/group_fields.hpp"
#include "broker/handlers/handlers.hpp"

namespace weir::broker {
namespace {
using protocol::ErrorCode;
using protocol::OffsetDeleteRequest;
using protocol::OffsetDeleteResponse;

struct Asked {
  group::DeleteOffsetsRequest known;
  OffsetDeleteResponse response;  // with the unknown partitions already in it, first, as Kafka has them
};

Asked sort_out(const metadata::MetadataImage& image, const OffsetDeleteRequest& request) {
  Asked asked;
  asked.known.group_id = request.group_id.str();
  for (const auto& topic : request.topics) {
    if (topic.partitions.empty()) {
      continue;
    }
    const auto& known = image.find_topic(topic.name.view());
    auto& answer = asked.response.topics.emplace_back();
    answer.name = topic.name;
    group::TopicPartitions wanted{.topic = topic.name.str(), .topic_id = known ? known->id : Uuid{}};
    for (const auto& part : topic.partitions) {
      const bool exists =
          known && part.partition_index >= 0 && std::cmp_less(part.partition_index, known->partitions.size());
      if (exists) {
        wanted.partitions.push_back(part.partition_index);
      } else {
        answer.partitions.push_back({part.partition_index, wire(ErrorCode::unknown_topic_or_partition)});
      }
    }
    asked.known.topics.push_back(std::move(wanted));
  }
  return asked;
}

}  // namespace

void handle(RequestContext context, OffsetDeleteRequest request, Reply<OffsetDeleteResponse> reply) {
  if (request.group_id.empty()) {
    return reply({.error_code = wire(ErrorCode::invalid_group_id)});
  }
  auto asked = sort_out(*context.services.controller.image(), request);
  const auto topics = asked.known.topics;
  context.services.groups.delete_offsets(
      std::move(asked.known), context.loop,
      [reply = std::move(reply), response = std::move(asked.response),
       topics](const group::DeleteOffsetsAnswer& answer) mutable {
        if (answer.error != ErrorCode::none) {
          return reply({.error_code = wire(answer.error)});
        }
        for (std::size_t t = 0; t < topics.size(); ++t) {
          for (std::size_t p = 0; p < topics[t].partitions.size(); ++p) {
            response.topics[t].partitions.push_back({topics[t].partitions[p], wire(answer.topics[t][p])});
          }
        }
        reply(response);
      });
}

}  // namespace weir::broker
