#include "tools/client/producer.hpp"

#include "protocol/errors.hpp"
#include "protocol/gen/init_producer_id.hpp"
#include "protocol/gen/metadata.hpp"
#include "tools/client/partitioner.hpp"

namespace weir::client {
namespace {
using protocol::ErrorCode;
constexpr Millis kRetryMs = 100;
constexpr Millis kBrokerTimeoutMs = 30'000;

std::optional<Bytes> bytes_of(const std::optional<std::string_view>& text) {
  return text ? std::optional{as_bytes(*text)} : std::nullopt;
}

bool worth_another_try(std::int16_t code) {
  const auto known = protocol::error_code_from(code);
  return known && protocol::is_retriable(*known);
}
}  // namespace

std::shared_ptr<Producer> Producer::make(std::shared_ptr<Cluster> cluster, TopicInfo topic, ProducerOptions options) {
  return std::shared_ptr<Producer>{new Producer(std::move(cluster), std::move(topic), std::move(options))};
}

Producer::Producer(std::shared_ptr<Cluster> cluster, TopicInfo topic, ProducerOptions options)
    : cluster_(std::move(cluster)),
      topic_(std::move(topic)),
      options_(std::move(options)),
      partitions_(topic_.partitions.size()) {
  WEIR_CHECK(!partitions_.empty());
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    partitions_[i].leader = topic_.partitions[i].leader;
  }
  for (const auto& [key, value] : options_.headers) {
    headers_.push_back({key, as_bytes(value)});
  }
}

void Producer::start(OnRoom ready) {
  last_progress_ms_ = cluster_->clock().monotonic_ms();
  options_.acks == -1 ? ask_for_id(std::move(ready)) : ready({});
}

void Producer::ask_for_id(OnRoom ready) {
  const auto request = std::make_shared<protocol::InitProducerIdRequest>();
  request->transactional_id.reset();
  cluster_->call<protocol::InitProducerIdRequest, protocol::InitProducerIdResponse>(
      Cluster::kAnyNode, request,
      [self = shared_from_this(),
       ready = std::move(ready)](const Result<Answered<protocol::InitProducerIdResponse>>& answer) mutable {
        const auto code = answer ? answer->response.error_code : std::int16_t{0};
        if (answer && code == 0) {
          self->producer_id_ = answer->response.producer_id;
          self->producer_epoch_ = answer->response.producer_epoch;
          return ready({});
        }
        const auto waited = self->cluster_->clock().monotonic_ms() - self->last_progress_ms_;
        const bool again = answer ? worth_another_try(code) : answer.error().code == Errc::closed;
        if (again && waited < self->options_.give_up_ms) {
          self->cluster_->after(kRetryMs,
                                [self, ready = std::move(ready)]() mutable { self->ask_for_id(std::move(ready)); });
          return;
        }
        self->fail({.code = code, .error = answer ? Error{Errc::closed} : answer.error()});
        ready(self->failure_->error);
      },
      5);  // the newest that is stable in every broker of the last years
}

std::size_t Producer::partition_for(const OutRecord& record) {
  if (options_.partition) {
    return static_cast<std::size_t>(*options_.partition);
  }
  const auto count = static_cast<std::int32_t>(partitions_.size());
  return record.key ? static_cast<std::size_t>(partition_of_key(as_bytes(*record.key), count)) : turn_;
}

void Producer::append(std::span<const OutRecord> records, OnRoom room) {
  if (failure_) {
    return room(failure_->error);
  }
  if (idle()) {  // however long nothing came
    last_progress_ms_ = cluster_->clock().monotonic_ms();
  }
  const auto now = cluster_->clock().wall_ms();
  for (const auto& record : records) {
    const auto at = partition_for(record);
    auto& partition = partitions_[at];
    const auto size = (record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0);
    if (partition.open && partition.open->size() + size > options_.batch_bytes) {
      seal(partition);
      if (at == turn_) {
        turn_ = (turn_ + 1) % partitions_.size();
      }
    }
    if (!partition.open) {
      partition.open = std::make_unique<protocol::RecordBatchBuilder>(protocol::BatchOptions{
          .codec = options_.codec,
          .producer_id = producer_id_,
          .producer_epoch = producer_epoch_,
          .base_sequence = options_.acks == -1 ? partition.next_sequence : protocol::kNoSequence});
    }
    partition.open->append(
        {.key = bytes_of(record.key), .value = bytes_of(record.value), .timestamp = now, .headers = headers_});
  }
  on_room_ = std::move(room);
  pump();
  wake_waiters();
}

