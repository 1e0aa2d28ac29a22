// MemoryStore: the records of one partition of a memory topic (mq.storage=memory), whole batches in offset order, as
// they go to a client. A plain value: its owner (MemoryPartition) holds a mutex around every call.
//
// What must hold: log_start <= log_end <= granted_end. Offsets run without a gap from the first batch to log_end: the
// only gap is in front of them, where batches were dropped or an earlier process ended. A batch gets no offset at or
// above granted_end, below which a durable entry of the log covers all. Bytes that were handed out stay what they are,
// however soon their batch is dropped.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"
#include "log/partition.hpp"
#include "log/producer_state.hpp"
#include "protocol/valid_batch.hpp"

namespace weir::log {

// Memory that a batch takes beside its bytes: its place in the deque, the counted block, the allocator's share.
inline constexpr std::int64_t kMemoryBatchOverhead = 128;

struct MemoryBatch {
  Offset base_offset;
  Offset last_offset;
  Millis max_timestamp = -1;
  Millis append_ms = -1;
  SharedBytes bytes;
  [[nodiscard]] Offset end() const { return last_offset + 1; }
  [[nodiscard]] std::int64_t cost() const { return static_cast<std::int64_t>(bytes.size()) + kMemoryBatchOverhead; }
};

// What was dropped: how many batches, and the memory that they took.
struct MemoryDropped {
  std::int64_t batches = 0;
  std::int64_t cost = 0;
};

class MemoryStore {
 public:
  // Empty: the first record gets offset `begin`, once it is granted.
  explicit MemoryStore(Offset begin) : log_start_(begin), log_end_(begin), granted_end_(begin) {}

  [[nodiscard]] Offset log_start() const { return log_start_; }
  [[nodiscard]] Offset log_end() const { return log_end_; }
  [[nodiscard]] Offset granted_end() const { return granted_end_; }
  [[nodiscard]] std::size_t batch_count() const { return batches_.size(); }
  [[nodiscard]] std::int64_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] std::int64_t cost() const {
    return size_bytes_ + static_cast<std::int64_t>(batches_.size()) * kMemoryBatchOverhead;
  }

  void grant(Offset end) { granted_end_ = std::max(granted_end_, end); }
  [[nodiscard]] bool covers(const protocol::BatchFacts& facts) const {
    return log_end_ + facts.last_offset_delta < granted_end_;
  }
  // covers() must be true. Copies the batch and gives the copy its offset and leader epoch. The base offset.
  Offset append(const protocol::ValidBatch& batch, LeaderEpoch epoch, Millis now);

  // The log start moves behind what is dropped.
  MemoryDropped drop_oldest();
  MemoryDropped move_start(Offset start);  // below the present one: nothing; at most the log end
  // What the topic's rules no longer want, by log/retention_rule.
  MemoryDropped retain(const PartitionRules& rules, Millis now);
  MemoryDropped clear();  // the offsets stay given

  // The batch that holds `offset`, or the first one behind it; batch_count() if there is none.
  [[nodiscard]] std::size_t find(Offset offset) const;
  [[nodiscard]] const MemoryBatch& at(std::size_t number) const { return batches_[number]; }

  ProducerTable producers;

 private:
  void drop_front(MemoryDropped& dropped);

  std::deque<MemoryBatch> batches_;
  Offset log_start_;
  Offset log_end_;
  Offset granted_end_;
  std::int64_t size_bytes_ = 0;
};

}  // namespace weir::log
