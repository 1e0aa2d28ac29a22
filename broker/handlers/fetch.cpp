// Fetch (key 1): open or continue the session, read what is there, wait for more if the client wants to, answer.
//
// A Fetching lives on the connection's loop; while a cold read is under way it is on the pool and nobody else touches
// it. States: collecting -> (cold: on the pool -> collecting done) -> enough? answering : waiting -> woken or late ->
// collecting.
#include "protocol/gen/fetch.hpp"

#include <map>

#include "broker/error_map.hpp"
#include "broker/handlers/handlers.hpp"
#include "broker/partition_lookup.hpp"

namespace weir::broker {
namespace {
using protocol::ErrorCode;
using protocol::FetchRequest;
using protocol::FetchResponse;
using PartitionData = FetchResponse::PartitionData;

constexpr std::int16_t kFirstByIdVersion = 13;
constexpr std::int8_t kReadCommitted = 1;
constexpr Millis kWantedCheckMs = 10'000;  // how long a waiting fetch may outlive its connection

// The request's partitions in order; of a partition named twice the last one counts, at the place of the first.
std::vector<FetchTarget> asked_targets(FetchRequest& request) {
  std::vector<FetchTarget> targets;
  std::map<FetchKey, std::size_t> places;
  for (const auto& topic : request.topics) {
    for (const auto& part : topic.partitions) {
      FetchTarget target{.key = {.topic = topic.topic.str(), .topic_id = topic.topic_id, .partition = part.partition},
                         .current_leader_epoch = std::max(part.current_leader_epoch, -1),
                         .fetch_offset = part.fetch_offset,
                         .last_fetched_epoch = part.last_fetched_epoch,
                         .bytes_max = part.partition_max_bytes};
      const auto [place, fresh] = places.try_emplace(target.key, targets.size());
      if (fresh) {
        targets.push_back(std::move(target));
      } else {
        targets[place->second] = std::move(target);
      }
    }
  }
  return targets;
}

std::vector<FetchKey> forgotten_keys(const FetchRequest& request) {
  std::vector<FetchKey> keys;
  for (const auto& topic : request.forgotten_topics_data) {
    for (const auto index : topic.partitions) {
      keys.push_back({.topic = topic.topic.str(), .topic_id = topic.topic_id, .partition = index});
    }
  }
  return keys;
}

PartitionData failed(std::int32_t index, ErrorCode code) {
  PartitionData data{.partition_index = index, .error_code = wire(code), .high_watermark = -1};
  data.records.emplace();
  return data;
}

// The partition is there, but cannot be read like this: Kafka then leaves out the list of aborted transactions.
PartitionData failed_read(std::int32_t index, ErrorCode code) {
  auto data = failed(index, code);
  data.aborted_transactions.reset();
  return data;
}

class Fetching : public std::enable_shared_from_this<Fetching> {
 public:
  Fetching(RequestContext context, const FetchRequest& request, FetchSessions::Opened opened,
           Reply<FetchResponse> reply)
      : context_(std::move(context)),
        services_(context_.services),
        opened_(std::move(opened)),
        reply_(std::move(reply)),
        read_committed_(request.isolation_level == kReadCommitted),
        bytes_max_(std::min(request.max_bytes, services_.config.fetch_max_bytes)),
        bytes_min_(std::min<std::int64_t>(request.min_bytes, bytes_max_)),  // more than fits is not waited for
        deadline_ms_(services_.runtime.clock.monotonic_ms() + std::max(request.max_wait_ms, 0)),
        may_wait_(request.max_wait_ms > 0),
        by_id_(context_.api_version >= kFirstByIdVersion) {}

  void run() {
    if (collect(log::ReadFrom::memory_only)) {
      return go_on();
    }
    services_.runtime.pool.post([self = shared_from_this()] {
      self->collect(log::ReadFrom::may_block);
      self->context_.loop.post([self] { self->go_on(); });
    });
  }

 private:
  struct Outcome {
    PartitionData data;
    std::shared_ptr<log::Partition> partition;  // null after an error
  };