void Producer::seal(Partition& partition) {
  const auto records = partition.open->count();
  auto built = partition.open->build();
  partition.open.reset();
  if (!built) {
    return fail({.error = built.error()});
  }
  partition.next_sequence = protocol::sequence_plus(partition.next_sequence, records);
  unsent_bytes_ += built->size();
  partition.sealed.push_back({SharedBytes::adopt(std::move(*built)), records});
}

void Producer::pump() {
  if (waiting_to_retry_) {
    return;
  }
  std::map<std::int32_t, bool> leaders;
  for (const auto& partition : partitions_) {
    if (partition.open || !partition.sealed.empty()) {
      leaders[partition.leader] = true;
    }
  }
  for (const auto& [leader, wanted] : leaders) {
    if (!failure_ && !waiting_to_retry_ && !under_way_.contains(leader)) {
      send_to(leader);
    }
  }
}

void Producer::send_to(std::int32_t leader) {
  const auto request = std::make_shared<protocol::ProduceRequest>();
  request->acks = options_.acks;
  request->timeout_ms = kBrokerTimeoutMs;
  auto& data = request->topic_data.emplace_back();
  data.name = protocol::Text{topic_.name};
  data.topic_id = topic_.id;
  std::size_t bytes = 0;
  std::vector<std::size_t> sent;
  for (std::size_t i = 0; i < partitions_.size() && bytes < options_.request_bytes_max; ++i) {
    auto& partition = partitions_[i];
    if (partition.leader != leader) {
      continue;
    }
    if (partition.sealed.empty() && partition.open) {
      seal(partition);
      if (failure_) {
        return;
      }
      if (i == turn_) {
        turn_ = (turn_ + 1) % partitions_.size();
      }
    }
    if (partition.sealed.empty()) {
      continue;
    }
    const auto& batch = partition.sealed.front().bytes;
    bytes += batch.size();
    data.partition_data.push_back({.index = static_cast<std::int32_t>(i), .records = BufferChain{batch}});
    sent.push_back(i);
  }
  under_way_[leader] = std::move(sent);
  if (options_.acks != 0) {
    cluster_->call<protocol::ProduceRequest, protocol::ProduceResponse>(
        leader, request,
        [self = shared_from_this(), leader](const Result<Answered<protocol::ProduceResponse>>& answer) {
          self->answered(leader, answer);
        });
    return;
  }
  cluster_->connect(
      leader, [self = shared_from_this(), leader, request](const Result<std::shared_ptr<Connection>>& connection) {
        if (!connection) {
          return self->answered(leader, connection.error());
        }
        (*connection)->tell(*request);
        const auto told = std::exchange(self->under_way_[leader], {});
        self->under_way_.erase(leader);
        for (const auto i : told) {
          self->accept(self->partitions_[i]);
        }
        self->cluster_->loop().post([self] {  // not from here: a long input would nest without end
          self->pump();
          self->wake_waiters();
        });
      });
}

void Producer::answered(std::int32_t leader, const Result<Answered<protocol::ProduceResponse>>& answer) {
  under_way_.erase(leader);
  if (failure_) {
    return;
  }
  const bool final_error =
      !answer && (answer.error().code == Errc::unsupported || answer.error().code == Errc::not_found);
  if (final_error) {
    return fail({.error = answer.error()});
  }
  if (answer ? take_answer(answer->response) : false) {
    pump();
    return wake_waiters();
  }
  if (failure_) {
    return;
  }
  if (cluster_->clock().monotonic_ms() - last_progress_ms_ > give_up_ms()) {
    return fail(answer && last_refusal_ ? *last_refusal_
                                        : ProducerFailure{.error = answer ? Error{Errc::timed_out} : answer.error()});
  }
  try_again();
}

