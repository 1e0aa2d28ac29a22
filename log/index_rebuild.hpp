// rebuild_index: the contents of a sealed segment's index file, from the segment itself, which begins with the state of
// all partitions. Reads the whole segment; blocks. Recovery, and the keeper while the log runs.
#pragma once

#include "log/replay.hpp"
#include "log/segment_scan.hpp"

namespace weir::log {

struct DamagedRange {
  SegmentId segment;
  std::int64_t from = 0;  // file positions
  std::int64_t to = 0;
};

struct RebuiltIndex {
  SegmentSnapshot snapshot;
  std::vector<DamagedRange> damage;  // stepped over
};

// `end`: file position up to which the segment counts. `before`: the index of the segment before it, if there is one:
// a cut may have left only a part of the state that the segment begins with, and then this says the same.
Result<RebuiltIndex> rebuild_index(const std::shared_ptr<Segment>& segment, std::int64_t end, const IndexFile* before);

// Gives the replay all entries of a segment, up to file position `end`. What it stepped over.
Result<std::vector<DamagedRange>> replay_segment(const std::shared_ptr<Segment>& segment, std::int64_t end,
                                                 Replay& replay);

// The state entry that a segment begins with, and nothing behind it. `scan` begins behind the segment's header.
Result<void> apply_first_state(SegmentScan& scan, Replay& replay);

// Goes on behind what is bad at the scan's place.
Result<DamagedRange> step_over(const Segment& segment, SegmentScan& scan);

}  // namespace weir::log
