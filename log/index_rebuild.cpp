#include "log/index_rebuild.hpp"

namespace weir::log {

Result<DamagedRange> step_over(const Segment& segment, SegmentScan& scan) {
  const auto from = scan.position();
  WEIR_TRY_VOID(scan.skip());
  return DamagedRange{segment.id(), from, scan.position()};
}

Result<std::vector<DamagedRange>> replay_segment(const std::shared_ptr<Segment>& segment, std::int64_t end,
                                                 Replay& replay) {
  std::vector<DamagedRange> damage;
  replay.begin_segment(segment);
  SegmentScan scan{segment->file(), segment->seed(), static_cast<std::int64_t>(kSegmentHeaderSize), end};
  for (;;) {
    WEIR_TRY(const auto step, scan.next());
    if (step == SegmentScan::Step::end) {
      return damage;
    }
    if (step == SegmentScan::Step::bad) {
      WEIR_TRY(const auto range, step_over(*segment, scan));
      damage.push_back(range);
      continue;
    }
    replay.apply(scan.entry());
  }
}

Result<void> apply_first_state(SegmentScan& scan, Replay& replay) {
  for (;;) {
    WEIR_TRY(const auto step, scan.next());
    const auto kind = step == SegmentScan::Step::entry ? scan.entry().header.kind : EntryKind::batch;
    if (kind != EntryKind::group && kind != EntryKind::state && kind != EntryKind::pad) {
      return {};
    }
    replay.apply(scan.entry());
  }
}

Result<RebuiltIndex> rebuild_index(const std::shared_ptr<Segment>& segment, std::int64_t end, const IndexFile* before) {
  RebuiltIndex rebuilt;
  Replay replay;
  if (before != nullptr) {
    static_cast<void>(replay.take_states(*before));
  }
  WEIR_TRY(rebuilt.damage, replay_segment(segment, end, replay));
  rebuilt.snapshot = replay.snapshot(end);
  rebuilt.snapshot.next_local = replay.next_local();
  return rebuilt;
}

}  // namespace weir::log
