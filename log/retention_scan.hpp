// RetentionScan: how far one partition may forget, by log/retention_rule. For one pass of retention, on the pool; it
// belongs to the pass, as RetentionWatch does.
//
// Batches go one by one from the log start on, in sealed segments and in the open one alike, up to the first that has
// neither expired nor is too much. Only what is visible goes. A partition in which nothing can have expired since it
// was looked at last costs a comparison; whole segments go by the row of their index; each other batch is looked at
// once. The time of an append is read from the entry itself, and only where a batch counts from it.
#pragma once

#include "log/log_reader.hpp"
#include "log/retention_rule.hpp"

namespace weir::log {

class RetentionScan {
 public:
  RetentionScan(const SegmentList& segments, const LogReader& reader, Millis now)
      : segments_(segments), reader_(reader), now_(now) {}

  // The log start that the rules want, or the present one. corrupt: an index file is damaged and has to be made again.
  Result<Offset> wanted_start(LogPartition& partition) const;
  // Of its batches in the open segment `id`: the bytes of those that can still be read.
  [[nodiscard]] std::int64_t live_bytes_in(SegmentId id, LogPartition& partition) const;

 private:
  struct Look;
  [[nodiscard]] static bool can_have_expired(const LogPartition& partition, const PartitionRules& rules, Offset start,
                                             Millis now);
  static Result<void> pass_to_start(RetentionWatch& watch, BatchCursor& cursor, Offset start);
  Result<std::int64_t> size_of(LogPartition& partition, BatchCursor& cursor, std::span<const BatchCursor::Run> runs,
                               Offset start) const;
  void skip_runs(Look& look, std::span<const BatchCursor::Run> runs) const;
  Result<void> skip_batches(Look& look) const;
  [[nodiscard]] Millis counted_from(const Look& look) const;

  const SegmentList& segments_;
  const LogReader& reader_;
  const Millis now_;
};

}  // namespace weir::log
