// Produce (key 0): for each partition find it, check the batch on this core, hand it to the log; answer when all are
// answered. With acks=0 nothing is answered, and an error closes the connection so that the client notices.
#include "protocol/gen/produce.hpp"

#include <new>

#include "base/logging.hpp"
#include "base/out_of_memory.hpp"
#include "broker/error_map.hpp"
#include "broker/gathered_appends.hpp"
#include "broker/handlers/handlers.hpp"
#include "broker/partition_lookup.hpp"
#include "broker/request_entries.hpp"
#include "protocol/batch_frame.hpp"

namespace weir::broker {
namespace {
using protocol::ErrorCode;
using protocol::ProduceRequest;
using protocol::ProduceResponse;
using PartitionAnswer = ProduceResponse::PartitionProduceResponse;

// Decompressed bytes that a batch may cost on an io loop (about a millisecond); what is over it is judged on the pool.
constexpr std::size_t kExpansionBudget = 4 << 20;
constexpr std::int16_t kFirstByIdVersion = 13;

PartitionAnswer refused(std::int32_t index, ErrorCode code) {
  return {.index = index, .error_code = wire(code), .base_offset = -1};
}

PartitionAnswer refused(std::int32_t index, const protocol::BatchRefusal& refusal) {
  auto answer = refused(index, static_cast<ErrorCode>(refusal.code));
  if (!refusal.error_message.empty()) {
    answer.error_message = refusal.error_message;
  }
  for (const auto& record : refusal.record_errors) {
    answer.record_errors.push_back({.batch_index = record.batch_index, .batch_index_error_message = record.message});
  }
  return answer;
}

PartitionAnswer refused(std::int32_t index, const log::Partition& partition, const protocol::BatchRefusal& refusal) {
  auto answer = refused(index, refusal);
  if (!refusal.before_log) {
    answer.log_start_offset = partition.log_start().value;
  }
  return answer;
}

SharedBytes records_of(const ProduceRequest::PartitionProduceData& part) {
  return part.records && !part.records->empty() ? std::get<SharedBytes>(part.records->pieces().front()) : SharedBytes{};
}

// Because of one batch nothing of the request is looked at: neither topic nor acks.
std::optional<protocol::BatchRefusal> refuse_whole(const ProduceRequest& request) {
  for (const auto& topic : request.topic_data) {
    for (const auto& part : topic.partition_data) {
      const auto records = records_of(part);
      if (auto refusal = protocol::refuse_garbled(records.view())) {
        return refusal;
      }
      if (!request.transactional_id && protocol::is_transactional(records.view())) {
        return protocol::BatchRefusal{.code = ErrorCode::transactional_id_authorization_failed,
                                      .before_log = true,
                                      .whole_request = true,
                                      .reason = "a batch of a transaction, but the request is of none"};
      }
    }
  }
  return std::nullopt;
}

std::optional<ErrorCode> refuse_early(const FoundPartition& found, const ProduceRequest& request) {
  if (request.acks < -1 || request.acks > 1) {
    return ErrorCode::invalid_required_acks;
  }
  if (found.topic->internal()) {
    return ErrorCode::invalid_topic_exception;
  }
  return std::nullopt;
}

// Transactions are not served yet: InitProducerId gives no transactional producer an id, so such a batch has no owner.
std::optional<ErrorCode> refuse_transactional(const protocol::BatchFacts& facts) {
  return facts.is_transactional() ? std::optional{ErrorCode::invalid_producer_id_mapping} : std::nullopt;
}

// One request on its way through the log. Lives on the connection's loop (one step, the judging of batches over the
// budget, is on the pool); kept alive by the continuations of its appends.
class Production : public std::enable_shared_from_this<Production> {
 public:
  Production(RequestContext context, ProduceRequest request, Reply<ProduceResponse> reply)
      : context_(std::move(context)),
        request_(std::move(request)),
        services_(context_.services),
        reply_(std::move(reply)),
        now_ms_(services_.runtime.clock.wall_ms()) {}

