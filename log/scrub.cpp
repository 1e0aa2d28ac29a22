#include "log/scrub.hpp"

#include "base/logging.hpp"
#include "log/state_entry.hpp"

namespace weir::log {
namespace {

// Whose state it is; the row itself only has the number on this node.
std::optional<PartitionKey> key_of(const IndexFile& index, const IndexRow& row) {
  const auto items = index.state(row);
  if (!items) {
    return std::nullopt;
  }
  StateItemReader reader{*items};
  for (;;) {
    const auto item = reader.next();
    if (!item || !*item) {
      return std::nullopt;
    }
    if (const auto* state = std::get_if<PartitionState>(&**item)) {
      return state->key;
    }
  }
}

enum class Soundness : std::uint8_t { sound, damaged, cannot_be_told_now };

// The file as it is now, not as it was mapped.
Soundness look_at_index(Disk& disk, const Segment& segment) {
  const auto index = IndexFile::open(disk, segment.index_path(), segment.id(), segment.seed());
  if (!index) {
    return is_shortage(index.error()) ? Soundness::cannot_be_told_now : Soundness::damaged;
  }
  for (std::size_t number = 0; number < (*index)->row_count(); ++number) {
    const auto row = (*index)->row(number);
    if (!(*index)->section(row) || !(*index)->state(row)) {
      return Soundness::damaged;
    }
  }
  return Soundness::sound;
}

}  // namespace

bool Scrub::turn() {
  if (scan_ && !is_still_there()) {
    scan_.reset();
    member_ = {};
  }
  if (!scan_ && !begin_segment()) {
    return false;
  }
  const auto from = scan_->position();
  read_on(from + pace_.bytes_per_turn);
  if (!scan_) {
    return false;
  }
  if (metrics_ != nullptr) {
    metrics_->log_scrubbed_bytes.add(static_cast<std::uint64_t>(scan_->position() - from));
  }
  return scan_->position() >= member_.segment->valid_end() && end_segment();
}

bool Scrub::begin_segment() {
  if (clock_.monotonic_ms() < rests_until_) {
    return false;
  }
  const auto version = list_.current();
  for (const auto& member : version->members) {
    if (member.index && member.segment->id() > last_) {
      auto file = DeviceFile::open(disk_, member.segment->path());
      if (!file && is_shortage(file.error())) {
        return false;  // of descriptors, say: that tells nothing about the file, and the next turn tries it again
      }
      last_ = member.segment->id();
      member_ = member;
      if (!file) {
        give_up(file.error());
        return false;
      }
      file_ = std::move(*file);
      scan_.emplace(*file_, member.segment->seed(), static_cast<std::int64_t>(kSegmentHeaderSize),
                    member.segment->valid_end());
      return true;
    }
  }
  last_ = SegmentId{0};
  rests_until_ = clock_.monotonic_ms() + pace_.rest_ms;
  return false;
}

void Scrub::read_on(std::int64_t end) {
  while (scan_->position() < end) {
    const auto from = scan_->position();
    auto step = scan_->next();
    if (step && *step == SegmentScan::Step::end) {
      return;
    }
    if (step && *step == SegmentScan::Step::bad) {
      if (const auto skipped = scan_->skip(); !skipped) {
        step = skipped.error();
      } else {
        report_range(from, scan_->position());
      }
    }
    if (!step) {
      if (!is_shortage(step.error())) {
        give_up(step.error());
      }
      return;
    }
  }
}

// True: its index file has to be made again.
bool Scrub::end_segment() {
  const auto soundness = look_at_index(disk_, *member_.segment);
  if (soundness == Soundness::cannot_be_told_now) {
    return false;
  }
  const bool is_good = soundness == Soundness::sound;
  if (!is_good) {
    WEIR_LOG(error, "commitlog: {} is damaged: it is made again from its segment", member_.segment->index_path());
    member_.index->set_damaged();
  }
  scan_.reset();
  file_.reset();
  member_ = {};
  return !is_good;
}

void Scrub::report_range(std::int64_t from, std::int64_t to) {
  const auto& index = *member_.index;
  bool named = false;
  for (std::size_t number = 0; number < index.row_count(); ++number) {
    const auto row = index.row(number);
    const auto section = index.section(row);
    const auto key = key_of(index, row);
    for (std::size_t i = 0; section && key && i < section->size(); ++i) {
      const auto entry = section->at(i);
      if (entry.position < to && entry.position + entry.size > from) {
        damage_.found(*key, *member_.segment, entry);
        named = true;
      }
    }
  }
  if (!named) {
    damage_.found_beside(*member_.segment, from, to);
  }
}

// A file that cannot be read is told once a pass.
void Scrub::give_up(const Error& error) {
  WEIR_LOG(error, "commitlog: {} cannot be read: {}", member_.segment->path(), to_string(error));
  scan_.reset();
  file_.reset();
  member_ = {};
}

bool Scrub::is_still_there() const {
  const auto version = list_.current();
  return std::ranges::any_of(version->members, [&](const auto& member) { return member.segment == member_.segment; });
}

}  // namespace weir::log
