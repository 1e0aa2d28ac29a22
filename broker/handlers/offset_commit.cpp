// OffsetCommit (key 8): unknown topics and partitions are answered here, the rest by the group; by name up to version
// 9, by topic id from version 10 on. The answer leaves when the offsets are durable.
#include "protocol/gen/offset_commit.hpp"

#include "broker/handlers/group_fields.hpp"
#include "broker/handlers/handlers.hpp"
#include "broker/handlers/refused_first.hpp"

namespace weir::broker {
namespace {
using protocol::ErrorCode;
using protocol::OffsetCommitRequest;
using protocol::OffsetCommitResponse;

constexpr std::int16_t kFirstUnknownGroupVersion = 9;
constexpr std::int16_t kFirstByIdVersion = 10;
constexpr std::int64_t kBrokersRetention = -1;  // versions 2 to 4 may name one of their own

class Commit : public std::enable_shared_from_this<Commit> {
 public:
  Commit(RequestContext context, Reply<OffsetCommitResponse> reply)
      : context_(std::move(context)), reply_(std::move(reply)) {}

  void run(const OffsetCommitRequest& request) {
    group::CommitRequest event;
    event.group_id = request.group_id.str();
    event.sender = {request.member_id.str(), string_of(request.group_instance_id),
                    request.generation_id_or_member_epoch};
    if (request.retention_time_ms != kBrokersRetention) {  // one in the past is kept until the next check, as in Kafka
      event.retention_ms = request.retention_time_ms;
    }
    event.old_unknown_group_error = context_.api_version < kFirstUnknownGroupVersion;
    const auto image = context_.services.controller.image();
    for (const auto& topic : request.topics) {
      take(*image, topic, event.partitions);
    }
    if (event.partitions.empty()) {
      return answer_with({});
    }
    context_.services.groups.commit(
        std::move(event), context_.loop,
        [self = shared_from_this()](const group::CommitAnswer& answer) { self->answer_with(answer.partitions); });
  }

 private:
  using TopicAnswer = OffsetCommitResponse::OffsetCommitResponseTopic;
  static std::pair<std::string, Uuid> key_of(const TopicAnswer& topic) { return {topic.name.str(), topic.topic_id}; }

  void answer_with(const std::vector<ErrorCode>& errors) {
    OffsetCommitResponse response;
    response.topics = topics_.together(errors);
    reply_(response);
  }

  // What cannot be goes into the answer, all else to the group. A topic that is not there is named without partitions.
  void take(const metadata::MetadataImage& image, const OffsetCommitRequest::OffsetCommitRequestTopic& asked,
            std::vector<group::CommitPartition>& partitions) {
    const bool by_id = context_.api_version >= kFirstByIdVersion;
    const auto& topic = by_id ? image.find_topic(asked.topic_id) : image.find_topic(asked.name.view());
    TopicAnswer good{.name = asked.name, .topic_id = asked.topic_id};
    TopicAnswer bad = good;
    for (const auto& part : asked.partitions) {
      if (!topic) {
        const auto code = by_id ? ErrorCode::unknown_topic_id : ErrorCode::unknown_topic_or_partition;
        bad.partitions.push_back({.partition_index = part.partition_index, .error_code = wire(code)});
      } else if (part.partition_index < 0 || std::cmp_greater_equal(part.partition_index, topic->partitions.size())) {
        bad.partitions.push_back(
            {.partition_index = part.partition_index, .error_code = wire(ErrorCode::unknown_topic_or_partition)});
      } else {
        good.partitions.push_back({.partition_index = part.partition_index});
        partitions.push_back({topic->name, topic->id, part.partition_index, part.committed_offset,
                              part.committed_leader_epoch,
                              part.committed_metadata ? part.committed_metadata->str() : ""});
      }
    }
    if (!topic || !bad.partitions.empty()) {
      topics_.refuse(std::move(bad));
    }
    if (!good.partitions.empty()) {
      topics_.pass(std::move(good));
    }
  }

  RequestContext context_;
  Reply<OffsetCommitResponse> reply_;
  RefusedFirst<TopicAnswer, key_of> topics_;  // what is passed goes to the group, in the order of its answer
};

}  // namespace

void handle(RequestContext context, OffsetCommitRequest request, Reply<OffsetCommitResponse> reply) {
  std::make_shared<Commit>(std::move(context), std::move(reply))->run(request);
}

}  // namespace weir::broker
