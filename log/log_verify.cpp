// The verifying half of log/log_dump.hpp.
#include <map>

#include "base/count_of.hpp"
#include "log/index_layout.hpp"
#include "log/log_dump.hpp"
#include "log/state_entry.hpp"
#include "protocol/record_batch.hpp"

namespace weir::log {
namespace {

class SegmentVerifier {
 public:
  SegmentVerifier(Disk& disk, const std::string& path, const LineSink& sink) : disk_(disk), path_(path), sink_(sink) {}

  Result<VerifyReport> run(std::int64_t valid_end, std::int64_t reserved_end) {
    WEIR_TRY(const auto file, disk_.open(path_, {.read_only = true}));
    WEIR_TRY(const auto bytes, file->map());
    const auto header = decode_segment_header(bytes.view());
    if (!header) {
      problem("segment header: " + to_string(header.error()));
      return report_;
    }
    const auto size = static_cast<std::int64_t>(bytes.size());
    if (valid_end > size || (valid_end >= 0 && valid_end < static_cast<std::int64_t>(kSegmentHeaderSize))) {
      problem("the manifest says it ends at " + std::to_string(valid_end) + ", the file has " + std::to_string(size));
      valid_end = size;
    }
    const bool sealed = valid_end >= 0;
    is_longer_ = reserved_end > 0;
    const auto end = static_cast<std::size_t>(sealed ? valid_end : is_longer_ ? std::min(reserved_end, size) : size);
    scan({bytes.view().first(end).subspan(kSegmentHeaderSize), kSegmentHeaderSize, header->seed}, sealed);
    check_index(*header, valid_end);
    return report_;
  }

 private:
  void problem(const std::string& text) {
    report_.problems += 1;
    sink_(path_ + ": " + text);
  }
  void problem_at(std::int64_t position, const std::string& text) {
    problem("position " + std::to_string(position) + ": " + text);
  }

  void scan(EntryScanner scanner, bool sealed) {
    for (auto step = scanner.next(); step != EntryScanner::Step::end; step = scanner.next()) {
      if (step == EntryScanner::Step::entry) {
        report_.entries += 1;
        report_.bytes += scanner.entry().end() - scanner.entry().position;
        check(scanner);
        end_ = scanner.position();
        continue;
      }
      const auto from = scanner.position();
      const auto why = scanner.error();
      const bool more = scanner.resync();
      if (more || sealed) {
        problem_at(from, count_of(scanner.position() - from, "byte is", "bytes are") +
                             " no entry: " + std::string(to_string(why.code)));
      } else if (!is_longer_) {
        report_.torn_bytes = scanner.position() - from;
      }
    }
  }

  void check(const EntryScanner& scanner) {
    const auto& entry = scanner.entry();
    const bool member = (entry.header.flags & entry_flags::member) != 0;
    if (member && entry.position >= atomic_end_) {
      problem_at(entry.position, "a member of an atomic group that is not whole");
      return;
    }
    switch (entry.header.kind) {
      case EntryKind::batch: check_batch(entry, entry.payload, true); break;
      case EntryKind::run: check_run(entry); break;
      case EntryKind::atomic_group:
        if (scanner.atomic_group_is_whole()) {
          atomic_end_ = entry.end() + AtomicGroupPayload::decode(entry.payload)->bytes;
        } else {
          problem_at(entry.position, "an atomic group that is not whole");
        }
        break;
      case EntryKind::state: check_state(entry); break;
      case EntryKind::truncated:
        if (const auto payload = TruncatedPayload::decode(entry.payload)) {
          auto& batches = batches_[entry.header.partition];
          while (!batches.empty() && batches.back().last_offset >= payload->end) {
            batches.pop_back();
          }
        }
        break;
      case EntryKind::deleted: batches_.erase(entry.header.partition); break;
      default: break;
    }
  }

  void check_batch(const Entry& entry, Bytes bytes, bool alone) {
    report_.batches += 1;
    const auto batch = protocol::RecordBatchView::parse(bytes);
    if (!batch || (alone && batch->size() != bytes.size())) {
      problem_at(entry.position, "its batch has a wrong frame");
      return;
    }
    if (!batch->crc_ok()) {
      problem_at(entry.position, "partition " + std::to_string(entry.header.partition.value) + ", offsets " +
                                     std::to_string(batch->base_offset()) + " to " +
                                     std::to_string(batch->last_offset()) + ": a batch with a wrong CRC");
    }
    const auto facts = batch->facts();
    report_.records += facts.record_count;
    const IndexEntry found{
        Offset{facts.base_offset}, Offset{facts.last_offset()},
        entry.position + (bytes.data() - entry.payload.data()) + static_cast<std::int64_t>(kEntryHeaderSize),
        facts.size_bytes, facts.max_timestamp};
    auto& batches = batches_[entry.header.partition];
    if (found.last_offset < found.base_offset ||
        (!batches.empty() && found.base_offset <= batches.back().last_offset)) {
      problem_at(entry.position, "partition " + std::to_string(entry.header.partition.value) + ": offset " +
                                     std::to_string(facts.base_offset) + " does not follow the one before");
      return;
    }
    batches.push_back(found);
  }

  void check_run(const Entry& entry) {
    for (auto rest = entry.payload; !rest.empty();) {
      check_batch(entry, rest, false);
      const auto batch = protocol::RecordBatchView::parse(rest);
      rest = rest.subspan(batch ? batch->size() : rest.size());
    }
  }

  void check_state(const Entry& entry) {
    const auto chunk = decode_state_chunk(entry.payload);
    StateItemReader reader{chunk ? chunk->items : Bytes{}};
    auto item = reader.next();
    while (item && *item) {
      item = reader.next();
    }
    if (!chunk || !item) {
      problem_at(entry.position, "its state items cannot be read");
    }
  }

