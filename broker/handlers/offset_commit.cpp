// OffsetCommit (key 8): unknown topics and partitions are answered here, the rest by the group; by name up to version
// 9, by topic id from version 10 on. The answer leaves when the offsets are durable.
#include "protocol/gen/offset_commit.hpp"

#include "broker/handlers/group_fields.hpp"
#include "broker/handlers/handlers.hpp"

namespace weir::broker {
namespace {
using protocol::ErrorCode;
using protocol::OffsetCommitRequest;
using protocol::OffsetCommitResponse;

constexpr std::int16_t kFirstUnknownGroupVersion = 9;
constexpr std::int16_t kFirstByIdVersion = 10;

class Commit : public std::enable_shared_from_this<Commit> {
 public:
  Commit(RequestContext context, Reply<OffsetCommitResponse> reply)
      : context_(std::move(context)), reply_(std::move(reply)) {}

  void run(const OffsetCommitRequest& request) {
    group::CommitRequest event;
    event.group_id = request.group_id.str();
    event.sender = {request.member_id.str(), string_of(request.group_instance_id),
                    request.generation_id_or_member_epoch};
    if (request.retention_time_ms >= 0) {
      event.retention_ms = request.retention_time_ms;
    }
    event.old_unknown_group_error = context_.api_version < kFirstUnknownGroupVersion;
    const auto image = context_.services.controller.image();
    for (const auto& topic : request.topics) {
      if (!topic.partitions.empty()) {
        take(*image, topic, event.partitions);
      }
    }
    if (event.partitions.empty()) {
      return reply_(response_);
    }
    context_.services.groups.commit(
        std::move(event), context_.loop, [self = shared_from_this()](const group::CommitAnswer& answer) {
          for (std::size_t i = 0; i < answer.partitions.size(); ++i) {
            const auto [topic, partition] = self->places_[i];
            self->response_.topics[topic].partitions[partition].error_code = wire(answer.partitions[i]);
          }
          self->reply_(self->response_);
        });
  }

 private:
  void take(const metadata::MetadataImage& image, const OffsetCommitRequest::OffsetCommitRequestTopic& asked,
            std::vector<group::CommitPartition>& partitions) {
    const bool by_id = context_.api_version >= kFirstByIdVersion;
    const auto& topic = by_id ? image.find_topic(asked.topic_id) : image.find_topic(asked.name.view());
    auto& answer = response_.topics.emplace_back();
    answer.name = asked.name;
    answer.topic_id = asked.topic_id;
    for (const auto& part : asked.partitions) {
      auto& one = answer.partitions.emplace_back();
      one.partition_index = part.partition_index;
      if (!topic) {
        one.error_code = wire(by_id ? ErrorCode::unknown_topic_id : ErrorCode::unknown_topic_or_partition);
      } else if (part.partition_index < 0 || std::cmp_greater_equal(part.partition_index, topic->partitions.size())) {
        one.error_code = wire(ErrorCode::unknown_topic_or_partition);
      } else {
        partitions.push_back({topic->name, topic->id, part.partition_index, part.committed_offset,
                              part.committed_leader_epoch,
                              part.committed_metadata ? part.committed_metadata->str() : ""});
        places_.emplace_back(response_.topics.size() - 1, answer.partitions.size() - 1);
      }
    }
  }

  RequestContext context_;
  Reply<OffsetCommitResponse> reply_;
  OffsetCommitResponse response_;
  std::vector<std::pair<std::size_t, std::size_t>>
      places_;  // of each partition that went to the group, in the response
};

}  // namespace

void handle(RequestContext context, OffsetCommitRequest request, Reply<OffsetCommitResponse> reply) {
  std::make_shared<Commit>(std::move(context), std::move(reply))->run(request);
}

}  // namespace weir::broker
