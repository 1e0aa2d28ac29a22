#include "log/replay.hpp"

namespace weir::log {
namespace {

// What was read before led to this state. Then the producers known are kept: the chunk with those of the state may be
// torn away.
bool says_nothing_new(const LogPartition& partition, const PartitionState& state) {
  auto known = partition.state();
  known.durable_end = state.durable_end;
  known.high_watermark = state.high_watermark;
  known.truncations = state.truncations;  // those that the removal of segments has made needless are not in it
  return known == state;
}

}  // namespace

void Replay::begin_segment(std::shared_ptr<Segment> segment) {
  segment_ = std::move(segment);
  entries_ = 0;
  members_end_ = 0;
  for (auto& [local, partition] : live_) {
    partition->role.index = nullptr;
  }
}

LogPartition* Replay::find(LocalPartition local) {
  const auto found = live_.find(local);
  return found == live_.end() ? nullptr : found->second.get();
}

LogPartition& Replay::get_or_create(LocalPartition local, const PartitionKey& key) {
  auto& partition = live_[local];
  if (!partition) {
    partition = std::make_shared<LogPartition>(key, local, PartitionRules{});
    partition->role.created = true;
  }
  raise_next_local(local + 1U);
  return *partition;
}

void Replay::apply(const Entry& entry) {
  const auto local = entry.header.partition;
  const bool is_member = (entry.header.flags & entry_flags::member) != 0;
  if (is_member && entry.position >= members_end_) {
    return;  // damage has taken its group
  }
  switch (entry.header.kind) {
    case EntryKind::batch: apply_batch(entry); return;
    case EntryKind::state:
      if (const auto chunk = decode_state_chunk(entry.payload)) {
        static_cast<void>(apply_items({.bytes = chunk->items, .say_it_all = is_member}));
      }
      return;
    case EntryKind::partition_created:
      if (const auto created = PartitionCreatedPayload::decode(entry.payload); created && find(local) == nullptr) {
        auto& partition = get_or_create(local, {created->topic_id, created->index});
        partition.set_log_end(created->start);
        partition.set_log_start(created->start);
        partition.begin_epochs(created->epoch, created->start);
      }
      return;
    case EntryKind::deleted: live_.erase(local); return;
    case EntryKind::start_moved:
      if (const auto moved = StartMovedPayload::decode(entry.payload)) {
        if (auto* partition = find(local); partition != nullptr && moved->start > partition->log_start()) {
          partition->set_log_start(std::min(moved->start, partition->log_end()));
          partition->forget_epochs_before(partition->log_start());
        }
      }
      return;
    case EntryKind::epoch_start:
      if (const auto epoch = EpochStartPayload::decode(entry.payload)) {
        if (auto* partition = find(local)) {
          partition->assign_epoch(epoch->epoch, epoch->start);
        }
      }
      return;
    case EntryKind::offsets_reserved:
      if (const auto reserved = OffsetsReservedPayload::decode(entry.payload)) {
        if (auto* partition = find(local)) {
          partition->reserve(reserved->end);
        }
      }
      return;
    case EntryKind::truncated: apply_truncated(entry); return;
    case EntryKind::atomic_group:  // its members come as entries of their own
      if (const auto group = AtomicGroupPayload::decode(entry.payload)) {
        members_end_ = entry.end() + group->bytes;
      }
      return;
    case EntryKind::group:
    case EntryKind::pad:
    case EntryKind::run: return;  // nothing of this version writes these
  }
}

void Replay::apply_batch(const Entry& entry) {
  auto* partition = find(entry.header.partition);
  const auto batch = protocol::RecordBatchView::parse(entry.payload);
  if (partition == nullptr || !batch || Offset{batch->base_offset()} < partition->log_end()) {
    return;
  }
  const auto facts = batch->facts();
  const Offset base{facts.base_offset};
  const Offset last{facts.last_offset()};
  if (base > partition->log_end()) {
    gaps_.push_back({partition->key(), partition->log_end(), base});
  }
  add_to_index(
      *partition,
      {base, last, entry.position + static_cast<std::int64_t>(kEntryHeaderSize), facts.size_bytes, facts.max_timestamp},
      entry.header.append_ms);
  if (const LeaderEpoch epoch{batch->leader_epoch()}; epoch > partition->leader_epoch()) {
    partition->assign_epoch(epoch, base);  // damage has hidden where it begins
  }
  if (facts.has_producer()) {
    partition->role.producers.apply(facts, base, entry.header.append_ms);
  }
  if (!facts.is_control()) {
    partition->role.record_count += facts.record_count;
  }
  partition->set_log_end(last + 1);
}

void Replay::apply_truncated(const Entry& entry) {
  auto* partition = find(entry.header.partition);
  const auto truncated = TruncatedPayload::decode(entry.payload);
  if (partition == nullptr || !truncated || truncated->end >= partition->log_end() ||
      truncated->end < partition->log_start() || partition->truncations().is_full()) {
    return;
  }
  partition->truncate(partition->state_truncated(truncated->end, segment_->start() + entry.position));
  partition->role.producers.truncate_to(truncated->end);  // the state behind it says it exactly
}

void Replay::add_to_index(LogPartition& partition, const IndexEntry& entry, Millis append_ms) {
  auto& role = partition.role;
  auto& index =
      role.index != nullptr && role.index->segment == segment_ ? *role.index : partition.begin_index(segment_);
  if (const auto count = index.entries.size();
      count > 0 && index.entries.at(count - 1).last_offset >= entry.base_offset) {
    return;
  }
  index.entries.append(entry);
  index.batch_bytes.fetch_add(entry.size, std::memory_order_relaxed);
  index.newest_append_ms.store(std::max(index.newest_append_ms.load(std::memory_order_relaxed), append_ms),
                               std::memory_order_relaxed);
  segment_->count_batch(entry.size);
  ++entries_;
}

Result<void> Replay::apply_delta(const IndexDelta& delta) {
  return apply_items({.bytes = delta.items, .delta = &delta});
}

void Replay::apply_state(const PartitionState& state, const Items& items) {
  auto& partition = get_or_create(state.local, state.key);
  const bool is_new = items.say_it_all || !says_nothing_new(partition, state);
  known_already_ = is_new ? kNoPartition : state.local;
  if (is_new) {
    partition.restore(state);
    partition.role.producers.clear();
  }
  partition.set_known_high_watermark(state.high_watermark);
  if (items.delta != nullptr) {  // of what earlier deltas have brought, the truncations in this one have taken a tail
    partition.cut_index(state.truncations.end_behind(segment_->start() + items.delta->from));
  }
}

Result<void> Replay::apply_items(const Items& items) {
  StateItemReader reader{items.bytes};
  for (;;) {
    WEIR_TRY(const auto item, reader.next());
    if (!item) {
      return {};
    }
    if (const auto* node = std::get_if<NodeState>(&*item)) {
      raise_next_local(node->next_local);
    } else if (const auto* state = std::get_if<PartitionState>(&*item)) {
      apply_state(*state, items);
    } else if (const auto* producers = std::get_if<ProducersItem>(&*item)) {
      if (auto* partition = find(producers->local); partition != nullptr && producers->local != known_already_) {
        WEIR_TRY_VOID(partition->role.producers.merge(producers->snapshot));
      }
    } else if (const auto* index = std::get_if<IndexItem>(&*item); index != nullptr && items.delta != nullptr) {
      if (auto* partition = find(index->local)) {
        for (std::size_t number = 0; number < index->count(); ++number) {
          add_to_index(*partition, index->at(number), kAppendUnknownMs);
        }
      }
    }
  }
}

Result<void> Replay::take_states(const IndexFile& index) {
  for (std::size_t number = 0; number < index.row_count(); ++number) {
    WEIR_TRY(const auto items, index.state(index.row(number)));
    WEIR_TRY_VOID(apply_items({.bytes = items}));
  }
  return {};
}

SegmentSnapshot Replay::snapshot(std::int64_t end) const {
  SegmentSnapshot all;
  all.segment = segment_;
  all.to = end;
  for (const auto& [local, partition] : live_) {
    PartitionSnapshot one;
    one.partition = partition;
    one.state = partition->state();
    one.producers = partition->role.producers.encode();
    for (auto& open : partition->open_indexes()) {
      if (open->segment == segment_) {
        one.index = open;
        one.index_to = open->entries.size();
      }
    }
    all.partitions.push_back(std::move(one));
  }
  return all;
}

}  // namespace weir::log
