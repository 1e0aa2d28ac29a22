#include "log/retention_scan.hpp"

namespace weir::log {

struct RetentionScan::Look {
  const LogPartition& partition;
  const PartitionRules rules;
  BatchCursor cursor;
  const Offset visible_end;
  Offset start;            // so far
  std::int64_t bytes = 0;  // from there on; only if there is a bound
  // Of the first batch that stays.
  Millis due_ms = 0;
  std::int64_t head_bytes = 0;
};

bool RetentionScan::can_have_expired(const LogPartition& partition, const PartitionRules& rules, Offset start,
                                     Millis now) {
  const auto& watch = partition.watch;
  if (watch.start != start || watch.retention_ms != rules.retention_ms ||
      watch.retention_bytes != rules.retention_bytes || watch.truncation_count != partition.truncation_count() ||
      now < watch.looked_ms) {
    return true;
  }
  return now >= watch.due_ms || partition.appended_bytes() >= watch.due_bytes;
}

// The cursor stands at the first batch at or behind the log start.
Result<void> RetentionScan::pass_to_start(RetentionWatch& watch, BatchCursor& cursor, Offset start) {
  WEIR_TRY(const bool found, cursor.seek(start));
  if (!found) {
    return {};
  }
  if (watch.passed_in != cursor.segment()->id() || watch.passed > cursor.number()) {
    watch.passed_in = cursor.segment()->id();
    watch.passed = 0;
    watch.passed_bytes = 0;
  }
  watch.passed_bytes += cursor.bytes_since(watch.passed);
  watch.passed = cursor.number();
  return {};
}

Result<std::int64_t> RetentionScan::size_of(LogPartition& partition, BatchCursor& cursor,
                                            std::span<const BatchCursor::Run> runs, Offset start) const {
  if (partition.was_truncated()) {
    return reader_.size_bytes(partition);
  }
  std::int64_t bytes = 0;
  for (const auto& run : runs) {
    bytes += run.batch_bytes;
  }
  if (!runs.empty() && runs.front().first_offset < start) {
    WEIR_TRY_VOID(pass_to_start(partition.watch, cursor, start));
    bytes -= partition.watch.passed_in == runs.front().segment ? partition.watch.passed_bytes : 0;
  }
  return bytes;
}

// Whole runs at once: the newest batch of each has expired, or all of it is too much.
void RetentionScan::skip_runs(Look& look, std::span<const BatchCursor::Run> runs) const {
  const auto& rules = look.rules;
  const auto& watch = look.partition.watch;
  for (const auto& run : runs) {
    if (!run.is_whole || run.end > look.visible_end) {
      return;
    }
    auto run_bytes = run.batch_bytes;
    if (rules.retention_bytes >= 0 && run.first_offset < look.start) {
      if (look.partition.was_truncated() || watch.passed_in != run.segment) {
        return;
      }
      run_bytes -= watch.passed_bytes;
    }
    const auto newest = std::max(run.max_timestamp, run.newest_append_ms);
    const bool is_known = run.newest_append_ms >= 0 && !counts_from_append(newest, now_);
    const bool is_old = is_known && is_older(newest, rules.retention_ms, now_);
    if (!is_old && !is_too_much(look.bytes, run_bytes, rules.retention_bytes)) {
      return;
    }
    look.start = run.end;
    look.bytes -= run_bytes;
  }
}

// No batch is newer than the newest of its segment, so most need no look at their entry. An entry that cannot be read
// is taken for the newest.
Millis RetentionScan::counted_from(const Look& look) const {
  const auto stamp = look.cursor.entry().max_timestamp;
  if (!counts_from_append(stamp, now_)) {
    return stamp;
  }
  const auto newest = look.cursor.newest_append_ms();
  if (newest >= 0 && is_older(newest, look.rules.retention_ms, now_)) {
    return newest;
  }
  const auto appended = reader_.append_ms(look.partition, look.cursor);
  return appended ? *appended : newest < 0 ? now_ : std::min(newest, now_);
}

Result<void> RetentionScan::skip_batches(Look& look) const {
  WEIR_TRY(bool found, look.cursor.seek(look.start));
  while (found && look.cursor.end() <= look.visible_end) {
    const std::int64_t bytes = look.cursor.entry().size;
    const auto from = look.rules.retention_ms >= 0 ? counted_from(look) : now_;
    if (!is_older(from, look.rules.retention_ms, now_) && !is_too_much(look.bytes, bytes, look.rules.retention_bytes)) {
      look.due_ms = older_from(from, look.rules.retention_ms);
      if (const auto stamp = look.cursor.entry().max_timestamp; stamp >= 0 && counts_from_append(stamp, now_)) {
        look.due_ms = std::min(look.due_ms, stamp - kStampAheadMax);  // from then on the stamp counts
      }
      look.head_bytes = bytes;
      return {};
    }
    look.start = look.cursor.end();
    look.bytes -= bytes;
    WEIR_TRY(found, look.cursor.next());
  }
  return {};
}

Result<Offset> RetentionScan::wanted_start(LogPartition& partition) const {
  const auto start = partition.log_start();
  const auto visible_end = partition.high_watermark();  // first, so that the indexes taken below cover it
  if (partition.memory || start >= visible_end || partition.deleted()) {
    return start;
  }
  const auto rules = partition.rules();
  if (!rules.delete_old || (rules.retention_ms < 0 && rules.retention_bytes < 0) ||
      !can_have_expired(partition, rules, start, now_)) {
    return start;
  }
  const auto appended = partition.appended_bytes();
  const auto truncation_count = partition.truncation_count();
  Look look{.partition = partition,
            .rules = rules,
            .cursor = BatchCursor{segments_, partition},
            .visible_end = visible_end,
            .start = start};
  const auto runs = look.cursor.runs_from(start);
  if (rules.retention_bytes >= 0) {
    WEIR_TRY(look.bytes, size_of(partition, look.cursor, runs, start));
  }
  skip_runs(look, runs);
  WEIR_TRY_VOID(skip_batches(look));
  auto& watch = partition.watch;
  watch.start = look.start;
  watch.retention_ms = rules.retention_ms;
  watch.retention_bytes = rules.retention_bytes;
  watch.truncation_count = truncation_count;
  watch.looked_ms = now_;
  watch.due_ms = look.due_ms;
  watch.due_bytes = rules.retention_bytes < 0
                        ? std::numeric_limits<std::int64_t>::max()
                        : appended + std::max<std::int64_t>(0, rules.retention_bytes - look.bytes + look.head_bytes);
  return look.start;
}

std::int64_t RetentionScan::live_bytes_in(SegmentId id, LogPartition& partition) const {
  for (const auto& index : partition.open_indexes()) {
    if (index->segment->id() != id || index->entries.empty()) {
      continue;
    }
    const auto bytes = index->batch_bytes.load(std::memory_order_relaxed);
    const auto start = partition.log_start();
    if (start <= index->entries.at(0).base_offset) {
      return bytes;
    }
    if (start > index->entries.at(index->entries.size() - 1).last_offset) {
      return 0;
    }
    BatchCursor cursor{segments_, partition};
    if (!pass_to_start(partition.watch, cursor, start) || partition.watch.passed_in != id) {
      return bytes;
    }
    return bytes - partition.watch.passed_bytes;
  }
  return 0;
}

}  // namespace weir::log