  void run() {
    const auto image = services_.controller.image();
    refused_whole_ = refuse_whole(request_);
    merge_topics(request_.topic_data, &ProduceRequest::TopicProduceData::partition_data,
                 [](const auto& topic) { return std::pair{topic.name.view(), topic.topic_id}; });
    response_.responses.resize(request_.topic_data.size());
    for (std::size_t i = 0; i < request_.topic_data.size(); ++i) {
      take_topic(*image, i);
    }
    if (refused_whole_) {
      return refuse_all();
    }
    if (over_budget_.empty()) {
      return submit();
    }
    reply_.hold_followers();  // what this connection sends next must not overtake
    services_.runtime.pool.post([self = shared_from_this()] {
      for (auto& work : self->over_budget_) {
        self->judge(work, SIZE_MAX);
      }
      self->context_.loop.post([self] {
        self->submit();
        self->reply_.release_followers();
      });
    });
  }

 private:
  // One partition of the request, on its way to the log.
  struct Work {
    std::shared_ptr<log::Partition> partition;
    std::shared_ptr<const EffectiveTopic> settings;
    SharedBytes records;
    std::size_t topic_at;
    std::size_t entry;
  };

  void take_topic(const metadata::MetadataImage& image, std::size_t at) {
    auto& topic = request_.topic_data[at];
    auto& answers = response_.responses[at];
    answers.name = protocol::Text::borrow(topic.name.view());  // both end with this
    answers.topic_id = topic.topic_id;
    keep_last_of_each(topic.partition_data, &ProduceRequest::PartitionProduceData::index);
    answers.partition_responses.reserve(topic.partition_data.size());
    for (const auto& part : topic.partition_data) {
      answers.partition_responses.push_back({.index = part.index});
      if (!refused_whole_) {
        take_partition(image, topic, part, at);
      }
    }
  }

  void refuse_all() {
    appends_.clear();
    for (auto& topic : response_.responses) {
      for (auto& answer : topic.partition_responses) {
        answer = refused(answer.index, *refused_whole_);
      }
    }
    answered();
  }

  void take_partition(const metadata::MetadataImage& image, const ProduceRequest::TopicProduceData& topic,
                      const ProduceRequest::PartitionProduceData& part, std::size_t topic_at) {
    auto& answer = response_.responses[topic_at].partition_responses.back();
    auto found = find_partition(image, services_.log, topic.name, topic.topic_id, part.index);
    if (context_.api_version >= kFirstByIdVersion && topic.topic_id.is_zero()) {
      found.error = ErrorCode::unknown_topic_id;
    }
    if (found.error != ErrorCode::none) {
      answer = refused(part.index, found.error);
      return;
    }
    auto records = records_of(part);
    Bytes batch;
    if (const auto refusal = protocol::refuse_frame(records.view(), context_.api_version, batch)) {
      answer = refused(part.index, *found.partition, *refusal);
      if (refusal->whole_request) {
        refused_whole_ = *refusal;
      }
      return;
    }
    if (const auto code = refuse_early(found, request_)) {
      answer = refused(part.index, *code);
      return;
    }
    Work work{.partition = std::move(found.partition),
              .settings = services_.topics.of(*found.topic),
              .records = std::move(records),
              .topic_at = topic_at,
              .entry = response_.responses[topic_at].partition_responses.size() - 1};
    if (!judge(work, kExpansionBudget)) {
      over_budget_.push_back(std::move(work));
    }
  }

  // Checks the batch; it becomes an append or an error answer. False: over the budget, nothing was decided.
  bool judge(Work& work, std::size_t expansion_budget) {
    auto verdict = validate(work, expansion_budget);
    if (std::holds_alternative<protocol::BatchOverBudget>(verdict)) {
      return false;
    }
    auto& answer = answer_of(work.topic_at, work.entry);
    if (const auto* refusal = std::get_if<protocol::BatchRefusal>(&verdict)) {
      answer = refused(answer.index, *work.partition, *refusal);
      return true;
    }
    auto& batch = std::get<protocol::ValidBatch>(verdict);
    if (const auto code = refuse_transactional(batch.facts())) {
      answer = refused(answer.index, *code);
      return true;
    }
    add_append(work, std::move(batch));
    return true;
  }

