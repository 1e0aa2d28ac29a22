// A producer of broker_lives_sim_test, with a connection of its own. An idempotent one sends again, through stops and
// deaths, what was not answered, in order, before anything new; each other one sends a batch once. Tells `Known` what
// it sent and heard. Lives in the world.
#pragma once

#include <algorithm>

#include "protocol/gen/init_producer_id.hpp"
#include "protocol/gen/produce.hpp"
#include "protocol/record.hpp"
#include "sim/test_lives_client.hpp"
#include "sim/test_lives_topics.hpp"

namespace weir::sim {

inline constexpr std::int16_t kUnknownTopic = 3;
inline constexpr std::int16_t kNotLeader = 6;
inline constexpr std::int16_t kTimedOut = 7;
inline constexpr std::int16_t kStorageFailed = 56;
inline constexpr std::int16_t kUnknownTopicId = 100;
inline constexpr std::int16_t kProduceById = 13;

class LivesProducer {
 public:
  LivesProducer(World& world, Known& known, Random& random, int number, bool is_idempotent)
      : world_(world),
        known_(known),
        random_(random),
        number_(number),
        is_idempotent_(is_idempotent),
        client_(world, "producer " + std::to_string(number)) {}

  [[nodiscard]] LivesClient& client() { return client_; }
  // A batch with stamp, size and acks as the seed draws them; nothing while it has no connection or no id.
  void produce(std::size_t topic, std::int32_t part, std::size_t size_max) {
    if (!client_.ready()) {
      client_.connect();
      return;
    }
    if (is_idempotent_ && producer_id_ < 0) {
      ask_for_id();
      return;
    }
    send_again();
    auto& state = sequences_[{topic, part}];
    if (is_idempotent_ && state.unanswered.size() >= kWindow) {
      return;
    }
    const auto batch = make_batch(topic, part, size_max);
    if (is_idempotent_) {
      batch->base_sequence = state.next;
      state.next += static_cast<std::int32_t>(batch->values.size());
      state.unanswered.push_back(batch);
    }
    send(batch);
  }
  // In order, what the last connection left without an answer.
  void send_again() {
    if (!client_.ready() || !is_idempotent_ || producer_id_ < 0) {
      return;
    }
    for (auto& [key, state] : sequences_) {
      for (const auto& batch : state.unanswered) {
        if (batch->session == 0) {
          send(batch);
        }
      }
    }
  }
  // It begins anew, as one whose state the broker may have forgotten. What was not answered is not sent again.
  void forget() {
    producer_id_ = -1;
    ++identity_;
    sequences_.clear();
  }

 private:
  static constexpr std::size_t kWindow = 3;
  using Batch = std::shared_ptr<BrokerBatch>;
  struct Sequence {
    std::int32_t next = 0;
    std::deque<Batch> unanswered;
  };

  void ask_for_id() {
    if (asks_for_id_) {
      return;
    }
    asks_for_id_ = true;
    protocol::InitProducerIdRequest request;
    request.transactional_id = std::nullopt;
    client_.ask<protocol::InitProducerIdRequest, protocol::InitProducerIdResponse>(
        "for a producer id", request, 4, [this](const protocol::InitProducerIdResponse* answer) {
          asks_for_id_ = false;
          if (answer != nullptr && answer->error_code == 0) {
            producer_id_ = answer->producer_id;
            producer_epoch_ = answer->producer_epoch;
            if (!ids_.insert({producer_id_, producer_epoch_}).second) {
              known_.broken("producer id " + std::to_string(producer_id_) + " was given twice");
            }
          }
        });
  }

  Batch make_batch(std::size_t topic, std::int32_t part, std::size_t size_max) {
    constexpr std::int64_t kOverhead = 100;
    const auto wall = world_.queue().clock().wall_ms();
    auto& of = known_.part(topic, part);
    auto batch = std::make_shared<BrokerBatch>();
    batch->topic = topic;
    batch->part = part;
    batch->stamp = log::draw_stamp(of.stamps, wall, random_);
    constexpr std::array<std::int16_t, 5> kAcks{-1, -1, -1, 1, 0};
    batch->acks = is_idempotent_ ? std::int16_t{-1} : kAcks[random_.below(kAcks.size())];
    const auto writer = known_.part_name(topic, part) + "/" + std::to_string(number_) + "." +
                        std::to_string(is_idempotent_ ? identity_ : client_.session());
    for (auto count = 1 + random_.below(3); count > 0; --count) {
      auto value = writer + ":" + std::to_string(of.next_value++) + ":";
      value.resize(value.size() + random_.below(size_max), static_cast<char>('a' + random_.below(26)));
      of.facts[value] = {batch->stamp, wall, std::ssize(value) + kOverhead};
      batch->values.push_back(std::move(value));
    }
    return batch;
  }

