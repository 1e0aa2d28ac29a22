// OffsetFetch (key 9): durable offsets only. One group up to version 7, a list from version 8 on; by topic id from
// version 10 on. What nobody committed is offset -1 without an error.
#include "protocol/gen/offset_fetch.hpp"

#include "broker/handlers/group_fields.hpp"
#include "broker/handlers/handlers.hpp"

namespace weir::broker {
namespace {
using protocol::ErrorCode;
using protocol::OffsetFetchRequest;
using protocol::OffsetFetchResponse;
using GroupAnswer = OffsetFetchResponse::OffsetFetchResponseGroup;
using TopicAnswer = OffsetFetchResponse::OffsetFetchResponseTopics;

constexpr std::int16_t kFirstWithGroupError = 2;
constexpr std::int16_t kFirstWithList = 8;
constexpr std::int16_t kFirstByIdVersion = 10;

class OffsetFetching : public std::enable_shared_from_this<OffsetFetching> {
 public:
  OffsetFetching(RequestContext context, OffsetFetchRequest request, Reply<OffsetFetchResponse> reply)
      : context_(std::move(context)),
        request_(std::move(request)),
        reply_(std::move(reply)),
        image_(context_.services.controller.image()) {}

  void run() {
    if (context_.api_version < kFirstWithList) {
      request_.groups = {as_group()};
    }
    answers_.resize(request_.groups.size());
    refused_.resize(request_.groups.size());
    for (std::size_t i = 0; i < request_.groups.size(); ++i) {
      ask(i);
    }
    answered();
  }

 private:
  OffsetFetchRequest::OffsetFetchRequestGroup as_group() {
    OffsetFetchRequest::OffsetFetchRequestGroup group;
    group.group_id = request_.group_id;
    group.topics.reset();
    if (request_.topics) {
      group.topics.emplace();
      for (const auto& topic : *request_.topics) {
        group.topics->push_back({.name = topic.name, .partition_indexes = topic.partition_indexes});
      }
    }
    return group;
  }

  bool by_id() const { return context_.api_version >= kFirstByIdVersion; }

  void ask(std::size_t at) {
    const auto& group = request_.groups[at];
    answers_[at].group_id = group.group_id;
    std::optional<std::vector<group::TopicPartitions>> wanted;
    if (group.topics) {
      wanted.emplace();
      for (const auto& topic : *group.topics) {
        const auto& known = by_id() ? image_->find_topic(topic.topic_id) : image_->find_topic(topic.name.view());
        if (!known && by_id()) {
          refuse_unknown_id(refused_[at], topic);
          continue;
        }
        // A topic that is gone still shows what it left behind, as long as that is there.
        wanted->push_back(
            {known ? known->name : topic.name.str(), known ? known->id : Uuid{}, topic.partition_indexes});
      }
    }
    ++unanswered_;
    context_.services.groups.fetch(group.group_id.str(), std::move(wanted), context_.loop,
                                   [self = shared_from_this(), at](const GroupService::Fetched& fetched) {
                                     self->take(at, fetched);
                                     self->answered();
                                   });
  }

  static void refuse_unknown_id(std::vector<TopicAnswer>& topics,
                                const OffsetFetchRequest::OffsetFetchRequestTopics& topic) {
    auto& refused = topics.emplace_back();
    refused.topic_id = topic.topic_id;
    for (const auto index : topic.partition_indexes) {
      refused.partitions.push_back(
          {.partition_index = index, .committed_offset = -1, .error_code = wire(ErrorCode::unknown_topic_id)});
    }
  }

  void take(std::size_t at, const GroupService::Fetched& fetched) {
    auto& answer = answers_[at];
    answer.error_code = wire(fetched.error);
    if (fetched.error != ErrorCode::none) {
      return;
    }
    for (const auto& topic : fetched.topics) {
      const auto& known = image_->find_topic(topic.topic);
      const bool all = !request_.groups[at].topics;
      if (all && known && !topic.topic_id.is_zero() && topic.topic_id != known->id) {
        continue;
      }  // of a deleted namesake
      if (by_id() && !known) {
        continue;
      }  // asked for all, and this topic has no id to be named by
      auto& one = answer.topics.emplace_back();
      one.name = topic.topic;
      if (known) {
        one.topic_id = known->id;
      }
      for (const auto& part : topic.partitions) {
        one.partitions.push_back({.partition_index = part.partition,
                                  .committed_offset = part.offset,
                                  .committed_leader_epoch = part.leader_epoch,
                                  .metadata = part.metadata});
      }
    }
    std::ranges::move(refused_[at], std::back_inserter(answer.topics));
  }

  void answered() {
    if (--unanswered_ > 0) {
      return;
    }
    OffsetFetchResponse response;
    if (context_.api_version >= kFirstWithList) {
      response.groups = std::move(answers_);
    } else {
      as_one_group(response);
    }
    reply_(response);
  }

  void as_one_group(OffsetFetchResponse& response) {
    auto& group = answers_.front();
    response.error_code = group.error_code;
    for (auto& topic : group.topics) {
      auto& one = response.topics.emplace_back();
      one.name = topic.name;
      for (auto& part : topic.partitions) {
        one.partitions.push_back({part.partition_index,
                                  part.committed_offset,
                                  part.committed_leader_epoch,
                                  part.metadata,
                                  part.error_code,
                                  {}});
      }
    }
    if (context_.api_version >= kFirstWithGroupError || group.error_code == 0 || !request_.topics) {
      return;
    }
    for (const auto& topic : *request_.topics) {  // version 1 can only say it for each partition
      auto& one = response.topics.emplace_back();
      one.name = topic.name;
      for (const auto index : topic.partition_indexes) {
        one.partitions.push_back({index, -1, -1, "", group.error_code, {}});
      }
    }
  }

  RequestContext context_;
  OffsetFetchRequest request_;
  Reply<OffsetFetchResponse> reply_;
  const metadata::ImagePointer image_;
  std::vector<GroupAnswer> answers_;
  std::vector<std::vector<TopicAnswer>> refused_;  // of each group; they come last, as Kafka's
  std::size_t unanswered_ = 1;
};

}  // namespace

void handle(RequestContext context, OffsetFetchRequest request, Reply<OffsetFetchResponse> reply) {
  std::make_shared<OffsetFetching>(std::move(context), std::move(request), std::move(reply))->run();
}

}  // namespace weir::broker