  void check_index(const SegmentHeader& header, std::int64_t valid_end) {
    const auto index_path = path_.substr(0, path_.rfind('.')) + ".index";
    if (!disk_.exists(index_path)) {
      return;
    }
    const auto bytes = read_mapped(index_path);
    const auto form = bytes ? decode_index_header(bytes->view(), header.id, header.seed) : bytes.error();
    if (!form) {
      problem("its index file: " + to_string(form.error()));
    } else if (*form == IndexForm::deltas) {
      check_deltas(*bytes, header);
    } else {
      check_sealed_index(*bytes, header, valid_end);
    }
  }

  Result<SharedBytes> read_mapped(const std::string& path) {
    WEIR_TRY(const auto file, disk_.open(path, {.read_only = true}));
    return file->map();
  }

  bool is_there(LocalPartition local, const IndexEntry& entry) const {
    const auto found = batches_.find(local);
    if (found == batches_.end()) {
      return false;
    }
    const auto at = std::ranges::lower_bound(found->second, entry.base_offset, {}, &IndexEntry::base_offset);
    return at != found->second.end() && *at == entry;
  }

  // Deltas are a help for a start, so a torn last one is no problem; one that names a batch that is not there is.
  void check_deltas(const SharedBytes& bytes, const SegmentHeader& header) {
    const auto found = read_index_deltas(bytes.view(), header.id, header.seed);
    if (!found || (found->damage && found->damage->code != Errc::truncated)) {
      problem("its index deltas are damaged: " + to_string(found ? *found->damage : found.error()));
      return;
    }
    if (found->covered_end() > end_) {
      problem("its index deltas cover more than it has");
    }
  }

  void check_sealed_index(const SharedBytes& bytes, const SegmentHeader& header, std::int64_t valid_end) {
    const auto index = IndexFile::open(bytes, header.id, header.seed);
    if (!index) {
      problem("its index file: " + to_string(index.error()));
      return;
    }
    if (valid_end >= 0 && (*index)->facts().valid_end != valid_end) {
      problem("its index file covers it up to " + std::to_string((*index)->facts().valid_end) + ", not to its end");
    }
    for (std::size_t i = 0; i < (*index)->row_count(); ++i) {
      check_row(**index, (*index)->row(i));
    }
  }

  void check_row(const IndexFile& index, const IndexRow& row) {
    const auto name = "its index, partition " + std::to_string(row.local.value) + ": ";
    const auto section = index.section(row);
    if (!section) {
      return problem(name + to_string(section.error()));
    }
    std::size_t live = 0;  // batches here that reach above the log start: the index must have all of them
    if (const auto found = batches_.find(row.local); found != batches_.end()) {
      live = static_cast<std::size_t>(std::ranges::count_if(
          found->second, [&](const IndexEntry& entry) { return entry.last_offset >= row.log_start; }));
    }
    std::size_t named = 0;
    for (std::size_t i = 0; i < section->size(); ++i) {
      const auto entry = section->at(i);
      named += entry.last_offset >= row.log_start ? 1U : 0U;
      if (!is_there(row.local, entry)) {
        problem(name + "offset " + std::to_string(entry.base_offset.value) + " is not where it says");
      }
    }
    if (named < live) {
      problem(name + "it names " + std::to_string(named) + " of " +
              count_of(static_cast<std::int64_t>(live), "batch", "batches"));
    }
    if (!index.state(row)) {
      problem(name + "its state items are damaged");
    }
  }

  Disk& disk_;
  const std::string path_;
  const LineSink& sink_;
  VerifyReport report_;
  std::map<LocalPartition, std::vector<IndexEntry>> batches_;
  bool is_longer_ = false;                                            // the file is longer than what was written to it
  std::int64_t atomic_end_ = 0;                                       // end of the last whole atomic group
  std::int64_t end_ = static_cast<std::int64_t>(kSegmentHeaderSize);  // of the last sound entry
};

}  // namespace

void VerifyReport::add(const VerifyReport& other) {
  entries += other.entries;
  batches += other.batches;
  records += other.records;
  bytes += other.bytes;
  problems += other.problems;
  torn_bytes += other.torn_bytes;
}

Result<VerifyReport> verify_segment(Disk& disk, const std::string& path, std::int64_t valid_end,
                                    std::int64_t reserved_end, const LineSink& sink) {
  return SegmentVerifier{disk, path, sink}.run(valid_end, reserved_end);
}

Result<VerifyReport> verify_folder(Disk& disk, const std::string& folder, const LineSink& sink) {
  const auto path = folder + "/manifest";
  WEIR_TRY(const auto bytes, read_file(disk, path, Manifest::kFileSizeMax));
  VerifyReport total;
  const auto content = decode_manifest(bytes);
  if (!content) {
    sink(path + ": " + to_string(content.error()));
    total.problems = 1;
    return total;
  }
  total.torn_bytes = content->torn_bytes;
  for (const auto& [id, facts] : content->state.segments) {
    const auto segment = folder + "/commitlog/" + segment_file_name(id);
    const auto index = folder + "/commitlog/" + index_file_name(id);
    if (!disk.exists(segment)) {
      sink(segment + ": the manifest names it, but it is not there");
      total.problems += 1;
      continue;
    }
    WEIR_TRY(const auto report,
             verify_segment(disk, segment, facts.sealed ? facts.valid_end : -1, facts.reserved_end, sink));
    total.add(report);
    if (facts.has_index && !disk.exists(index)) {
      sink(index + ": the manifest names it, but it is not there");
      total.problems += 1;
    }
  }
  return total;
}

}  // namespace weir::log
