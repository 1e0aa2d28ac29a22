// Producer: records to batches to one topic's leaders, in order for each partition. One request is under way to a
// leader at a time: a record goes out at once when nothing is, and while one is, records gather into larger batches.
// Unanswered batches are sent again after a failure, with their sequence numbers when idempotent, so that nothing is
// stored twice. The first failure that another try cannot heal ends the producer. Belongs to the cluster's loop.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol/gen/produce.hpp"
#include "protocol/record.hpp"
#include "tools/client/cluster.hpp"

namespace weir::client {

struct OutRecord {
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
};

struct ProducerOptions {
  std::int16_t acks = -1;  // -1 makes it idempotent
  Codec codec = Codec::none;
  std::optional<std::int32_t> partition;  // all records there; else by key, and without a key batch by batch in turn
  std::vector<std::pair<std::string, std::string>> headers;  // on every record
  std::size_t batch_bytes = 512 * 1024;
  std::size_t request_bytes_max = 16 * 1024 * 1024;
  std::size_t unsent_bytes_max = 32 * 1024 * 1024;  // more than that: append() lets its caller wait
  Millis give_up_ms = 30'000;                       // without any answer that helps
  Millis storage_give_up_ms = 5'000;                // with KAFKA_STORAGE_ERROR alone: a log that is read-only stays so
};

struct ProducerFailure {
  std::int16_t code = 0;  // what the broker said; 0: `error` says what was wrong with reaching it
  Error error{Errc::closed};
  std::int32_t partition = -1;
  std::string text;  // the broker's words, if it had any
};

class Producer : public std::enable_shared_from_this<Producer> {
 public:
  using OnRoom = UniqueFunction<void(Result<void>)>;
  static std::shared_ptr<Producer> make(std::shared_ptr<Cluster> cluster, TopicInfo topic, ProducerOptions options);

  void start(OnRoom ready);  // asks for a producer id when idempotent
  // Copies the records, then runs `room` when more may come; one caller at a time. An error: see failure().
  void append(std::span<const OutRecord> records, OnRoom room);
  void flush(OnRoom done);  // when everything is acknowledged

  [[nodiscard]] const std::optional<ProducerFailure>& failure() const { return failure_; }
  [[nodiscard]] std::int64_t acknowledged() const {
    return acknowledged_.load(std::memory_order_relaxed);
  }  // any thread
  // What the broker says to each try at the moment, 0 if nothing; any thread.
  [[nodiscard]] std::int16_t refused_with() const { return refused_with_.load(std::memory_order_relaxed); }

 private:
  struct Batch {
    SharedBytes bytes;
    std::int32_t records = 0;
  };
  struct Partition {
    std::int32_t leader = -1;
    std::deque<Batch> sealed;  // the front one may be under way
    std::unique_ptr<protocol::RecordBatchBuilder> open;
    std::int32_t next_sequence = 0;
  };
  Producer(std::shared_ptr<Cluster> cluster, TopicInfo topic, ProducerOptions options);
  void ask_for_id(OnRoom ready);
  std::size_t partition_for(const OutRecord& record);
  void seal(Partition& partition);
  void pump();
  void send_to(std::int32_t leader);
  void answered(std::int32_t leader, const Result<Answered<protocol::ProduceResponse>>& answer);
  bool take_answer(const protocol::ProduceResponse& response);
  void accept(Partition& partition);
  void try_again();
  void confirm_unanswered(OnRoom done);
  void fail(ProducerFailure failure);
  [[nodiscard]] Millis give_up_ms() const;
  static ProducerFailure refusal(const protocol::ProduceResponse::PartitionProduceResponse& part);
  void wake_waiters();
  [[nodiscard]] bool idle() const;

  std::shared_ptr<Cluster> cluster_;
  TopicInfo topic_;
  std::optional<ProducerFailure> last_refusal_;  // that was worth another try
  ProducerOptions options_;
  std::vector<protocol::HeaderView> headers_;
  std::vector<Partition> partitions_;
  std::map<std::int32_t, std::vector<std::size_t>> under_way_;  // leader -> partitions whose front batch was sent
  std::optional<ProducerFailure> failure_;
  OnRoom on_room_;
  OnRoom on_idle_;
  std::atomic<std::int64_t> acknowledged_{0};
  std::atomic<std::int16_t> refused_with_{0};
  std::size_t unsent_bytes_ = 0;
  std::size_t turn_ = 0;  // partition of records without a key
  std::int64_t producer_id_ = protocol::kNoProducerId;
  std::int16_t producer_epoch_ = protocol::kNoProducerEpoch;
  Millis last_progress_ms_ = 0;
  bool waiting_to_retry_ = false;
};

}  // namespace weir::client
