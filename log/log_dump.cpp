#include "log/log_dump.hpp"

#include "log/dump_line.hpp"
#include "log/index_layout.hpp"
#include "log/state_entry.hpp"
#include "protocol/record_batch.hpp"

namespace weir::log {
namespace {

Result<SharedBytes> map_file(Disk& disk, const std::string& path) {
  WEIR_TRY(const auto file, disk.open(path, {.read_only = true}));
  return file->map();
}

void add_batch(DumpLine& line, const protocol::RecordBatchView& batch) {
  line.add("base", batch.base_offset()).add("last", batch.last_offset()).add("records", batch.record_count());
  line.add("epoch", batch.leader_epoch()).add("max_timestamp", batch.max_timestamp());
  if (batch.has_producer()) {
    line.add("producer", batch.producer_id()).add("producer_epoch", batch.producer_epoch());
    line.add("sequence", batch.base_sequence());
  }
  line.add("codec", batch.attributes() & protocol::kCodecMask);
  line.add_flag("transactional", batch.is_transactional()).add_flag("control", batch.is_control());
  line.add("crc", batch.crc_ok() ? "ok" : "bad");
}

void add_batches(DumpLine& line, Bytes payload) {
  const auto first = protocol::RecordBatchView::parse(payload);
  if (!first) {
    line.add("batch", "bad");
    return;
  }
  add_batch(line, *first);
  if (first->size() < payload.size()) {
    line.add("more_bytes", payload.size() - first->size());  // a run: its other batches
  }
}

template <class Item>
void add_item(DumpLine& line, const Item& item) {
  if constexpr (std::is_same_v<Item, NodeState>) {
    line.add("item", "node").add("next_local", item.next_local.value);
  } else if constexpr (std::is_same_v<Item, PartitionState>) {
    line.add("item", "partition").add("partition", item.local.value).add("topic_id", item.key.topic_id);
    line.add("index", item.key.index).add("start", item.log_start.value).add("end", item.log_end.value);
    line.add("durable_end", item.durable_end.value).add("hw", item.high_watermark.value);
    line.add("reserved_end", item.reserved_end.value).add("record_count", item.record_count);
    line.add("epoch", item.leader_epoch.value).add("epochs", item.epochs.entries().size());
  } else if constexpr (std::is_same_v<Item, ProducersItem>) {
    ProducerTable table;
    const bool sound = table.merge(item.snapshot).has_value();
    line.add("item", "producers").add("partition", item.local.value);
    line.add("producers", table.size()).add_flag("bad", !sound);
  } else {
    line.add("item", "index").add("partition", item.local.value).add("entries", item.count());
  }
}

// One line an item, each told apart from the line above it by its `item`.
void dump_items(Bytes items, bool json, const LineSink& sink) {
  StateItemReader reader{items};
  auto item = reader.next();
  for (; item && *item; item = reader.next()) {
    DumpLine line{json};
    std::visit([&line](const auto& one) { add_item(line, one); }, **item);
    sink(line.finish());
  }
  if (!item) {
    sink(DumpLine{json}.add("item", "bad").add("error", to_string(item.error())).finish());
  }
}

template <class Payload, class Add>
void add_payload(DumpLine& line, Bytes bytes, const Add& add) {
  if (const auto payload = Payload::decode(bytes)) {
    add(*payload);
  } else {
    line.add("payload", "bad");
  }
}

void add_control(DumpLine& line, EntryKind kind, Bytes bytes) {
  switch (kind) {
    case EntryKind::group:
      return add_payload<GroupPayload>(line, bytes, [&](const auto& p) { line.add("synced", p.synced.value); });
    case EntryKind::atomic_group:
      return add_payload<AtomicGroupPayload>(line, bytes,
                                             [&](const auto& p) { line.add("count", p.count).add("bytes", p.bytes); });
    case EntryKind::offsets_reserved:
      return add_payload<OffsetsReservedPayload>(line, bytes, [&](const auto& p) { line.add("end", p.end.value); });
    case EntryKind::partition_created:
      return add_payload<PartitionCreatedPayload>(line, bytes, [&](const auto& p) {
        line.add("topic_id", p.topic_id).add("index", p.index);
        line.add("epoch", p.epoch.value).add("start", p.start.value);
      });
    case EntryKind::start_moved:
      return add_payload<StartMovedPayload>(line, bytes, [&](const auto& p) { line.add("start", p.start.value); });
    case EntryKind::truncated:
      return add_payload<TruncatedPayload>(
          line, bytes, [&](const auto& p) { line.add("end", p.end.value).add("epoch", p.epoch.value); });
    case EntryKind::deleted:
      return add_payload<DeletedPayload>(
          line, bytes, [&](const auto& p) { line.add("topic_id", p.topic_id).add("index", p.index); });
    case EntryKind::epoch_start:
      return add_payload<EpochStartPayload>(
          line, bytes, [&](const auto& p) { line.add("epoch", p.epoch.value).add("start", p.start.value); });
    case EntryKind::state:
      if (const auto chunk = decode_state_chunk(bytes)) {
        line.add("chunk", chunk->number);
      }
      return;
    case EntryKind::batch:
    case EntryKind::run: return add_batches(line, bytes);
    case EntryKind::pad: return;
  }
}

}  // namespace

std::string to_line(const Entry& entry, bool json) {
  const auto& header = entry.header;
  DumpLine line{json};
  line.add("position", entry.position).add("kind", to_string(header.kind)).add("size", header.size);
  if (!is_known(header.kind)) {
    line.add("number", static_cast<int>(header.kind));
  }
  if (header.partition != kNoPartition) {
    line.add("partition", header.partition.value);
  }
  line.add("append_ms", header.append_ms);
  line.add_flag("continued", (header.flags & entry_flags::continued) != 0);
  line.add_flag("member", (header.flags & entry_flags::member) != 0);
  add_control(line, header.kind, entry.payload);
  return line.finish();
}

Result<void> dump_segment(Disk& disk, const std::string& path, const DumpOptions& options, const LineSink& sink) {
  WEIR_TRY(const auto bytes, map_file(disk, path));
  WEIR_TRY(const auto header, decode_segment_header(bytes.view()));
  DumpLine first{options.json};
  first.add("segment", header.id.value).add("role", header.role == SegmentRole::arrival ? "arrival" : "sorted");
  first.add("io", header.io == IoMode::direct ? "direct" : "buffered").add("class", header.retention_class);
  first.add("start", header.start.value).add("created_ms", header.created_ms).add("boot_id", header.boot_id);
  sink(first.finish());
  const auto from = std::max(options.from, static_cast<std::int64_t>(kSegmentHeaderSize));
  const auto aligned = from - from % static_cast<std::int64_t>(kEntryAlignment);
  if (aligned > static_cast<std::int64_t>(bytes.size())) {
    return {Errc::out_of_range, options.from};
  }
  EntryScanner scanner{bytes.view().subspan(static_cast<std::size_t>(aligned)), aligned, header.seed};
  if (options.from > static_cast<std::int64_t>(kSegmentHeaderSize)) {
    // A position in the middle of an entry is where somebody points, not damage.
    auto probe = scanner;
    if (probe.next() == EntryScanner::Step::bad) {
      scanner.resync();
    }
  }
  std::int64_t printed = 0;
  for (auto step = scanner.next(); step != EntryScanner::Step::end; step = scanner.next()) {
    if (options.entries_max >= 0 && printed >= options.entries_max) {
      break;
    }
    if (step == EntryScanner::Step::bad) {
      const auto at = scanner.position();
      const auto why = scanner.error();
      const bool more = scanner.resync();
      DumpLine line{options.json};
      line.add("position", at).add("kind", more ? "damage" : "no_more_entries").add("size", scanner.position() - at);
      sink(line.add("error", to_string(why.code)).finish());
      continue;
    }
    const auto& entry = scanner.entry();
    if (options.partition && entry.header.partition != *options.partition) {
      continue;
    }
    sink(to_line(entry, options.json));
    printed += 1;
    if (const auto chunk = decode_state_chunk(entry.payload); entry.header.kind == EntryKind::state && chunk) {
      dump_items(chunk->items, options.json, sink);
    }
  }
  return {};
}

Result<void> dump_index(Disk& disk, const std::string& path, const DumpOptions& options, const LineSink& sink) {
  WEIR_TRY(const auto bytes, map_file(disk, path));
  WEIR_TRY(const auto header, decode_index_header(bytes.view()));
  DumpLine first{options.json};
  first.add("segment", header.segment.value).add("form", header.form == IndexForm::sealed ? "sealed" : "deltas");
  if (header.form == IndexForm::deltas) {
    sink(first.finish());
    WEIR_TRY(const auto found, read_index_deltas(bytes.view(), header.segment, header.seed));
    for (const auto& delta : found.deltas) {
      sink(
          DumpLine{options.json}.add("from", delta.from).add("to", delta.to).add("bytes", delta.items.size()).finish());
      dump_items(delta.items, options.json, sink);
    }
    return found.damage ? Result<void>{found.damage->code, found.damage->detail} : Result<void>{};
  }
  WEIR_TRY(const auto file, IndexFile::open(bytes, header.segment, header.seed));
  first.add("valid_end", file->facts().valid_end).add("newest_append_ms", file->facts().newest_append_ms);
  sink(first.finish());
  for (std::size_t i = 0; i < file->row_count(); ++i) {
    const auto row = file->row(i);
    if (options.partition && row.local != *options.partition) {
      continue;
    }
    DumpLine line{options.json};
    line.add("partition", row.local.value).add("entries", row.entry_count).add("first", row.first_offset.value);
    line.add("next", row.next_offset.value).add("start", row.log_start.value).add("record_count", row.record_count);
    line.add("batch_bytes", row.batch_bytes).add("max_timestamp", row.max_timestamp);
    line.add("newest_append_ms", row.newest_append_ms);
    sink(line.finish());
    WEIR_TRY(const auto section, file->section(row));
    for (std::size_t n = 0; n < section.size(); ++n) {
      const auto entry = section.at(n);
      DumpLine one{options.json};
      one.add("base", entry.base_offset.value).add("last", entry.last_offset.value).add("position", entry.position);
      sink(one.add("size", entry.size).add("max_timestamp", entry.max_timestamp).finish());
    }
    WEIR_TRY(const auto state, file->state(row));
    dump_items(state, options.json, sink);
  }
  return {};
}

Result<void> dump_manifest(Disk& disk, const std::string& path, const DumpOptions& options, const LineSink& sink) {
  WEIR_TRY(const auto bytes, read_file(disk, path, Manifest::kFileSizeMax));
  WEIR_TRY(const auto content, decode_manifest(bytes));
  const auto& state = content.state;
  DumpLine first{options.json};
  first.add("records", content.records).add("torn_bytes", content.torn_bytes);
  first.add("clean_point", state.clean_point.value).add("next_segment", state.next_segment.value);
  first.add("next_local", state.next_local.value).add("read_only_cause", state.read_only_cause);
  sink(first.finish());
  for (const auto& [id, facts] : state.segments) {
    DumpLine line{options.json};
    line.add("segment", id.value).add("role", facts.role == SegmentRole::arrival ? "arrival" : "sorted");
    line.add("class", facts.retention_class).add("start", facts.start.value);
    line.add_flag("sealed", facts.sealed);
    if (facts.sealed) {
      line.add("valid_end", facts.valid_end).add_flag("index", facts.has_index);
    }
    sink(line.finish());
  }
  for (const auto& [local, start] : state.starts) {
    sink(DumpLine{options.json}.add("partition", local.value).add("start", start.value).finish());
  }
  return {};
}

}  // namespace weir::log
