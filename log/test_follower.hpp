// A replicated partition in tests: batches with their own offsets and epochs, truncation, and reading to the log end.
#pragma once

#include "log/test_log_read.hpp"

namespace weir::log {

using Truncated = std::shared_ptr<std::optional<Result<Offset>>>;

inline PartitionRules replicated(FlushMode flush = FlushMode::sync) {
  PartitionRules rules;
  rules.replicated = true;
  rules.flush = flush;
  rules.retention_ms = -1;
  return rules;
}

inline Reply append_as_follower(TestLog& test, std::shared_ptr<Partition> partition, const TestBatch& batch) {
  auto reply = std::make_shared<std::optional<AppendOutcome>>();
  test.log->append_as_follower(test.request(std::move(partition), batch, Acks::all, reply));
  return reply;
}
inline AppendOutcome follow_now(TestLog& test, const std::shared_ptr<Partition>& partition, const TestBatch& batch) {
  const auto reply = append_as_follower(test, partition, batch);
  test.queue.run_until_idle();
  WEIR_CHECK(reply->has_value());
  return **reply;
}
inline Truncated truncate(TestLog& test, std::shared_ptr<Partition> partition, std::int64_t end, std::int32_t epoch) {
  auto done = std::make_shared<std::optional<Result<Offset>>>();
  test.log->truncate(std::move(partition), Offset{end}, LeaderEpoch{epoch}, *test.runtime->io.front(),
                     [done](Result<Offset> result) { *done = std::move(result); });
  return done;
}
inline Result<Offset> truncate_now(TestLog& test, const std::shared_ptr<Partition>& partition, std::int64_t end,
                                   std::int32_t epoch) {
  const auto done = truncate(test, partition, end, epoch);
  test.queue.run_until_idle();
  WEIR_CHECK(done->has_value());
  return **done;
}

struct StoredBatch {
  std::int64_t base = 0;
  std::int64_t last = 0;
  std::int32_t epoch = 0;
  std::string value;  // of its first record
  friend bool operator==(const StoredBatch&, const StoredBatch&) = default;
};

// All batches from the log start to the log end, whole.
inline Result<std::vector<StoredBatch>> read_to_end(const TestLog& test, const Partition& partition,
                                                    std::size_t bytes_max = 64 << 10) {
  std::vector<StoredBatch> all;
  const auto bound = partition.log_end();
  for (auto at = partition.log_start(); at < bound;) {
    WEIR_TRY(auto outcome, test.log->read(partition, at, {bytes_max, true, bound}, ReadFrom::may_block));
    if (outcome.batches.empty()) {
      break;  // a gap before the end
    }
    const auto bytes = outcome.batches.flatten();
    protocol::BatchChain chain{bytes};
    for (;;) {
      WEIR_TRY(const auto batch, chain.next());
      if (!batch) {
        break;
      }
      if (!batch->crc_ok() || batch->last_offset() < at.value) {
        return {Errc::corrupt, batch->base_offset()};
      }
      StoredBatch stored{batch->base_offset(), batch->last_offset(), batch->leader_epoch(), ""};
      protocol::RecordReader records{*batch, 1U << 30U};
      WEIR_TRY(const auto record, records.next());
      stored.value = as_text(record->value.value_or(Bytes{}));
      all.push_back(std::move(stored));
      at = Offset{batch->last_offset() + 1};
    }
  }
  return all;
}

}  // namespace weir::log
