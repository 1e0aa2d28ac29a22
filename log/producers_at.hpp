// producers_at: what a partition's producers were when its log ended at an offset, for a truncation to it: a state that
// the log keeps of a time when it had no more than is below that offset now, and the headers of the batches from there
// on. May read the files: on the pool.
#pragma once

#include "log/image.hpp"
#include "log/log_partition.hpp"

namespace weir::log {

// corrupt: an index file is damaged. A batch that is damaged counts as if it were not there.
Result<ProducerTable> producers_at(const SegmentList& list, const Image& image, const LogPartition& partition,
                                   Offset end);

}  // namespace weir::log