  // Memory that a batch expands to and that is not there costs this batch.
  protocol::BatchVerdict validate(const Work& work, std::size_t expansion_budget) const {
    try {
      const MayRunOutOfMemory here;
      return protocol::validate_batch(
          work.records, work.settings->batches,
          {.produce_version = context_.api_version, .now_ms = now_ms_, .expansion_budget = expansion_budget});
    } catch (const std::bad_alloc&) {
      WEIR_LOG(error, "out of memory for a batch of {} bytes: it is refused", work.records.size());
      return protocol::BatchRefusal{.code = ErrorCode::unknown_server_error, .reason = "out of memory"};
    }
  }

  void add_append(Work& work, protocol::ValidBatch batch) {
    const auto& facts = batch.facts();
    const bool stamped = facts.timestamp_type() == protocol::TimestampType::log_append_time;
    const auto append_time_ms = stamped ? facts.max_timestamp : -1;
    appends_.push_back({.partition = std::move(work.partition),
                        .batch = std::move(batch),
                        .acks = request_.acks == -1 ? log::Acks::all : log::Acks::leader,
                        .reply_on = &context_.loop,
                        .done = [self = shared_from_this(), topic_at = work.topic_at, entry = work.entry,
                                 append_time_ms](const log::AppendOutcome& outcome) {
                          self->fill(self->answer_of(topic_at, entry), outcome, append_time_ms);
                          self->answered();
                        }});
  }

  PartitionAnswer& answer_of(std::size_t topic_at, std::size_t entry) {
    return response_.responses[topic_at].partition_responses[entry];
  }

  void submit() {
    unanswered_ += appends_.size();
    for (const auto& append : appends_) {
      const auto& facts = append.batch.facts();
      services_.metrics.produce_bytes.add(facts.size_bytes);
      services_.metrics.produce_records.add(static_cast<std::uint64_t>(facts.record_count));
    }
    services_.appends.append(context_.loop, appends_);
    appends_.clear();
    answered();
  }

  static void fill(PartitionAnswer& answer, const log::AppendOutcome& outcome, Millis append_time_ms) {
    answer.log_start_offset = outcome.log_start.value;
    if (outcome.error) {
      answer.error_code = wire(to_wire(outcome.error->code));
      answer.base_offset = -1;
      return;
    }
    answer.base_offset = outcome.base_offset.value;
    answer.log_append_time_ms = outcome.duplicate ? outcome.log_append_time : append_time_ms;
  }

  // With acks=0 the outcome is awaited as well, so that an error can close the connection.
  void answered() {
    if (--unanswered_ > 0) {
      return;
    }
    if (request_.acks != 0) {
      return reply_(response_);
    }
    const bool failed = std::ranges::any_of(response_.responses, [](const auto& topic) {
      return std::ranges::any_of(topic.partition_responses, [](const auto& answer) { return answer.error_code != 0; });
    });
    failed ? reply_.refuse() : reply_.nothing();
  }

  RequestContext context_;
  ProduceRequest request_;
  Services& services_;
  Reply<ProduceResponse> reply_;
  const Millis now_ms_;
  ProduceResponse response_;
  std::vector<log::Append> appends_;
  std::vector<Work> over_budget_;
  std::optional<protocol::BatchRefusal> refused_whole_;  // because of one batch: nothing of the request is taken
  std::size_t unanswered_ = 1;                           // appends under way, and one for the hand-over itself
};

}  // namespace

void handle(RequestContext context, ProduceRequest request, Reply<ProduceResponse> reply) {
  std::make_shared<Production>(std::move(context), std::move(request), std::move(reply))->run();
}

}  // namespace weir::broker
