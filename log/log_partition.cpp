#include "log/log_partition.hpp"

namespace weir::log {

OpenIndex& LogPartition::begin_index(const std::shared_ptr<Segment>& segment) {
  auto index = std::make_shared<OpenIndex>(segment);
  role.index = index.get();
  const std::scoped_lock lock(mutex_);
  open_indexes_.push_back(std::move(index));
  return *role.index;
}

PartitionState LogPartition::state() const {
  PartitionState state;
  state.local = local();
  state.key = key();
  state.log_start = log_start();
  state.log_end = log_end();
  state.durable_end = std::min(durable_end(), state.log_end);
  state.high_watermark = high_watermark();
  state.record_count = role.record_count;
  state.reserved_end = role.reserved_end;
  state.leader_epoch = leader_epoch();
  {
    const std::scoped_lock lock(mutex_);
    state.epochs = epochs_;
    state.truncations = truncations_;
  }
  if (memory) {  // what the next process finds, not what this one has
    const Offset begin = std::max(role.reserved_end, Offset{0});
    state.log_start = state.log_end = state.durable_end = state.high_watermark = begin;
    state.epochs.truncate_before(begin);
  }
  return state;
}

void LogPartition::reserve(Offset end) {
  role.reserved_end = std::max(role.reserved_end, end);
  if (log_end() < end) {
    set_log_end(end);
    set_log_start(end);
    forget_epochs_before(end);
  }
}

void LogPartition::restore(const PartitionState& state) {
  set_log_end(state.log_end);
  set_log_start(state.log_start);
  role.record_count = state.record_count;
  role.reserved_end = state.reserved_end;
  role.created = true;
  const std::scoped_lock lock(mutex_);
  epochs_ = state.epochs;
  truncations_ = state.truncations;
  leader_epoch_.store(state.leader_epoch.value, std::memory_order_release);
  if (!truncations_.empty()) {
    was_truncated_.store(true, std::memory_order_release);
  }
}

PartitionState LogPartition::state_truncated(Offset end, LogPosition at) const {
  auto state = this->state();
  const bool has_batches_here = role.index != nullptr && !role.index->entries.empty();
  state.truncations.add({at, end, has_batches_here ? role.index->entries.at(0).base_offset : state.log_end});
  state.log_end = end;
  state.durable_end = std::min(state.durable_end, end);
  state.high_watermark = std::min(state.high_watermark, end);
  state.record_count = 0;
  state.epochs.truncate_to(end);
  const auto latest = state.epochs.latest();
  state.leader_epoch = latest ? latest->epoch : LeaderEpoch{-1};
  return state;
}

// The list of truncations first: whoever has the new index, which batches of another history will go into, has it too.
void LogPartition::truncate(const PartitionState& state) {
  restore(state);
  cut_index(state.log_end);
  truncation_count_.fetch_add(1, std::memory_order_release);
}

void LogPartition::cut_index(Offset end) {
  if (role.index == nullptr) {
    return;
  }
  const auto& old = *role.index;
  const auto count = old.entries.find(end);
  if (count > 0 && count == old.entries.size()) {
    return;  // nothing before this segment can be gone either
  }
  auto kept = std::make_shared<OpenIndex>(old.segment);
  std::int64_t bytes = 0;
  for (std::size_t number = 0; number < count; ++number) {
    const auto entry = old.entries.at(number);
    kept->entries.append(entry);
    bytes += entry.size;
  }
  kept->batch_bytes.store(bytes, std::memory_order_relaxed);
  kept->newest_append_ms.store(old.newest_append_ms.load(std::memory_order_relaxed), std::memory_order_relaxed);
  kept->in_deltas = std::min(old.in_deltas, count);
  const std::scoped_lock lock(mutex_);
  for (auto& open : open_indexes_) {
    if (open.get() == role.index) {
      role.index = kept.get();
      open = std::move(kept);
      return;
    }
  }
}

}  // namespace weir::log
