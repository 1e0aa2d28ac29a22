#include "log/segment_scan.hpp"

#include "protocol/record_batch.hpp"

namespace weir::log {
namespace {
constexpr std::size_t kWindow = 4U << 20U;

}  // namespace

Result<bool> SegmentScan::load(std::size_t size) {
  if (end_ - position_ < static_cast<std::int64_t>(size)) {
    return false;
  }
  if (position_ >= window_position_ &&
      position_ + static_cast<std::int64_t>(size) <= window_position_ + std::ssize(window_)) {
    return true;
  }
  window_.resize(static_cast<std::size_t>(
      std::min<std::int64_t>(end_ - position_, static_cast<std::int64_t>(std::max(size, kWindow)))));
  window_position_ = position_;
  WEIR_TRY(const auto count, file_.read_at(position_, window_));
  window_.resize(count);
  return count >= size;
}

Result<SegmentScan::Step> SegmentScan::next() {
  if (position_ >= end_) {
    return Step::end;
  }
  std::size_t needed = kEntryHeaderSize;
  for (;;) {
    WEIR_TRY(const bool loaded, load(needed));
    if (!loaded) {
      return Step::bad;
    }
    EntryScanner scanner{rest(), position_, seed_};
    const auto step = scanner.next();
    if (step == EntryScanner::Step::entry) {
      entry_ = scanner.entry();
      if (entry_.header.kind == EntryKind::batch && !protocol::RecordBatchView::parse_whole(entry_.payload)) {
        return Step::bad;
      }
      if (entry_.header.kind == EntryKind::atomic_group) {
        const auto group = AtomicGroupPayload::decode(entry_.payload);
        const auto whole = entry_size(entry_.payload.size()) + (group ? group->bytes : 0U);
        if (!group) {
          return Step::bad;
        }
        if (whole > needed && whole > rest().size()) {
          needed = whole;
          continue;
        }
        if (!scanner.atomic_group_is_whole()) {
          return Step::bad;
        }
      }
      position_ = scanner.position();
      return Step::entry;
    }
    const auto error = scanner.error();
    if (error.code != Errc::truncated || static_cast<std::size_t>(error.detail) <= needed) {
      return Step::bad;
    }
    needed = static_cast<std::size_t>(error.detail);
  }
}

Result<void> SegmentScan::skip() {
  position_ += static_cast<std::int64_t>(kEntryAlignment);
  while (position_ < end_) {
    WEIR_TRY(const bool loaded, load(kEntryHeaderSize));
    if (!loaded) {
      break;
    }
    EntryScanner scanner{rest(), position_, seed_};
    const auto step = scanner.next();
    const bool runs_over = step == EntryScanner::Step::bad && scanner.error().code == Errc::truncated;
    if (step != EntryScanner::Step::entry && !runs_over) {
      if (!scanner.resync()) {
        // Headers were looked for where they lie whole in the window; the rest belongs to the next one.
        position_ += static_cast<std::int64_t>((rest().size() - kEntryHeaderSize) / kEntryAlignment * kEntryAlignment +
                                               kEntryAlignment);
        continue;
      }
      position_ = scanner.position();
    }
    const auto before = position_;
    WEIR_TRY(const auto found, next());
    position_ = found == Step::end ? end_ : before;
    if (found == Step::entry) {
      return {};
    }
    position_ = before + static_cast<std::int64_t>(kEntryAlignment);
  }
  position_ = end_;
  return {};
}

}  // namespace weir::log
