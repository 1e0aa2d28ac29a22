#include "log/retention.hpp"

#include <unordered_map>

namespace weir::log {
namespace {
// Where the batches end that the segment has of the partition, without those that were truncated later.
Offset live_end(const IndexRow& row, const Segment& segment, const TruncationList& truncations) {
  return std::min(row.next_offset, truncations.end_behind(segment.start() + segment.valid_end()));
}
}  // namespace

void Retention::run(Partitions partitions, const LogReader& reader, const MoveStart& move_start, Task done) {
  {
    const std::scoped_lock lock(mutex_);
    done_.push_back(std::move(done));
    if (std::exchange(is_running_, true)) {
      return;
    }
  }
  // Counts the moves under way, and one for this loop; whoever ends the last goes on.
  const auto all = partitions();
  auto left = std::make_shared<std::atomic<std::size_t>>(1);
  const auto one_is_done = [this, partitions = std::move(partitions), left] {
    if (left->fetch_sub(1, std::memory_order_acq_rel) == 1) {
      drop(partitions);
    }
  };
  for (const auto& partition : all) {
    const auto start = wanted_start(*partition, reader);
    if (start > partition->log_start()) {
      left->fetch_add(1, std::memory_order_relaxed);
      move_start(partition, start, [one_is_done](const Result<Offset>&) { one_is_done(); });
    }
  }
  one_is_done();
}

// Whole runs only: the records of a partition in one sealed segment go together, as in Kafka those of one file.
Offset Retention::wanted_start(const LogPartition& partition, const LogReader& reader) const {
  const auto rules = partition.rules();
  auto start = partition.log_start();
  if (partition.memory || !rules.delete_old || (rules.retention_ms < 0 && rules.retention_bytes < 0)) {
    return start;
  }
  const auto now = clock_.wall_ms();
  const auto size = reader.size_bytes(partition);
  auto bytes = size ? *size : 0;
  const auto version = segments_.current();
  const auto truncations = partition.truncations();
  for (const auto& member : version->members) {
    if (!member.index) {
      break;
    }
    const auto row = member.index->find(partition.local());
    const auto next_offset = row ? live_end(*row, *member.segment, truncations) : start;
    if (!row || row->entry_count == 0 || next_offset <= start) {
      continue;
    }
    // A stamp in the future must not keep records for ever, so the time of the append bounds it.
    const auto newest =
        row->newest_append_ms < 0 ? row->max_timestamp : std::min(row->max_timestamp, row->newest_append_ms);
    const bool is_old = rules.retention_ms >= 0 && newest < now - rules.retention_ms;
    const bool is_too_much = rules.retention_bytes >= 0 && bytes - row->batch_bytes >= rules.retention_bytes;
    if ((!is_old && !is_too_much) || next_offset > partition.high_watermark()) {
      break;
    }
    start = next_offset;
    bytes -= row->batch_bytes;
  }
  return start;
}

void Retention::drop(const Partitions& partitions) {
  // The version before the partitions: one that was made while the starts moved may have batches in it already.
  const auto version = segments_.current();
  const auto all = partitions();
  std::unordered_map<LocalPartition, const LogPartition*> alive;
  for (const auto& partition : all) {
    if (!partition->deleted()) {
      alive.emplace(partition->local(), partition.get());
    }
  }
  std::vector<SegmentId> unneeded;
  for (std::size_t number = 0; number + 1 < version->members.size(); ++number) {
    const auto& member = version->members[number];
    if (!member.index || !version->members[number + 1].index) {
      break;  // not sealed, or the newest that is
    }
    bool is_needed = false;
    for (std::size_t at = 0; at < member.index->row_count() && !is_needed; ++at) {
      const auto row = member.index->row(at);
      const auto found = row.entry_count > 0 ? alive.find(row.local) : alive.end();
      // Also for what was truncated later: the next segment begins with a state that knows its producers.
      is_needed = found != alive.end() && row.next_offset > found->second->log_start();
    }
    if (!is_needed) {
      unneeded.push_back(member.segment->id());
    }
  }
  if (unneeded.empty()) {
    finish();
    return;
  }
  keeper_.remove(std::move(unneeded), [this] { finish(); });
}

void Retention::finish() {
  std::vector<Task> done;
  {
    const std::scoped_lock lock(mutex_);
    is_running_ = false;
    done.swap(done_);
  }
  for (auto& task : done) {
    task();
  }
}

}  // namespace weir::log
