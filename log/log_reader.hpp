// LogReader: from an offset and limits to runs of whole batches: from the image without the disk, else from the files,
// small batches by way of the read cache.
// Also the look into one batch that a time lookup needs. Any thread; in memory_only it never touches segment files.
//
// Batches go out without a copy, gathered from blocks of the image or of the read cache that they hold, or as a file
// run for sendfile; only the smallest are copied side by side. Batch headers on disk carry the right offsets already,
// so runs go out as they are.
//
// What comes from a file is checked before it is served, header and records: small batches whenever they are read,
// larger ones when this process reads them for the first time (which also brings them into the page cache, so that
// sendfile finds them there). A batch that is not what was written is left out, named and counted (log/damage_report):
// to a client it is a gap.
#pragma once

#include "log/batch_cursor.hpp"
#include "log/commit_log.hpp"
#include "log/damage_report.hpp"
#include "log/image.hpp"
#include "log/read_cache.hpp"

namespace weir::log {

class LogReader {
 public:
  LogReader(const SegmentList& list, const Image& image, ReadCache& cache, DamageReport& damage)
      : list_(list), image_(image), cache_(cache), damage_(damage) {}

  Result<ReadOutcome> read(const LogPartition& partition, Offset from, const ReadLimits& limits, ReadFrom mode) const;
  Result<std::optional<TimestampAndOffset>> find_by_time(const LogPartition& partition, Millis timestamp,
                                                         Offset bound) const;
  Result<std::optional<TimestampAndOffset>> find_max_timestamp(const LogPartition& partition, Offset bound) const;
  Result<std::int64_t> records_between(const LogPartition& partition, Offset from, Offset to) const;
  Result<std::int64_t> size_bytes(const LogPartition& partition) const;
  // When the batch at the cursor was appended, as its entry says. May touch its file.
  Result<Millis> append_ms(const LogPartition& partition, const BatchCursor& cursor) const;

 private:
  // Without a value: damaged, and reported.
  Result<std::optional<std::vector<std::byte>>> batch_bytes(const LogPartition& partition,
                                                            const BatchCursor& cursor) const;

  const SegmentList& list_;
  const Image& image_;
  ReadCache& cache_;
  DamageReport& damage_;
};

}  // namespace weir::log