  void send(const Batch& batch) {
    auto& topic = known_.topics[batch->topic];
    batch->session = client_.session();
    ++batch->times_sent;
    batch->is_safe = topic.is_safe();
    batch->rules_changes = topic.rules_changes;
    batch->refused_deletions = topic.refused_deletions;
    protocol::RecordBatchBuilder builder{
        {.producer_id = producer_id_, .producer_epoch = producer_epoch_, .base_sequence = batch->base_sequence}};
    for (const auto& value : batch->values) {
      builder.append({.value = as_bytes(value), .timestamp = batch->stamp});
    }
    protocol::ProduceRequest request;
    request.acks = batch->acks;
    request.timeout_ms = 30'000;
    auto& asked = request.topic_data.emplace_back();
    asked.topic_id = topic.id;
    asked.partition_data.push_back(
        {.index = batch->part, .records = BufferChain{SharedBytes::adopt(std::move(*builder.build()))}});
    if (batch->acks == 0) {
      client_.tell(request);
      return;
    }
    client_.ask<protocol::ProduceRequest, protocol::ProduceResponse>(
        "produce " + batch->values.front().substr(0, 20), request, kProduceById,
        [this, batch](const protocol::ProduceResponse* answer) {
          batch->session = 0;
          if (answer != nullptr) {
            const auto& part = answer->responses.at(0).partition_responses.at(0);
            part.error_code == 0 ? taken(batch, part.base_offset) : refused(batch, part.error_code);
          }
        });
  }

  void taken(const Batch& batch, std::int64_t base_offset) {
    auto& topic = known_.topics[batch->topic];
    auto& of = known_.part(batch->topic, batch->part);
    const bool is_promised = batch->acks == -1 && batch->is_safe && batch->rules_changes == topic.rules_changes;
    for (std::size_t i = 0; i < batch->values.size(); ++i) {
      const auto offset = base_offset + static_cast<std::int64_t>(i);
      known_.learn(batch->topic, batch->part, offset, batch->values[i]);
      of.answered[offset] = batch->values[i];
      if (is_promised) {
        of.promised[offset] = batch->values[i];
      }
    }
    ++known_.counts["batches answered"];
    if (topic.fate == Fate::leaving && batch->refused_deletions > 0 &&
        batch->refused_deletions == topic.refused_deletions) {
      topic.fate = Fate::there;  // whoever takes records behind it has not deleted the topic
    }
    std::erase(sequences_[{batch->topic, batch->part}].unanswered, batch);
  }

  void refused(const Batch& batch, std::int16_t code) {
    ++known_.counts["batches refused"];
    const auto& topic = known_.topics[batch->topic];
    const bool is_absent = code == kUnknownTopic || code == kUnknownTopicId;
    if (is_absent && topic.fate == Fate::there) {
      known_.broken("topic " + topic.name + " is there, and a producer hears that it is not");
    }
    const bool may_turn_up = code == kStorageFailed || code == kTimedOut;
    if (!may_turn_up && batch->times_sent == 1) {
      known_.part(batch->topic, batch->part).refused.insert(batch->values.begin(), batch->values.end());
    }
    if (!is_idempotent_) {
      return;
    }
    const auto of = sequences_.find({batch->topic, batch->part});
    if (of == sequences_.end() || std::ranges::find(of->second.unanswered, batch) == of->second.unanswered.end()) {
      return;  // of an older identity
    }
    if (is_absent) {
      sequences_.erase(of);
    } else if (may_turn_up || code == kNotLeader) {
      client_.close();  // and again, in order, on the next one
    } else {
      forget();
    }
  }

  World& world_;
  Known& known_;
  Random& random_;
  int number_;
  bool is_idempotent_;
  bool asks_for_id_ = false;
  std::int64_t producer_id_ = -1;
  std::int16_t producer_epoch_ = -1;
  std::uint64_t identity_ = 1;
  std::map<std::pair<std::size_t, std::int32_t>, Sequence> sequences_;
  std::set<std::pair<std::int64_t, std::int16_t>> ids_;
  LivesClient client_;  // goes first: its end closes the connection, and nobody may hear of it
};

}  // namespace weir::sim
