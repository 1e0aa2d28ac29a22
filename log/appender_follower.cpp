// The part of the appender that serves replicated partitions: batches as the leader has them, truncation, and the bound
// of the high watermark. Log role only.
#include "log/appender.hpp"

namespace weir::log {
namespace {

// A new position changes no size, so what is made for one tells how much room any other takes.
std::vector<std::vector<std::byte>> chunks_of(const PartitionState& state, const ProducerTable& producers) {
  StateChunker chunker;
  chunker.add(state);
  for (const auto& piece : producers.encode()) {
    chunker.add(ProducersItem{state.local, piece});
  }
  return chunker.finish();
}

std::size_t members_size(const std::vector<std::vector<std::byte>>& chunks) {
  auto total = entry_size(TruncatedPayload::kSize);
  for (const auto& chunk : chunks) {
    total += entry_size(chunk.size());
  }
  return total;
}

}  // namespace

bool Appender::do_append_as_follower(Append& request) {
  auto& partition = static_cast<LogPartition&>(*request.partition);
  const Offset base{request.batch.facts().base_offset};
  const LeaderEpoch epoch{request.batch.facts().leader_epoch};
  if (refuse_too_large(request)) {
    return true;
  }
  if (base < partition.log_end()) {
    refuse(request, {Errc::out_of_range, base.value});
    return true;
  }
  if (epoch < partition.leader_epoch()) {
    refuse(request, {Errc::stale_epoch, epoch.value});
    return true;
  }
  if (!make_room_for_batch(partition, entry_size(request.batch.size()))) {
    return false;
  }
  partition.assign_epoch(epoch, base);
  put_batch(request, base);
  return true;
}

std::optional<Error> Appender::why_not_truncate(const LogPartition& partition, const TruncatedPayload& to) const {
  if (auto why = why_closed(partition)) {
    return why;
  }
  if (!partition.role.created) {
    return Error{Errc::not_found};
  }
  if (to.epoch < partition.leader_epoch()) {
    return Error{Errc::stale_epoch, to.epoch.value};
  }
  if (to.end < partition.role.bound) {
    return Error{Errc::out_of_range, to.end.value};
  }
  return std::nullopt;
}

bool Appender::put_truncated(const std::shared_ptr<LogPartition>& partition, const TruncatedPayload& to,
                             const ProducerTable& producers, Answer& answer) {
  if (const auto why = why_not_truncate(*partition, to)) {
    answer_at_once(answer, *why);
    return true;
  }
  if (to.end < partition->log_end()) {
    const auto size =
        kAtomicGroupEntrySize + members_size(chunks_of(partition->state_truncated(to.end, image_.tail()), producers));
    if (partition->truncations().is_full() || static_cast<std::int64_t>(size) > image_.capacity() / 2) {
      answer_at_once(answer, {Errc::too_large, static_cast<std::int64_t>(size)});
      return true;
    }
    if (!make_room(size)) {
      return false;
    }
    has_entries_ = true;
    begin_bytes();
    put_truncation_group(*partition, to, producers, image_.tail() + static_cast<std::int64_t>(kAtomicGroupEntrySize));
    mark_changed(partition);
  }
  answer.outcome.base_offset = partition->log_end();
  group_.needs_sync = true;
  group_.items.push_back({partition, partition->log_end(), true, std::move(answer), Tells::truncated});
  return true;
}

// All or none: the entry at `at` and what the partition is behind it.
void Appender::put_truncation_group(LogPartition& partition, const TruncatedPayload& to, const ProducerTable& producers,
                                    LogPosition at) {
  partition.truncate(partition.state_truncated(to.end, at));
  partition.role.producers = producers;
  const auto chunks = chunks_of(partition.state(), producers);
  const auto size = members_size(chunks);
  scratch_.assign(kAtomicGroupEntrySize + size, std::byte{0});
  const auto whole = MutableBytes{scratch_};
  const auto from = file_position();
  constexpr auto kTruncatedSize = entry_size(TruncatedPayload::kSize);
  auto position = kAtomicGroupEntrySize;
  encode_entry(whole.subspan(position, kTruncatedSize), segment_->seed(), from + static_cast<std::int64_t>(position),
               partition.local(), now_ms_, to, entry_flags::member);
  position += kTruncatedSize;
  for (std::size_t number = 0; number < chunks.size(); ++number) {
    const auto goes_on = number + 1 < chunks.size() ? entry_flags::continued : std::uint8_t{0};
    const auto entry = entry_size(chunks[number].size());
    encode_entry(whole.subspan(position, entry), segment_->seed(), from + static_cast<std::int64_t>(position),
                 EntryKind::state, static_cast<std::uint8_t>(entry_flags::member | goes_on), kNoPartition, now_ms_,
                 chunks[number]);
    position += entry;
  }
  const AtomicGroupPayload group{static_cast<std::uint32_t>(1 + chunks.size()), static_cast<std::uint32_t>(size),
                                 atomic_members_crc(whole.subspan(kAtomicGroupEntrySize))};
  encode_entry(whole.first(kAtomicGroupEntrySize), segment_->seed(), from, kNoPartition, now_ms_, group);
  image_.put(scratch_);
}

// Never above what the log has here, or offsets that come later would be visible before they are written.
bool Appender::put_bound(const std::shared_ptr<LogPartition>& partition, Offset bound) {
  auto& role = partition->role;
  bound = std::min(bound, partition->log_end());
  if (bound > role.bound && !partition->deleted() && !is_over()) {
    role.bound = bound;
    group_.items.push_back({partition, bound, false, {}, Tells::bound});
  }
  return true;
}

}  // namespace weir::log
