// OffsetDelete (key 47): an admin takes offsets away that no member reads on. Never flexible.
#include "protocol/gen/offset_delete.hpp"

#include "broker/handlers/group_fields.hpp"
#include "broker/handlers/handlers.hpp"
#include "broker/handlers/refused_first.hpp"

namespace weir::broker {
namespace {
using protocol::ErrorCode;
using protocol::OffsetDeleteRequest;
using protocol::OffsetDeleteResponse;

using TopicAnswer = OffsetDeleteResponse::OffsetDeleteResponseTopic;

std::string name_of(const TopicAnswer& topic) {
  return topic.name.str();
}

struct Asked {
  group::DeleteOffsetsRequest known;
  RefusedFirst<TopicAnswer, name_of> topics;  // what is passed goes to the group, in the order of its answer
};

void sort_out(const metadata::MetadataImage& image, const OffsetDeleteRequest::OffsetDeleteRequestTopic& topic,
              Asked& asked) {
  const auto& known = image.find_topic(topic.name.view());
  TopicAnswer good{.name = topic.name};
  TopicAnswer bad = good;
  group::TopicPartitions wanted{.topic = topic.name.str(), .topic_id = known ? known->id : Uuid{}};
  for (const auto& part : topic.partitions) {
    const auto index = part.partition_index;
    if (known && index >= 0 && std::cmp_less(index, known->partitions.size())) {
      good.partitions.push_back({.partition_index = index});
      wanted.partitions.push_back(index);
    } else {
      bad.partitions.push_back({index, wire(ErrorCode::unknown_topic_or_partition)});
    }
  }
  if (!known || !bad.partitions.empty()) {
    asked.topics.refuse(std::move(bad));
  }
  if (!good.partitions.empty()) {
    asked.topics.pass(std::move(good));
    asked.known.topics.push_back(std::move(wanted));
  }
}

std::vector<ErrorCode> in_one_list(const std::vector<std::vector<ErrorCode>>& errors) {
  std::vector<ErrorCode> all;
  for (const auto& some : errors) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace

void handle(RequestContext context, OffsetDeleteRequest request, Reply<OffsetDeleteResponse> reply) {
  if (request.group_id.empty()) {
    return reply({.error_code = wire(ErrorCode::invalid_group_id)});
  }
  Asked asked{.known = {.group_id = request.group_id.str()}};
  for (const auto& topic : request.topics) {
    sort_out(*context.services.controller.image(), topic, asked);
  }
  context.services.groups.delete_offsets(
      std::move(asked.known), context.loop,
      [reply = std::move(reply), topics = std::move(asked.topics)](const group::DeleteOffsetsAnswer& answer) mutable {
        OffsetDeleteResponse response{.error_code = wire(answer.error)};
        if (answer.error == ErrorCode::none) {
          response.topics = topics.together(in_one_list(answer.topics));
        }
        reply(response);
      });
}

}  // namespace weir::broker