Millis Producer::give_up_ms() const {
  const bool cannot_write = last_refusal_ && last_refusal_->code == wire(ErrorCode::kafka_storage_error);
  return cannot_write ? std::min(options_.storage_give_up_ms, options_.give_up_ms) : options_.give_up_ms;
}

ProducerFailure Producer::refusal(const protocol::ProduceResponse::PartitionProduceResponse& part) {
  return {
      .code = part.error_code, .partition = part.index, .text = part.error_message ? part.error_message->str() : ""};
}

// False: at least one partition wants another try, or the producer has failed.
bool Producer::take_answer(const protocol::ProduceResponse& response) {
  bool all = true;
  for (const auto& topic : response.responses) {
    for (const auto& part : topic.partition_responses) {
      const auto at = static_cast<std::size_t>(part.index);
      if (at >= partitions_.size() || partitions_[at].sealed.empty()) {
        continue;
      }
      if (part.error_code == 0 || part.error_code == wire(ErrorCode::duplicate_sequence_number)) {
        accept(partitions_[at]);
      } else if (worth_another_try(part.error_code)) {
        all = false;
        last_refusal_ = refusal(part);
        refused_with_.store(part.error_code, std::memory_order_relaxed);
      } else {
        fail(refusal(part));
        return false;
      }
    }
  }
  return all;
}

void Producer::accept(Partition& partition) {
  const auto& batch = partition.sealed.front();
  unsent_bytes_ -= batch.bytes.size();
  acknowledged_.fetch_add(batch.records, std::memory_order_relaxed);
  last_refusal_.reset();
  refused_with_.store(0, std::memory_order_relaxed);
  partition.sealed.pop_front();
  last_progress_ms_ = cluster_->clock().monotonic_ms();
}

// After a pause, with leaders asked for anew: what was under way goes first again.
void Producer::try_again() {
  if (std::exchange(waiting_to_retry_, true)) {
    return;
  }
  cluster_->after(kRetryMs, [self = shared_from_this()] {
    self->cluster_->topics(std::vector<std::string>{self->topic_.name}, false,
                           [self](const Result<std::vector<TopicInfo>>& found) {
                             self->waiting_to_retry_ = false;
                             if (found && !found->empty() && found->front().error == 0) {
                               for (const auto& part : found->front().partitions) {
                                 const auto at = static_cast<std::size_t>(part.index);
                                 if (at < self->partitions_.size() && part.leader >= 0) {
                                   self->partitions_[at].leader = part.leader;
                                 }
                               }
                             }
                             self->pump();
                           });
  });
}

bool Producer::idle() const {
  return std::ranges::all_of(partitions_, [](const Partition& one) { return !one.open && one.sealed.empty(); });
}

void Producer::wake_waiters() {
  if (failure_ || unsent_bytes_ < options_.unsent_bytes_max) {
    if (auto room = std::exchange(on_room_, nullptr)) {
      failure_ ? room(failure_->error) : room({});
    }
  }
  if (!failure_ && !idle()) {
    return;
  }
  if (auto done = std::exchange(on_idle_, nullptr)) {
    if (failure_) {
      return done(failure_->error);
    }
    confirm_unanswered(std::move(done));
  }
}

// acks=0 has no answers; an answer to something behind it, on the same connection, says that the broker has read it.
void Producer::confirm_unanswered(OnRoom done) {
  if (options_.acks != 0) {
    return done({});
  }
  const auto request = std::make_shared<protocol::MetadataRequest>();
  cluster_->call<protocol::MetadataRequest, protocol::MetadataResponse>(
      partitions_.front().leader, request,
      [done = std::move(done)](const Result<Answered<protocol::MetadataResponse>>& answer) mutable {
        answer ? done({}) : done(answer.error());
      });
}

void Producer::flush(OnRoom done) {
  on_idle_ = std::move(done);
  pump();
  wake_waiters();
}

void Producer::fail(ProducerFailure failure) {
  if (!failure_) {
    failure_ = std::move(failure);
  }
  wake_waiters();
}

}  // namespace weir::client
