// DeleteRecords (key 21): moves log starts. The answer waits until the moves are durable, for timeout_ms at most. -1
// means the high watermark.
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

// Where nothing is replicated a Kafka node has done at once what here waits for a sync: no client gets less time.
constexpr Millis kShortestWaitMs = 1'000;

// Runs on the connection's loop. A start that is not durable within the request's timeout_ms may still move.
class Deletion : public std::enable_shared_from_this<Deletion> {
 public:
  Deletion(IoLoop& loop, Reply<DeleteRecordsResponse> answer_to) : loop_(loop), reply_(std::move(answer_to)) {}

  DeleteRecordsResponse response;

  void expect_move(std::size_t topic, std::size_t partition) {
    ++waits_for_;
    response.topics[topic].partitions[partition].error_code = wire(ErrorCode::request_timed_out);
  }
  void moved(std::size_t topic, std::size_t partition, const Result<Offset>& start) {
    if (is_answered_) {
      return;
    }
    auto& answer = response.topics[topic].partitions[partition];
    answer.error_code = start ? 0 : wire(to_wire(start.error().code));
    answer.low_watermark = start ? start->value : -1;
    if (--waits_for_ == 0) {
      loop_.timers().cancel(timer_);
      answer_now();
    }
  }
  void answer_by(Millis deadline_ms) {
    if (waits_for_ == 0) {
      answer_now();
    } else {
      timer_ = loop_.timers().schedule(deadline_ms, [self = shared_from_this()] { self->answer_now(); });
    }
  }

 private:
  void answer_now() {
    is_answered_ = true;
    reply_(response);
  }

  IoLoop& loop_;
  Reply<DeleteRecordsResponse> reply_;
  std::size_t waits_for_ = 0;
  bool is_answered_ = false;
  TimerQueue::TimerId timer_ = 0;
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
  const auto deletion = std::make_shared<Deletion>(context.loop, std::move(reply));
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
      deletion->expect_move(t, p);
      services.log.move_start(std::move(found.partition), start, context.loop,
                              [deletion, t, p](const Result<Offset>& moved) { deletion->moved(t, p, moved); });
    }
  }
  deletion->answer_by(services.runtime.clock.monotonic_ms() + std::max<Millis>(request.timeout_ms, kShortestWaitMs));
}

}  // namespace weir::broker