  // Reads all targets in order. False: something is not in memory, so nothing was decided.
  bool collect(log::ReadFrom mode) {
    const auto image = services_.controller.image();
    outcomes_.clear();
    bytes_ = 0;
    batch_count_ = 0;
    failed_ = false;
    for (const auto& target : opened_.targets) {
      auto outcome = read_one(*image, target, mode);
      if (!outcome) {
        return false;
      }
      bytes_ += outcome->data.records ? outcome->data.records->size() : 0;
      failed_ = failed_ || outcome->data.error_code != 0 || outcome->data.diverging_epoch.epoch >= 0;
      outcomes_.push_back(std::move(*outcome));
    }
    return true;
  }

  std::optional<Outcome> read_one(const metadata::MetadataImage& image, const FetchTarget& target, log::ReadFrom mode) {
    const auto index = target.key.partition;
    auto found = find_partition(image, services_.log, target.key.topic, target.key.topic_id, index);
    if (by_id_ && target.key.topic_id.is_zero()) {
      found.error = ErrorCode::unknown_topic_id;
    }
    if (found.error != ErrorCode::none) {
      return Outcome{failed(index, found.error), nullptr};
    }
    if (const auto code = check_leader_epoch(*found.partition, target.current_leader_epoch); code != ErrorCode::none) {
      return Outcome{failed_read(index, code), nullptr};
    }
    auto& partition = found.partition;
    PartitionData data{.partition_index = index,
                       .high_watermark = partition->high_watermark().value,
                       .last_stable_offset = partition->last_stable_offset().value,
                       .log_start_offset = partition->log_start().value};
    data.records.emplace();
    if (!read_committed_) {
      data.aborted_transactions.reset();
    }
    if (const auto code = check_divergence(*partition, target, data); code != ErrorCode::none) {
      return Outcome{failed_read(index, code), nullptr};
    }
    if (data.diverging_epoch.epoch >= 0) {
      data.aborted_transactions.reset();  // nothing was read
      return Outcome{std::move(data), std::move(partition)};
    }
    const Offset bound{read_committed_ ? data.last_stable_offset : data.high_watermark};
    const auto room =
        static_cast<std::size_t>(std::max<std::int64_t>(0, bytes_max_ - static_cast<std::int64_t>(bytes_)));
    const log::ReadLimits limits{
        .bytes_max = std::min(room, static_cast<std::size_t>(std::max(target.bytes_max, 0))),
        .first_batch_whole = bytes_ == 0,  // the first partition that has data makes progress whatever the limits say
        .bound = bound};
    auto read = services_.log.read(*partition, Offset{target.fetch_offset}, limits, mode);
    if (!read) {
      return Outcome{failed_read(index, read_error(read.error().code)), nullptr};
    }
    if (read->needs_disk) {
      return std::nullopt;
    }
    batch_count_ += read->batch_count;
    data.records = std::move(read->batches);
    if (data.records->empty() && limits.bytes_max > 0 && target.fetch_offset < bound.value) {
      data.aborted_transactions.reset();  // a first batch that does not fit: Kafka then leaves the list out
    }
    return Outcome{std::move(data), std::move(partition)};
  }

  // A consumer that read an epoch which here ended earlier learns where the two part (KIP-595). 1 for an epoch above
  // ours.
  ErrorCode check_divergence(const log::Partition& partition, const FetchTarget& target, PartitionData& data) const {
    if (target.last_fetched_epoch < 0) {
      return ErrorCode::none;
    }
    const auto end = services_.log.epoch_end(partition, LeaderEpoch{target.last_fetched_epoch});
    if (end.epoch.value < 0 || end.end_offset.value < 0) {
      return ErrorCode::offset_out_of_range;
    }
    if (end.epoch.value < target.last_fetched_epoch || end.end_offset.value < target.fetch_offset) {
      data.diverging_epoch = {.epoch = end.epoch.value, .end_offset = end.end_offset.value};
    }
    return ErrorCode::none;
  }

  [[nodiscard]] bool enough() const {
    return failed_ || outcomes_.empty() || static_cast<std::int64_t>(bytes_) >= bytes_min_;
  }
  [[nodiscard]] bool late() const { return !may_wait_ || services_.runtime.clock.monotonic_ms() >= deadline_ms_; }

  void go_on() {
    if (enough() || late()) {
      return answer();
    }
    wait();
    // What advanced between the read and the registration woke nobody: look again, now that we are registered.
    if (anything_new()) {
      stop_waiting();
      run();
    }
  }

