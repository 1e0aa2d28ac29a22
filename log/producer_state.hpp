// ProducerTable: what one partition knows of its idempotent producers: epoch and the last five batches of each. Pure;
// owned by the log role. check() never changes anything, so a refused batch leaves the state as it was; apply() after
// the batch has its offset. Kafka's rules, as a real broker answered them.
#pragma once

#include <array>
#include <unordered_map>
#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "protocol/record_batch.hpp"

namespace weir::log {

inline constexpr std::size_t kProducerWindow = 5;

enum class SequenceVerdict : std::uint8_t {
  accept,           // also: the batch has no producer
  duplicate,        // of one of the last five: first and last sequence match; answer its offset and timestamp
  out_of_sequence,  // a gap, an older batch, another shape of a known one, or a new epoch that does not begin at 0
  stale_epoch,      // an epoch below the newest seen
};
struct SequenceCheck {
  SequenceVerdict verdict = SequenceVerdict::accept;
  Offset base_offset{-1};  // with duplicate
  Millis max_timestamp = protocol::kNoTimestamp;
  friend bool operator==(const SequenceCheck&, const SequenceCheck&) = default;
};

struct ProducerBatch {
  std::int32_t first_sequence = protocol::kNoSequence;
  std::int32_t last_sequence = protocol::kNoSequence;
  Offset base_offset;
  Offset last_offset;
  Millis max_timestamp = protocol::kNoTimestamp;
  friend bool operator==(const ProducerBatch&, const ProducerBatch&) = default;
};

struct Producer {
  std::int64_t id = protocol::kNoProducerId;
  std::int16_t epoch = protocol::kNoProducerEpoch;
  std::uint8_t batch_count = 0;  // of `batches`, oldest first
  std::array<ProducerBatch, kProducerWindow> batches{};
  Millis last_update_ms = -1;           // append time of its newest batch: expiry counts from here
  std::int32_t coordinator_epoch = -1;  // of its last transaction marker
  Offset open_transaction{-1};          // first offset of its open transaction, -1 if none
  [[nodiscard]] std::int32_t last_sequence() const {
    return batch_count == 0 ? protocol::kNoSequence : batches[batch_count - 1U].last_sequence;
  }
  [[nodiscard]] Millis last_timestamp() const {
    return batch_count == 0 ? protocol::kNoTimestamp : batches[batch_count - 1U].max_timestamp;
  }
  friend bool operator==(const Producer&, const Producer&) = default;
};

class ProducerTable {
 public:
  [[nodiscard]] SequenceCheck check(const protocol::BatchFacts& facts) const;
  // A batch that check() accepted, or one that is in the log already (replay): taken as it is, newest wins.
  void apply(const protocol::BatchFacts& facts, Offset base_offset, Millis append_ms);
  // Forgets who has appended nothing for so long. Counted from the append, where Kafka takes the stamp of the record: a
  // producer of old records keeps its protection.
  void expire(Millis now, Millis expiration_ms);
  // Forgets batches at and above the new log end. A producer whose whole window goes is unknown again.
  void truncate_to(Offset log_end);
  void clear() { producers_.clear(); }
  [[nodiscard]] bool empty() const { return producers_.empty(); }
  [[nodiscard]] std::size_t size() const { return producers_.size(); }
  [[nodiscard]] const Producer* find(std::int64_t producer_id) const;
  [[nodiscard]] std::vector<Producer> list() const;  // by id: DescribeProducers, snapshots

  // Snapshots of at most `bytes_max` each (at least one producer a piece); merging all pieces gives the table back.
  [[nodiscard]] std::vector<std::vector<std::byte>> encode(std::size_t bytes_max = 128U << 10U) const;
  Result<void> merge(Bytes snapshot);  // corrupt, truncated or unsupported: the table is left as it was
  friend bool operator==(const ProducerTable&, const ProducerTable&) = default;

 private:
  std::unordered_map<std::int64_t, Producer> producers_;
};

}  // namespace weir::log
