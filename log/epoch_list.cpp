#include "log/epoch_list.hpp"

#include <algorithm>

#include "log/little_endian.hpp"

namespace weir::log {
namespace {

bool begins_above(Offset offset, const EpochStart& entry) {
  return offset < entry.start;
}
bool is_above(LeaderEpoch epoch, const EpochStart& entry) {
  return epoch < entry.epoch;
}

}  // namespace

bool EpochList::assign(LeaderEpoch epoch, Offset start) {
  if (epoch.value < 0 || start.value < 0 || (!entries_.empty() && epoch <= entries_.back().epoch)) {
    return false;
  }
  truncate_to(start);
  if (entries_.size() == kEpochsMax) {
    entries_.erase(entries_.begin());
  }
  entries_.push_back({epoch, start});
  return true;
}

std::optional<EpochStart> EpochList::latest() const {
  return entries_.empty() ? std::nullopt : std::optional{entries_.back()};
}

EpochStart EpochList::end_of(LeaderEpoch epoch, Offset log_end) const {
  if (entries_.empty() || epoch > entries_.back().epoch || epoch == LeaderEpoch{-1}) {
    return {LeaderEpoch{-1}, Offset{-1}};
  }
  if (epoch < entries_.front().epoch) {
    return {epoch, entries_.front().start};
  }
  const auto next = std::upper_bound(entries_.begin(), entries_.end(), epoch, is_above);
  return {std::prev(next)->epoch, next == entries_.end() ? log_end : next->start};
}

LeaderEpoch EpochList::epoch_at(Offset offset) const {
  const auto next = std::upper_bound(entries_.begin(), entries_.end(), offset, begins_above);
  return next == entries_.begin() ? LeaderEpoch{-1} : std::prev(next)->epoch;
}

void EpochList::truncate_to(Offset log_end) {
  while (!entries_.empty() && entries_.back().start >= log_end) {
    entries_.pop_back();
  }
}

void EpochList::truncate_before(Offset log_start) {
  const auto next = std::upper_bound(entries_.begin(), entries_.end(), log_start, begins_above);
  if (next == entries_.begin()) {
    return;
  }
  const auto holder = std::prev(next);
  holder->start = std::max(holder->start, log_start);
  entries_.erase(entries_.begin(), holder);
}

void EpochList::encode(std::vector<std::byte>& out) const {
  put(out, static_cast<std::uint32_t>(entries_.size()));
  for (const auto& entry : entries_) {
    put(out, entry.epoch.value);
    put(out, entry.start.value);
  }
}

std::size_t EpochList::size_of(Bytes bytes) {
  LittleReader reader{bytes};
  const auto count = reader.take<std::uint32_t>();
  return reader.failed() ? bytes.size() : 4 + std::size_t{count} * 12;
}

Result<EpochList> EpochList::decode(Bytes bytes) {
  LittleReader reader{bytes};
  const auto count = reader.take<std::uint32_t>();
  if (reader.failed() || count > kEpochsMax || reader.rest().size() != std::size_t{count} * 12) {
    return {Errc::corrupt, static_cast<std::int64_t>(count)};
  }
  EpochList list;
  list.entries_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    EpochStart entry;
    entry.epoch.value = reader.take<std::int32_t>();
    entry.start.value = reader.take<std::int64_t>();
    const bool rises =
        list.entries_.empty() || (entry.epoch > list.entries_.back().epoch && entry.start > list.entries_.back().start);
    if (!rises || entry.epoch.value < 0 || entry.start.value < 0) {
      return {Errc::corrupt, static_cast<std::int64_t>(i)};
    }
    list.entries_.push_back(entry);
  }
  return list;
}

}  // namespace weir::log
