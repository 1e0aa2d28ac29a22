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
  state.durable_end = durable_end();
  state.high_watermark = high_watermark();
  state.record_count = role.record_count;
  state.reserved_end = role.reserved_end;
  state.leader_epoch = leader_epoch();
  {
    const std::scoped_lock lock(mutex_);
    state.epochs = epochs_;
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
  set_epochs(state.epochs, state.leader_epoch);
}

}  // namespace weir::log
