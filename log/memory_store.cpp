#include "log/memory_store.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "log/retention_rule.hpp"

namespace weir::log {

Offset MemoryStore::append(const protocol::ValidBatch& batch, LeaderEpoch epoch, Millis now) {
  const auto& facts = batch.facts();
  WEIR_CHECK(!batch.empty() && covers(facts));
  const auto base = log_end_;
  auto memory = std::make_shared_for_overwrite<std::byte[]>(batch.size());
  const MutableBytes copy{memory.get(), batch.size()};
  std::ranges::copy(batch.view(), copy.begin());
  protocol::patch_base_offset(copy, base);
  protocol::patch_leader_epoch(copy, epoch);
  batches_.push_back(
      {base, base + facts.last_offset_delta, facts.max_timestamp, now, SharedBytes{copy, std::move(memory)}});
  size_bytes_ += static_cast<std::int64_t>(batch.size());
  log_end_ = batches_.back().end();
  if (facts.has_producer()) {
    producers.apply(facts, base, now);
  }
  return base;
}

void MemoryStore::drop_front(MemoryDropped& dropped) {
  const auto& batch = batches_.front();
  ++dropped.batches;
  dropped.cost += batch.cost();
  size_bytes_ -= static_cast<std::int64_t>(batch.bytes.size());
  log_start_ = std::max(log_start_, batch.end());
  batches_.pop_front();
}

MemoryDropped MemoryStore::drop_oldest() {
  MemoryDropped dropped;
  if (!batches_.empty()) {
    drop_front(dropped);
  }
  return dropped;
}

MemoryDropped MemoryStore::move_start(Offset start) {
  MemoryDropped dropped;
  start = std::min(start, log_end_);
  while (!batches_.empty() && batches_.front().end() <= start) {
    drop_front(dropped);
  }
  log_start_ = std::max(log_start_, start);
  return dropped;
}

MemoryDropped MemoryStore::retain(const PartitionRules& rules, Millis now) {
  MemoryDropped dropped;
  while (rules.delete_old && !batches_.empty()) {
    const auto& oldest = batches_.front();
    if (!has_expired(oldest.max_timestamp, oldest.append_ms, rules.retention_ms, now) &&
        !is_too_much(size_bytes_, static_cast<std::int64_t>(oldest.bytes.size()), rules.retention_bytes)) {
      break;
    }
    drop_front(dropped);
  }
  return dropped;
}

MemoryDropped MemoryStore::clear() {
  MemoryDropped dropped;
  while (!batches_.empty()) {
    drop_front(dropped);
  }
  producers.clear();
  return dropped;
}

std::size_t MemoryStore::find(Offset offset) const {
  const auto found =
      std::partition_point(batches_.begin(), batches_.end(), [&](const auto& batch) { return batch.end() <= offset; });
  return static_cast<std::size_t>(found - batches_.begin());
}

}  // namespace weir::log
