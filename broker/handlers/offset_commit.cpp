// OffsetCommit (key 8): unknown topics and partitions are answered here, the rest by the group; by name up to version
// 9, by topic id from version 10 on. The answer leaves when the offsets are durable.
#include "protocol/gen/offset_commit.hpp"

#include <map>

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
      take(*image, topic, event.partitions);
    }
    if (event.partitions.empty()) {
      return reply_(response_);
    }
    context_.services.groups.commit(std::move(event), context_.loop,
                                    [self = shared_from_this()](const group::CommitAnswer& answer) {
                                      self->reply_(self->answered_with(answer.partitions));
                                    });
  }

 private:
  using TopicAnswer = OffsetCommitResponse::OffsetCommitResponseTopic;
  using Key = std::pair<std::string, Uuid>;

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
      add(std::move(bad));
    }
    if (!good.partitions.empty()) {
      committed_.push_back(std::move(good));
    }
  }

  void add(TopicAnswer topic) {
    const auto [place, fresh] = places_.try_emplace({topic.name.str(), topic.topic_id}, response_.topics.size());
    if (fresh) {
      response_.topics.push_back(std::move(topic));
    } else {
      std::ranges::move(topic.partitions, std::back_inserter(response_.topics[place->second].partitions));
    }
  }

  // As Kafka puts the two together: without a refusal the answer has the topics of the request as they came.
  const OffsetCommitResponse& answered_with(const std::vector<ErrorCode>& errors) {
    auto error = errors.begin();
    for (auto& topic : committed_) {
      for (auto& part : topic.partitions) {
        part.error_code = wire(*error++);
      }
    }
    if (response_.topics.empty()) {
      response_.topics = std::move(committed_);
    } else {
      std::ranges::for_each(committed_, [this](auto& topic) { add(std::move(topic)); });
    }
    return response_;
  }

  RequestContext context_;
  Reply<OffsetCommitResponse> reply_;
  OffsetCommitResponse response_;
  std::map<Key, std::size_t> places_;   // in response_.topics
  std::vector<TopicAnswer> committed_;  // what went to the group, in the order of CommitAnswer::partitions
};

}  // namespace

void handle(RequestContext context, OffsetCommitRequest request, Reply<OffsetCommitResponse> reply) {
  std::make_shared<Commit>(std::move(context), std::move(reply))->run(request);
}

}  // namespace weir::broker
