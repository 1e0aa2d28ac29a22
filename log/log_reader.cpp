#include "log/log_reader.hpp"

#include "log/chain_builder.hpp"
#include "log/entry.hpp"
#include "log/read_ahead.hpp"
#include "protocol/record.hpp"

namespace weir::log {
namespace {
constexpr std::uint32_t kFileRunFrom = 16U << 10U;  // below it sendfile costs more than a copy

// The header of an entry, and the batch that the index says is at the cursor: as they were written, to the last bit.
bool is_sound(const LogPartition& partition, const BatchCursor& cursor, Bytes whole) {
  const auto& entry = cursor.entry();
  const auto bytes = whole.subspan(kEntryHeaderSize);
  const auto at = entry.position - static_cast<std::int64_t>(kEntryHeaderSize);
  const auto header = decode_entry_header(whole, cursor.segment()->seed(), at);
  if (!header || header->kind != EntryKind::batch || header->partition != partition.local() ||
      header->size != bytes.size()) {
    return false;
  }
  const auto batch = protocol::RecordBatchView::parse_whole(bytes);
  return batch && batch->base_offset() == entry.base_offset.value;
}

// Copies a small batch from its file. False: it is damaged, and not in the chain.
Result<bool> append_copy(const LogPartition& partition, const BatchCursor& cursor, CacheReader& cache,
                         ChainBuilder& chain) {
  const auto& entry = cursor.entry();
  const auto size = kEntryHeaderSize + entry.size;
  const auto into = chain.room_for(size, kEntryHeaderSize);
  const auto read = cache.read(*cursor.segment(), entry.position - static_cast<std::int64_t>(kEntryHeaderSize), into);
  if (!read && read.error().code != Errc::corrupt) {
    return read.error();
  }
  if (!read || !is_sound(partition, cursor, into)) {
    chain.take_back(size, kEntryHeaderSize);
    return false;
  }
  return true;
}

// A small batch: as it lies in a block of the cache if it can be, else copied. False: it is damaged, and not in the
// chain.
Result<bool> append_small(const LogPartition& partition, const BatchCursor& cursor, CacheReader& cache,
                          ChainBuilder& chain) {
  const auto& entry = cursor.entry();
  const auto at = entry.position - static_cast<std::int64_t>(kEntryHeaderSize);
  WEIR_TRY(const auto found, cache.look(*cursor.segment(), at, kEntryHeaderSize + entry.size));
  if (found.empty()) {
    return append_copy(partition, cursor, cache, chain);
  }
  if (!cache.is_checked(at)) {
    if (!is_sound(partition, cursor, found)) {
      return false;
    }
    cache.set_checked(at);
  }
  const auto batch = found.subspan(kEntryHeaderSize);
  if (entry.size >= kHoldFrom) {
    if (const auto& hold = cache.hold()) {
      chain.append(batch, hold);
      return true;
    }
  }
  std::ranges::copy(batch, chain.room_for(entry.size).begin());
  return true;
}

// The header and the batch at the cursor; nullopt: damaged.
Result<std::optional<std::vector<std::byte>>> read_whole(const LogPartition& partition, const BatchCursor& cursor) {
  const auto& entry = cursor.entry();
  std::vector<std::byte> bytes(kEntryHeaderSize + entry.size);
  WEIR_TRY(const auto count,
           cursor.segment()->file().read_at(entry.position - static_cast<std::int64_t>(kEntryHeaderSize), bytes));
  if (count < bytes.size() || !is_sound(partition, cursor, bytes)) {
    return std::optional<std::vector<std::byte>>{};
  }
  return std::optional{std::move(bytes)};
}

// Sends a larger batch from its file as it is, once it was checked. False: it is damaged.
Result<bool> append_run(const LogPartition& partition, const BatchCursor& cursor, ChainBuilder& chain) {
  const auto& segment = cursor.segment();
  const auto& entry = cursor.entry();
  if (!segment->is_checked(entry.position)) {
    WEIR_TRY(const auto bytes, read_whole(partition, cursor));
    if (!bytes) {
      return false;
    }
    segment->set_checked(entry.position);
  }
  chain.append(FileRun{segment->file().handle(), entry.position, entry.size, segment});
  return true;
}
}  // namespace

Result<ReadOutcome> LogReader::read(const LogPartition& partition, Offset from, const ReadLimits& limits,
                                    ReadFrom mode) const {
  if (from < partition.log_start() || from > std::max(limits.bound, partition.log_end())) {
    return {Errc::out_of_range, from.value};
  }
  ReadOutcome outcome;
  if (from >= limits.bound) {
    return outcome;
  }
  BatchCursor cursor{list_, partition};
  ChainBuilder chain;
  ImageReader image{image_};
  CacheReader cache{cache_};
  ReadAhead ahead{image_, limits.bytes_max};
  std::vector<SharedBytes> held;
  std::size_t total = 0;
  WEIR_TRY(bool found, cursor.seek(from));
  while (found && cursor.end() <= limits.bound) {
    const auto& entry = cursor.entry();
    if (total + entry.size > limits.bytes_max && !(total == 0 && limits.first_batch_whole)) {
      break;
    }
    bool is_in_image = false;
    if (entry.size < kHoldFrom || image_.is_overdrawn()) {
      is_in_image = image.copy(cursor.position(), chain.room_for(entry.size));
      if (!is_in_image) {
        chain.take_back(entry.size);
      }
    } else if (image.hold(cursor.position(), entry.size, held)) {
      is_in_image = true;
      for (const auto& piece : held) {
        chain.append(piece.view(), piece.owner());
      }
      held.clear();
    }
    if (!is_in_image) {
      if (mode == ReadFrom::memory_only) {
        outcome.needs_disk = total == 0;
        break;
      }
      const bool is_run = entry.size >= kFileRunFrom && !limits.in_memory && cursor.segment()->file().handle() >= 0;
      const auto at = entry.position - static_cast<std::int64_t>(kEntryHeaderSize);
      if (is_run || !cache.has(*cursor.segment(), at)) {  // what was sent once may have left the page cache
        ahead.wants(cursor);
      }
      WEIR_TRY(const bool is_whole,
               is_run ? append_run(partition, cursor, chain) : append_small(partition, cursor, cache, chain));
      if (!is_whole) {
        damage_.found(partition, cursor);
        WEIR_TRY(found, cursor.next());
        continue;
      }
    }
    total += entry.size;
    ++outcome.batch_count;
    WEIR_TRY(found, cursor.next());
  }
  outcome.batches = chain.finish();
  return outcome;
}

Result<std::optional<std::vector<std::byte>>> LogReader::batch_bytes(const LogPartition& partition,
                                                                     const BatchCursor& cursor) const {
  std::vector<std::byte> bytes(cursor.entry().size);
  if (ImageReader{image_}.copy(cursor.position(), bytes)) {
    return std::optional{std::move(bytes)};
  }
  WEIR_TRY(auto whole, read_whole(partition, cursor));
  if (!whole) {
    damage_.found(partition, cursor);
    return std::optional<std::vector<std::byte>>{};
  }
  whole->erase(whole->begin(), whole->begin() + kEntryHeaderSize);
  return whole;
}

Result<std::optional<TimestampAndOffset>> LogReader::find_by_time(const LogPartition& partition, Millis timestamp,
                                                                  Offset bound) const {
  const auto start = partition.log_start();
  BatchCursor cursor{list_, partition};
  WEIR_TRY(bool found, cursor.seek(start));
  while (found) {
    WEIR_TRY(found, cursor.skip_to_time(timestamp));
    if (!found || cursor.entry().base_offset >= bound) {
      break;
    }
    WEIR_TRY(const auto bytes, batch_bytes(partition, cursor));
    if (!bytes) {
      WEIR_TRY(found, cursor.next());
      continue;
    }
    WEIR_TRY(const auto batch, protocol::RecordBatchView::parse(*bytes));
    protocol::RecordReader records{batch, protocol::kExpansionMax};
    for (;;) {
      WEIR_TRY(const auto record, records.next());
      if (!record) {
        break;
      }
      const auto offset = records.offset_of(*record);
      if (offset >= start && offset < bound && records.timestamp_of(*record) >= timestamp) {
        return std::optional{
            TimestampAndOffset{records.timestamp_of(*record), offset, LeaderEpoch{batch.leader_epoch()}}};
      }
    }
    WEIR_TRY(found, cursor.next());  // its newest record lies below the start
  }
  return std::optional<TimestampAndOffset>{};
}

Result<std::optional<TimestampAndOffset>> LogReader::find_max_timestamp(const LogPartition& partition,
                                                                        Offset bound) const {
  const auto start = partition.log_start();
  BatchCursor cursor{list_, partition};
  Millis largest = protocol::kNoTimestamp;
  WEIR_TRY(bool found, cursor.seek(start));
  while (found && cursor.entry().base_offset < bound) {
    if (cursor.is_sealed() && cursor.row().max_timestamp <= largest) {
      WEIR_TRY(found, cursor.next_segment());
      continue;
    }
    largest = std::max(largest, cursor.entry().max_timestamp);
    WEIR_TRY(found, cursor.next());
  }
  if (largest == protocol::kNoTimestamp) {
    return std::optional<TimestampAndOffset>{};
  }
  return find_by_time(partition, largest, bound);
}

Result<std::int64_t> LogReader::records_between(const LogPartition& partition, Offset from, Offset to) const {
  const auto end = std::min(to, partition.high_watermark());  // first, so that the indexes taken below cover it
  return BatchCursor{list_, partition}.count(std::max(from, partition.log_start()), end);
}

Result<Millis> LogReader::append_ms(const LogPartition& partition, const BatchCursor& cursor) const {
  const auto at = cursor.entry().position - static_cast<std::int64_t>(kEntryHeaderSize);
  std::array<std::byte, kEntryHeaderSize + kBatchPrefixSize> bytes{};
  if (!ImageReader{image_}.copy(cursor.segment()->start() + at, bytes)) {
    WEIR_TRY(const auto count, cursor.segment()->file().read_at(at, bytes));
    if (count < bytes.size()) {
      return {Errc::truncated, at};
    }
  }
  WEIR_TRY(const auto header, decode_entry_header(bytes, cursor.segment()->seed(), at));
  if (header.kind != EntryKind::batch || header.partition != partition.local()) {
    return {Errc::corrupt, at};
  }
  return header.append_ms;
}

Result<std::int64_t> LogReader::size_bytes(const LogPartition& partition) const {
  BatchCursor cursor{list_, partition};
  std::int64_t total = 0;
  WEIR_TRY(bool found, cursor.seek(partition.log_start()));
  while (found) {
    if (cursor.is_sealed() && cursor.is_whole() && cursor.entry().base_offset == cursor.row().first_offset) {
      total += cursor.row().batch_bytes;
      WEIR_TRY(found, cursor.next_segment());
      continue;
    }
    total += cursor.entry().size;
    WEIR_TRY(found, cursor.next());
  }
  return total;
}

}  // namespace weir::log
