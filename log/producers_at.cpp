#include "log/producers_at.hpp"

#include <limits>

#include "log/batch_cursor.hpp"
#include "log/index_rebuild.hpp"

namespace weir::log {
namespace {

constexpr std::size_t kHeadersSize = kEntryHeaderSize + kBatchSizeMin;

struct Known {
  ProducerTable producers;
  Offset end{0};  // as of which log end
};

Result<Known> at_end_of(const IndexFile& index, const IndexRow& row) {
  Known known{.producers = {}, .end = row.next_offset};
  WEIR_TRY(const auto items, index.state(row));
  StateItemReader reader{items};
  for (;;) {
    WEIR_TRY(const auto item, reader.next());
    if (!item) {
      return known;
    }
    if (const auto* producers = std::get_if<ProducersItem>(&*item)) {
      WEIR_TRY_VOID(known.producers.merge(producers->snapshot));
    }
  }
}

// nullopt: the state that the sealed segment begins with does not know the partition, which was made later.
Result<std::optional<Known>> at_begin_of(const std::shared_ptr<Segment>& segment, LocalPartition local) {
  Replay replay;
  replay.begin_segment(segment);
  SegmentScan scan{segment->file(), segment->seed(), static_cast<std::int64_t>(kSegmentHeaderSize),
                   std::numeric_limits<std::uint32_t>::max()};
  WEIR_TRY_VOID(apply_first_state(scan, replay));
  const auto found = replay.live().find(local);
  if (found == replay.live().end()) {
    return std::optional<Known>{};
  }
  return std::optional{Known{std::move(found->second->role.producers), found->second->log_end()}};
}

// The newest state that has nothing of what reaches to `end` or was truncated later: the one where a sealed segment
// ends, or, if that segment was removed, where the next one begins. If such a place has no state of use the batches
// from the log start on have to tell alone: an older state would lack what was removed.
Result<Known> newest_known(const BatchCursor& cursor, const LogPartition& partition, Offset end) {
  const auto& members = cursor.version().members;
  for (auto number = members.size(); number > 0; --number) {
    const auto& [segment, index] = members[number - 1];
    if (!index) {
      continue;  // the newest sealed one is never removed
    }
    const auto row = index->find(partition.local());
    const auto live = cursor.truncations().end_behind(segment->start() + segment->valid_end());
    if (row && row->next_offset <= std::min(end, live)) {
      return at_end_of(*index, *row);
    }
    if (number > 1 && is_next(*segment, *members[number - 2].segment)) {
      continue;
    }
    WEIR_TRY(auto known, at_begin_of(segment, partition.local()));
    if (!known) {
      break;
    }
    const bool is_of_use = known->end <= std::min(end, cursor.truncations().end_behind(segment->start()));
    return is_of_use ? std::move(*known) : Known{.producers = {}, .end = partition.log_start()};
  }
  return Known{};
}

// The header of the entry at the cursor and that of its batch. False: the file has less.
Result<bool> read_headers(const Image& image, const BatchCursor& cursor, MutableBytes into) {
  const auto header_size = static_cast<std::int64_t>(kEntryHeaderSize);
  if (ImageReader{image}.copy(cursor.position() - header_size, into)) {
    return true;
  }
  WEIR_TRY(const auto count, cursor.segment()->file().read_at(cursor.entry().position - header_size, into));
  return count == into.size();
}

}  // namespace

Result<ProducerTable> producers_at(const SegmentList& list, const Image& image, const LogPartition& partition,
                                   Offset end) {
  BatchCursor cursor{list, partition};
  WEIR_TRY(auto known, newest_known(cursor, partition, end));
  WEIR_TRY(bool found, cursor.seek(known.end));
  while (found && cursor.end() <= end) {
    std::array<std::byte, kHeadersSize> headers;
    WEIR_TRY(const bool is_whole, read_headers(image, cursor, headers));
    const auto header = decode_entry_header(headers, cursor.segment()->seed(),
                                            cursor.entry().position - static_cast<std::int64_t>(kEntryHeaderSize));
    if (is_whole && header) {
      known.producers.apply(
          protocol::RecordBatchView::facts_of_header(Bytes{headers}.subspan(kEntryHeaderSize), header->size),
          cursor.entry().base_offset, header->append_ms);
    }
    WEIR_TRY(found, cursor.next());
  }
  return std::move(known.producers);
}

}  // namespace weir::log
