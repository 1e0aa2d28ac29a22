// SimProducer: a producer as clients are: batches per partition in order, several requests in flight, and after a
// broken connection the unanswered batches again, in order, before anything new. Idempotent ones keep their sequence
// numbers. Tells the oracle what it sent and what was acknowledged. Lives in the world.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "sim/oracle.hpp"
#include "sim/world.hpp"

namespace weir::sim {

struct SimTopic {
  std::string name;
  std::int32_t partitions = 1;
};

class SimProducer {
 public:
  struct Options {
    std::int32_t number = 0;  // tells producers apart; part of each value
    std::int16_t acks = -1;
    bool idempotent = false;
    std::size_t window = 3;
  };
  SimProducer(World& world, Oracle& oracle, SimTopic topic, Options options);
  ~SimProducer();

  // Connects (and gets a producer id the first time); true when it can send.
  bool connect();
  // Adds a batch of 1-4 records for a partition that the seed picks, and sends what the window allows.
  void produce_one();
  [[nodiscard]] bool idle() const { return unanswered() == 0; }
  [[nodiscard]] bool broken() const { return !connection_ || connection_->closed(); }
  [[nodiscard]] std::size_t unanswered() const;

 private:
  struct Batch {
    std::vector<std::string> values;
    std::int32_t base_sequence;
    bool in_flight = false;
  };
  struct PartitionState {
    std::deque<Batch> unanswered;
    std::int32_t next_sequence = 0;
  };
  void send_what_may_go();
  void send(std::int32_t partition, Batch& batch);
  void answered(std::int32_t partition, std::int16_t error, std::int64_t base_offset);

  World& world_;
  Oracle& oracle_;
  SimTopic topic_;
  Options options_;
  std::shared_ptr<client::Connection> connection_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::int64_t producer_id_ = -1;
  std::int16_t producer_epoch_ = -1;
  std::int64_t next_number_ = 0;
  std::vector<PartitionState> partitions_;
  std::uint64_t session_ = 0;  // answers of an earlier connection do not count
};

// Creates the topic and waits until it is there; false when the world ended first.
bool create_topic(World& world, const SimTopic& topic, const std::map<std::string, std::string>& configs = {});
// All records of a partition from its start to the high watermark; nullopt when the world ended first or an error came
// (`why` says which).
std::optional<std::vector<ReadBack>> read_all(World& world, const SimTopic& topic, std::int32_t partition,
                                              std::string& why);
// Adds the records at or behind `offset` of whole batches; the offset to go on from.
std::int64_t take_records(Bytes batches, std::int64_t offset, std::vector<ReadBack>& all);

}  // namespace weir::sim
