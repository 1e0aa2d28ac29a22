// Record batches for the tests of this folder.
#pragma once

#include <string>
#include <vector>

#include "protocol/record.hpp"

namespace weir::log {

struct TestBatch {
  std::int64_t base_offset = 0;
  std::vector<std::string> values{"v"};
  Millis timestamp = 1'700'000'000'000;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;
  std::int32_t base_sequence = -1;
  std::int32_t leader_epoch = 0;
};

inline std::vector<std::byte> make_batch(const TestBatch& facts) {
  protocol::RecordBatchBuilder builder{{.base_offset = {facts.base_offset},
                                        .leader_epoch = {facts.leader_epoch},
                                        .producer_id = facts.producer_id,
                                        .producer_epoch = facts.producer_epoch,
                                        .base_sequence = facts.base_sequence}};
  for (const auto& value : facts.values) {
    builder.append({.value = as_bytes(value), .timestamp = facts.timestamp});
  }
  return builder.build().value();
}

inline protocol::ValidBatch make_valid_batch(const TestBatch& facts) {
  return protocol::check_replica_batch(SharedBytes::adopt(make_batch(facts))).value();
}

}  // namespace weir::log