  [[nodiscard]] bool anything_new() const {
    return std::ranges::any_of(outcomes_, [](const Outcome& outcome) {
      return outcome.partition &&
             (outcome.partition->high_watermark().value != outcome.data.high_watermark || outcome.partition->deleted());
    });
  }

  void wait() {
    std::vector<std::shared_ptr<log::Partition>> partitions;
    for (const auto& outcome : outcomes_) {
      if (outcome.partition) {
        partitions.push_back(outcome.partition);
      }
    }
    for (auto& outcome : outcomes_) {
      outcome.data.records.reset();  // read anew then; until then it holds no blocks of the log
    }
    context_.frame = {};  // the targets are our own: a request that waits costs nobody the budget
    reply_.return_memory();
    waiter_ = services_.waiters.of(context_.loop).wait(std::move(partitions), [self = shared_from_this()] {
      self->waiter_ = 0;
      self->stop_waiting();
      if (self->reply_.wanted()) {
        self->run();
      }
    });
    arm_timer();
  }

  // At the deadline, or earlier to see whether the client is still there: it chose the deadline, and may have left.
  void arm_timer() {
    const auto next_check = services_.runtime.clock.monotonic_ms() + kWantedCheckMs;
    timer_ = context_.loop.timers().schedule(std::min(deadline_ms_, next_check), [self = shared_from_this()] {
      self->timer_ = 0;
      const bool wanted = self->reply_.wanted();
      if (wanted && !self->late()) {
        return self->arm_timer();
      }
      self->stop_waiting();
      if (wanted) {
        self->run();
      }
    });
  }

  void stop_waiting() {
    if (waiter_ != 0) {
      services_.waiters.of(context_.loop).cancel(std::exchange(waiter_, 0));
    }
    if (timer_ != 0) {
      context_.loop.timers().cancel(std::exchange(timer_, 0));
    }
  }

  void answer() {
    FetchResponse response{.session_id = opened_.session_id};
    const auto send = which_to_send();
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      if (opened_.incremental && !send[i]) {
        continue;
      }
      const auto& key = opened_.targets[i].key;
      auto& topics = response.responses;
      if (topics.empty() || topics.back().topic != key.topic || topics.back().topic_id != key.topic_id) {
        topics.push_back({.topic = key.topic, .topic_id = key.topic_id});
      }
      topics.back().partitions.push_back(std::move(outcomes_[i].data));
    }
    services_.metrics.fetch_bytes.add(bytes_);
    services_.metrics.fetch_batches.add(batch_count_);
    reply_(response);
  }

  [[nodiscard]] std::vector<bool> which_to_send() const {
    std::vector<FetchedFacts> facts;
    facts.reserve(outcomes_.size());
    for (const auto& outcome : outcomes_) {
      facts.push_back({.error = static_cast<ErrorCode>(outcome.data.error_code),
                       .high_watermark = outcome.data.high_watermark,
                       .log_start = outcome.data.log_start_offset,
                       .has_records = outcome.data.records && !outcome.data.records->empty(),
                       .diverging = outcome.data.diverging_epoch.epoch >= 0});
    }
    return services_.fetch_sessions.must_send(opened_.session_id, opened_.targets, facts);
  }

  RequestContext context_;
  Services& services_;
  FetchSessions::Opened opened_;
  Reply<FetchResponse> reply_;
  const bool read_committed_;
  const std::int64_t bytes_max_;
  const std::int64_t bytes_min_;
  const Millis deadline_ms_;
  const bool may_wait_;
  const bool by_id_;
  std::vector<Outcome> outcomes_;
  std::size_t bytes_ = 0;
  std::size_t batch_count_ = 0;
  bool failed_ = false;
  FetchWaiters::Id waiter_ = 0;
  TimerQueue::TimerId timer_ = 0;
};

}  // namespace

void handle(RequestContext context, FetchRequest request, Reply<FetchResponse> reply) {
  const bool by_id = context.api_version >= kFirstByIdVersion;
  auto opened =
      context.services.fetch_sessions.open(request.session_id, request.session_epoch, by_id, asked_targets(request),
                                           forgotten_keys(request), context.services.runtime.clock.monotonic_ms());
  if (opened.error != ErrorCode::none) {
    FetchResponse refused;
    refused.error_code = wire(opened.error);
    return reply(refused);
  }
  std::make_shared<Fetching>(std::move(context), request, std::move(opened), std::move(reply))->run();
}

}  // namespace weir::broker
