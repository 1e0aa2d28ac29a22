#include "log/truncation_list.hpp"

#include <algorithm>
#include <limits>

#include "log/little_endian.hpp"

namespace weir::log {
namespace {
constexpr std::size_t kTruncationSize = 24;
}  // namespace

void TruncationList::add(Truncation truncation) {
  WEIR_CHECK(!is_full() && (empty() || entries_.back().at < truncation.at));
  while (!empty() && entries_.back().end >= truncation.end) {
    truncation.reach = std::max(truncation.reach, entries_.back().reach);
    entries_.pop_back();
  }
  entries_.push_back(truncation);
}

Offset TruncationList::end_behind(LogPosition position) const {
  const auto first = std::ranges::lower_bound(entries_, position, {}, &Truncation::at);
  return first == entries_.end() ? Offset{std::numeric_limits<std::int64_t>::max()} : first->end;
}

void TruncationList::forget_needless(LogPosition oldest_begin) {
  std::erase_if(entries_, [&](const Truncation& one) { return one.at < oldest_begin || one.reach <= one.end; });
}

void TruncationList::encode(std::vector<std::byte>& out) const {
  if (empty()) {
    return;
  }
  put(out, static_cast<std::uint32_t>(entries_.size()));
  for (const auto& one : entries_) {
    put(out, one.at.value);
    put(out, one.end.value);
    put(out, one.reach.value);
  }
}

Result<TruncationList> TruncationList::decode(Bytes bytes) {
  TruncationList list;
  if (bytes.empty()) {
    return list;
  }
  LittleReader reader{bytes};
  const auto count = reader.take<std::uint32_t>();
  if (reader.failed() || count == 0 || count > kTruncationsMax || reader.rest().size() != count * kTruncationSize) {
    return Error{Errc::corrupt, count};
  }
  list.entries_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    Truncation one;
    one.at.value = reader.take<std::int64_t>();
    one.end.value = reader.take<std::int64_t>();
    one.reach.value = reader.take<std::int64_t>();
    const bool rises = list.empty() || (one.at > list.entries_.back().at && one.end > list.entries_.back().end);
    if (!rises || one.at.value < 0 || one.end.value < 0 || one.reach.value < 0) {
      return Error{Errc::corrupt, i};
    }
    list.entries_.push_back(one);
  }
  return list;
}

}  // namespace weir::log
