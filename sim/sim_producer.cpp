#include "sim/sim_producer.hpp"

#include "protocol/gen/init_producer_id.hpp"
#include "protocol/gen/produce.hpp"
#include "protocol/record.hpp"

namespace weir::sim {
namespace {
using protocol::ProduceRequest;
using protocol::ProduceResponse;
constexpr std::int16_t kByName = 12;  // the newest Produce version that names topics
}  // namespace

SimProducer::SimProducer(World& world, Oracle& oracle, SimTopic topic, Options options)
    : world_(world),
      oracle_(oracle),
      topic_(std::move(topic)),
      options_(options),
      partitions_(static_cast<std::size_t>(topic_.partitions)) {}

SimProducer::~SimProducer() {
  *alive_ = false;
}

bool SimProducer::connect() {
  auto connection = world_.connect();
  if (!connection) {
    return false;
  }
  connection_ = std::move(*connection);
  ++session_;
  for (auto& partition : partitions_) {
    for (auto& batch : partition.unanswered) {
      batch.in_flight = false;
    }
  }
  if (options_.idempotent && producer_id_ < 0) {
    protocol::InitProducerIdRequest request;
    request.transactional_id = std::nullopt;  // its default is the empty name, which is refused
    const auto answer =
        world_.call<protocol::InitProducerIdRequest, protocol::InitProducerIdResponse>(*connection_, request);
    if (!answer || answer->response.error_code != 0) {  // the disk has died: the crash is near
      connection_->close();
      return false;
    }
    producer_id_ = answer->response.producer_id;
    producer_epoch_ = answer->response.producer_epoch;
  }
  send_what_may_go();
  return true;
}

std::size_t SimProducer::unanswered() const {
  std::size_t count = 0;
  for (const auto& partition : partitions_) {
    count += partition.unanswered.size();
  }
  return count;
}

void SimProducer::produce_one() {
  const auto partition = static_cast<std::int32_t>(world_.random().below(partitions_.size()));
  auto& state = partitions_[static_cast<std::size_t>(partition)];
  Batch batch{.values = {}, .base_sequence = state.next_sequence};
  const auto count = 1 + world_.random().below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto number = next_number_++;
    batch.values.push_back("producer " + std::to_string(options_.number) + " record " + std::to_string(number) +
                           std::string(world_.random().below(300), '.'));
    oracle_.sent(partition, options_.number, number, batch.values.back());
  }
  state.next_sequence = protocol::sequence_plus(state.next_sequence, static_cast<std::int32_t>(count));
  state.unanswered.push_back(std::move(batch));
  send_what_may_go();
}

void SimProducer::send_what_may_go() {
  if (broken()) {
    return;
  }
  for (std::int32_t p = 0; p < topic_.partitions; ++p) {
    auto& state = partitions_[static_cast<std::size_t>(p)];
    for (std::size_t i = 0; i < std::min(options_.window, state.unanswered.size()); ++i) {
      if (!state.unanswered[i].in_flight) {
        send(p, state.unanswered[i]);
      }
    }
  }
}

void SimProducer::send(std::int32_t partition, Batch& batch) {
  batch.in_flight = true;
  protocol::RecordBatchBuilder builder{
      {.producer_id = producer_id_,
       .producer_epoch = producer_epoch_,
       .base_sequence = options_.idempotent ? batch.base_sequence : protocol::kNoSequence}};
  const auto now_ms = world_.queue().clock().wall_ms();
  for (const auto& value : batch.values) {
    builder.append({.value = as_bytes(value), .timestamp = now_ms});
  }
  ProduceRequest request;
  request.acks = options_.acks;
  request.timeout_ms = 30'000;
  auto& topic = request.topic_data.emplace_back();
  topic.name = topic_.name;
  topic.partition_data.push_back(
      {.index = partition, .records = BufferChain{SharedBytes::adopt(std::move(*builder.build()))}});
  connection_->call_version<ProduceRequest, ProduceResponse>(
      request, kByName,
      [this, alive = alive_, session = session_, partition](const Result<client::Answered<ProduceResponse>>& answer) {
        if (!*alive || session != session_ || !answer) {
          return;
        }
        const auto& part = answer->response.responses.front().partition_responses.front();
        answered(partition, part.error_code, part.base_offset);
      });
}

void SimProducer::answered(std::int32_t partition, std::int16_t error, std::int64_t base_offset) {
  auto& state = partitions_[static_cast<std::size_t>(partition)];
  WEIR_CHECK(!state.unanswered.empty());
  if (error != 0) {
    // Whatever it is: connect anew and send again, as a client does with a retriable error.
    connection_->close();
    return;
  }
  const auto batch = std::move(state.unanswered.front());
  state.unanswered.pop_front();
  for (std::size_t i = 0; i < batch.values.size(); ++i) {
    oracle_.acknowledged(partition, batch.values[i], base_offset + static_cast<std::int64_t>(i));
  }
  send_what_may_go();
}

}  // namespace weir::sim
