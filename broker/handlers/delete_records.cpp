// DeleteRecords (key 21): moves log starts; each answer waits until its move is durable. -1 means the high watermark.
#include "protocol/gen/delete_records.hpp"

#include "broker/error_map.hpp"
#include "broker/handlers/handlers.hpp"
#include "broker/partition_lookup.hpp"
#include "broker/request_entries.hpp"
#include "broker/topic_settings.hpp"

namespace weir::broker {
namespace {
using protocol::DeleteRecordsRequest;
using protocol::DeleteRecordsResponse;
using protocol::ErrorCode;
using Topic = DeleteRecordsRequest::DeleteRecordsTopic;

constexpr std::int64_t kHighWatermark = -1;

struct Deletion {
  explicit Deletion(Reply<DeleteRecordsResponse> answer_to) : reply(std::move(answer_to)) {}
  Reply<DeleteRecordsResponse> reply;
  DeleteRecordsResponse response;
  std::size_t unanswered = 1;
  void answered() {
    if (--unanswered == 0) {
      reply(response);
    }
  }
};

ErrorCode check(const FoundPartition& found, const Services& services, std::int64_t offset) {
  if (found.error != ErrorCode::none) {
    return found.error;
  }
  // With an empty cleanup.policy records may be deleted by request, and only so.
  const auto& rules = services.topics.of(*found.topic)->rules;
  if (rules.compact && !rules.delete_old) {
    return ErrorCode::policy_violation;
  }
  const bool in_range = offset == kHighWatermark || (offset >= 0 && offset <= found.partition->high_watermark().value);
  return in_range ? ErrorCode::none : ErrorCode::offset_out_of_range;
}

}  // namespace

void handle(RequestContext context, DeleteRecordsRequest request, Reply<DeleteRecordsResponse> reply) {
  auto& services = context.services;
  const auto image = services.controller.image();
  const auto deletion = std::make_shared<Deletion>(std::move(reply));
  merge_topics(request.topics, &Topic::partitions, [](const Topic& topic) { return topic.name.view(); });
  for (auto& topic : request.topics) {
    keep_last_of_each(topic.partitions, &DeleteRecordsRequest::DeleteRecordsPartition::partition_index);
  }
  for (const auto& topic : request.topics) {
    auto& answers = deletion->response.topics.emplace_back();
    answers.name = topic.name;
    for (const auto& part : topic.partitions) {
      answers.partitions.push_back({.partition_index = part.partition_index, .low_watermark = -1});
    }
  }
  for (std::size_t t = 0; t < request.topics.size(); ++t) {
    for (std::size_t p = 0; p < request.topics[t].partitions.size(); ++p) {
      const auto& part = request.topics[t].partitions[p];
      auto found = find_partition(*image, services.log, request.topics[t].name, Uuid{}, part.partition_index);
      if (const auto code = check(found, services, part.offset); code != ErrorCode::none) {
        deletion->response.topics[t].partitions[p].error_code = wire(code);
        continue;
      }
      const Offset start{part.offset == kHighWatermark ? found.partition->high_watermark().value : part.offset};
      ++deletion->unanswered;
      services.log.move_start(std::move(found.partition), start, context.loop,
                              [deletion, t, p](const Result<Offset>& moved) {
                                auto& answer = deletion->response.topics[t].partitions[p];
                                answer.error_code = moved ? 0 : wire(to_wire(moved.error().code));
                                answer.low_watermark = moved ? moved->value : -1;
                                deletion->answered();
                              });
    }
  }
  deletion->answered();
}

}  // namespace weir::broker
