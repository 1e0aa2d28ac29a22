// LogReader: from an offset and limits to runs of whole batches: from the image without the disk, else from the files,
// small batches by way of the read cache.
// Also the look into one batch that a time lookup needs. Any thread; in memory_only it never touches segment files.
//
// Small batches are copied side by side; larger ones go out without a copy, as a held image block or as a file run for
// sendfile. Batch headers on disk carry the right offsets already, so runs go out as they are. Batches are not checked
// against their CRC here: recovery checks what it scans, clients check what they read; the check at the first read from
// disk comes with the scrub.
#pragma once

#include "log/batch_cursor.hpp"
#include "log/commit_log.hpp"
#include "log/image.hpp"
#include "log/read_cache.hpp"

namespace weir::log {

class LogReader {
 public:
  LogReader(const SegmentList& list, const Image& image, ReadCache& cache)
      : list_(list), image_(image), cache_(cache) {}

  Result<ReadOutcome> read(const LogPartition& partition, Offset from, const ReadLimits& limits, ReadFrom mode) const;
  Result<std::optional<TimestampAndOffset>> find_by_time(const LogPartition& partition, Millis timestamp,
                                                         Offset bound) const;
  Result<std::optional<TimestampAndOffset>> find_max_timestamp(const LogPartition& partition, Offset bound) const;
  Result<std::int64_t> records_between(const LogPartition& partition, Offset from, Offset to) const;
  Result<std::int64_t> size_bytes(const LogPartition& partition) const;

 private:
  Result<std::vector<std::byte>> batch_bytes(const BatchCursor& cursor) const;

  const SegmentList& list_;
  const Image& image_;
  ReadCache& cache_;
};

}  // namespace weir::log
