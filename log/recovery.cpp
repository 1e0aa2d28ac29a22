#include "log/recovery.hpp"

#include <algorithm>

#include "base/logging.hpp"
#include "log/device_file.hpp"
#include "log/index_rebuild.hpp"
#include "log/unknown_files.hpp"

namespace weir::log {
namespace {

constexpr std::int64_t kBlock = 4096;
constexpr std::int64_t kWorthTrimming = 4LL << 20;

LogPosition aligned_up(LogPosition position) {
  return {(position.value + kBlock - 1) / kBlock * kBlock};
}

class Recovery {
 public:
  Recovery(Disk& disk, SegmentKeeper& keeper, const CommitLogOptions& options)
      : disk_(disk), keeper_(keeper), options_(options) {}

  Result<Recovered> run() {
    auto recovered = read_all();
    if (!recovered && !looked_at_.empty()) {
      WEIR_LOG(error, "commitlog: the start ends at {}: {}", looked_at_, to_string(recovered.error()));
    }
    return recovered;
  }

 private:
  Result<Recovered> read_all() {
    is_clean_ = options_.clean_end && *options_.clean_end == keeper_.manifest().clean_point && !is_cache_doubtful() &&
                !keeper_.manifest().refuses_writes();
    if (options_.clean_end && !is_clean_) {
      WEIR_LOG(warn, "commitlog: the clean-shutdown file tells the end {}, the manifest {}: the log is scanned",
               options_.clean_end->value, keeper_.manifest().clean_point.value);
    }
    WEIR_TRY_VOID(remove_unknown_files());
    replay_.raise_next_local(keeper_.manifest().next_local);
    out_.tail = keeper_.manifest().clean_point;
    std::vector<SegmentFacts> unsealed;
    for (const auto& [id, facts] : keeper_.manifest().segments) {
      if (facts.sealed) {
        WEIR_TRY_VOID(take_sealed(facts));
      } else {
        unsealed.push_back(facts);
      }
    }
    WEIR_TRY_VOID(take_state_of_last_sealed());
    WEIR_TRY_VOID(take_unsealed(unsealed));
    looked_at_.clear();
    out_.machine_restarted =
        !is_clean_ && !keeper_.manifest().segments.empty() && !(last_boot_ && is_this_boot(*last_boot_));
    out_.next_local = replay_.next_local();
    out_.gaps = replay_.gaps();
    if (!edits_.empty()) {
      edits_.emplace_back(NextNumbers{keeper_.manifest().next_segment, out_.next_local});
      WEIR_TRY_VOID(keeper_.edit(edits_));
      WEIR_TRY_VOID(remove_dropped_segments());
    }
    WEIR_TRY_VOID(trim());
    out_.tail = aligned_up(out_.tail);
    for (const auto& [local, partition] : replay_.live()) {
      out_.live.push_back(partition);
    }
    return std::move(out_);
  }

  struct Opened {
    std::shared_ptr<Segment> segment;
    std::shared_ptr<File> device;  // after an I/O error: where the scan reads
    [[nodiscard]] const File& to_scan() const { return device ? *device : segment->file(); }
    std::int64_t size = 0;  // as far as anything was written to it
    IoMode io = IoMode::buffered;
    Uuid boot_id;
    bool same_boot = false;
    bool is_unbegun = false;  // the process ended before it wrote anything: it tells nothing of a boot
  };

  [[nodiscard]] bool is_cache_doubtful() const { return keeper_.manifest().is_cache_doubtful(); }

  // May what was written and not synced be gone? Only if the machine restarted, or its page cache is doubtful. A
  // machine that does not tell its boots apart may have restarted at any time.
  [[nodiscard]] bool is_this_boot(const Uuid& boot_id) const {
    return !boot_id.is_zero() && boot_id == options_.boot_id && !is_cache_doubtful();
  }

  // Names what stays; one line a start.
  Result<void> remove_unknown_files() {
    const auto folder = keeper_.files().folder();
    WEIR_TRY(const auto left, remove_leftovers(disk_, folder, keeper_.manifest()));
    const auto in_pool = keeper_.files().unknown_in_pool();
    if (!left.empty() || !in_pool.empty()) {
      const auto of_log = list_files(folder, left);
      WEIR_LOG(warn, "commitlog: files that are not of this log are left alone: {}{}{}", of_log,
               left.empty() || in_pool.empty() ? "" : "; ", list_files(keeper_.files().pool_folder(), in_pool));
    }
    return {};
  }

  Result<void> remove_dropped_segments() {
    std::vector<SegmentId> dropped;
    for (const auto& edit : edits_) {
      if (const auto* removed = std::get_if<RemoveSegment>(&edit)) {
        dropped.push_back(removed->id);
      }
    }
    return remove_dropped(disk_, keeper_.files().folder(), dropped);
  }

  // not_found, truncated or corrupt: no such segment can be read.
  Result<Opened> open_segment(const SegmentFacts& facts) {
    const auto id = facts.id;
    looked_at_ = keeper_.files().path_of(id);
    auto found = keeper_.files().open_to_read(id);
    if (!found) {
      if (!is_of_the_disk(found.error())) {
        WEIR_LOG(error, "commitlog: {} is missing: what it had is not served", looked_at_);
      }
      return found.error();
    }
    const auto file = std::move(*found);
    Opened opened;
    auto header = read_segment_header(*file);
    if (!header && header.error().code == Errc::corrupt && facts.seed.value != 0) {
      opened.is_unbegun = !facts.sealed && is_zero_block(*file);
      header = repair_header(facts, *file, opened.is_unbegun);
    }
    if (!header) {
      WEIR_LOG(error, "commitlog: {} cannot be read ({}): what it had is not served", looked_at_,
               to_string(header.error()));
      return header.error();
    }
    if (header->id != id) {
      return Error{Errc::corrupt, 0};
    }
    WEIR_TRY(const auto size, file->size());
    opened.size = facts.bounded(size);
    WEIR_TRY_VOID(look_behind_clean_end(*file, *header, opened.size, facts.reserved_end > 0));
    opened.io = header->io;
    opened.boot_id = header->boot_id;
    opened.same_boot = is_this_boot(header->boot_id);
    opened.segment = std::make_shared<Segment>(id, header->seed, file, keeper_.files().path_of(id),
                                               keeper_.files().index_path_of(id));
    opened.segment->begin(header->start);
    if (is_cache_doubtful() && !facts.sealed) {
      WEIR_TRY(opened.device, DeviceFile::open(disk_, keeper_.files().path_of(id)));
      WEIR_TRY_VOID(write_header(*header, opened.segment->file()));  // the cache may be all that has it
    }
    return opened;
  }

  // A stop writes nothing behind the end that it tells: who goes on there is a later life, which has left no mark. What
  // a file that was longer from the beginning holds there is not of this log.
  Result<void> look_behind_clean_end(const File& file, const SegmentHeader& header, std::int64_t& size,
                                     bool was_longer) {
    const auto clean = keeper_.manifest().clean_point - header.start;
    const auto begin = static_cast<std::int64_t>(kSegmentHeaderSize);
    if (!is_clean_) {
      return {};
    }
    WEIR_TRY(const bool goes_on, has_entry_at(file, header.seed, std::max(clean, begin), size));
    if (goes_on) {
      WEIR_LOG(
          warn,
          "commitlog: the clean-shutdown file is of an earlier stop, {} goes on behind its end: the log is scanned",
          looked_at_);
      is_clean_ = false;
    } else if (was_longer && clean >= begin) {
      size = std::min(size, clean);
    }
    return {};
  }

  static Result<bool> has_entry_at(const File& file, SegmentSeed seed, std::int64_t position, std::int64_t end) {
    if (position >= end) {
      return false;
    }
    SegmentScan scan{file, seed, position, end};
    WEIR_TRY(const auto step, scan.next());
    return step == SegmentScan::Step::entry;
  }

  static Result<void> write_header(const SegmentHeader& header, File& file) {
    std::vector<std::byte> bytes(kSegmentHeaderSize);
    encode(header, bytes);
    const Bytes part{bytes};
    return file.write_at(0, {&part, 1});
  }

  // The manifest has what it said, but for the boot: so the next one is taken for another.
  SegmentHeader repair_header(const SegmentFacts& facts, File& file, bool is_unbegun) {
    SegmentHeader header;
    header.id = facts.id;
    header.seed = facts.seed;
    header.role = facts.role;
    header.io = facts.reserved_end > 0 ? IoMode::direct : IoMode::buffered;
    header.retention_class = facts.retention_class;
    header.start = facts.start;
    const auto written = write_header(header, file);
    if (!is_unbegun) {
      WEIR_LOG(error, "commitlog: the header of {} is damaged: {} from the manifest", keeper_.files().path_of(facts.id),
               written ? "written again" : "taken");
    }
    return header;
  }

  static bool is_zero_block(const File& file) {
    std::vector<std::byte> block(kBlock);
    const auto count = file.read_at(0, block);
    return count && std::ranges::all_of(Bytes{block}.first(*count), [](auto byte) { return byte == std::byte{0}; });
  }

  static bool is_of_the_disk(const Error& error) {
    return error.code != Errc::not_found && error.code != Errc::truncated && error.code != Errc::corrupt;
  }

  Result<void> take_sealed(const SegmentFacts& facts) {
    auto opened = open_segment(facts);
    if (!opened) {
      if (is_of_the_disk(opened.error())) {
        return opened.error();
      }
      out_.lost_files = true;
      out_.damage.push_back({facts.id, 0, facts.valid_end});
      out_.tail = std::max(out_.tail, facts.start + facts.valid_end);
      return {};
    }
    const auto& segment = opened->segment;
    last_boot_ = opened->boot_id;
    segment->set_valid_end(facts.valid_end);
    out_.tail = std::max(out_.tail, segment->start() + facts.valid_end);
    auto index = IndexFile::open(disk_, segment->index_path(), segment->id(), segment->seed());
    if (!index) {
      if (is_of_the_disk(index.error())) {
        return index.error();
      }
      if (facts.has_index) {  // without: a full disk has put it off
        WEIR_LOG(error, "commitlog: {} is {}: made again from its segment", segment->index_path(),
                 disk_.exists(segment->index_path()) ? "damaged" : "missing");
      }
      const auto* before = out_.members.empty() ? nullptr : out_.members.back().index.get();
      index = make_index_again(segment, std::min(facts.valid_end, opened->size), before);
      if (!index) {
        return index.error();
      }
    }
    out_.members.push_back({segment, std::move(*index)});
    return {};
  }

  Result<std::shared_ptr<const IndexFile>> make_index_again(const std::shared_ptr<Segment>& segment, std::int64_t end,
                                                            const IndexFile* before) {
    WEIR_TRY(const auto rebuilt, rebuild_index(segment, end, before));
    out_.damage.insert(out_.damage.end(), rebuilt.damage.begin(), rebuilt.damage.end());
    replay_.raise_next_local(rebuilt.snapshot.next_local);
    return keeper_.write_index(rebuilt.snapshot);
  }

  // The newest sealed index file holds the state of every partition at its segment's end.
  Result<void> take_state_of_last_sealed() {
    if (out_.members.empty()) {
      return {};
    }
    auto& last = out_.members.back();
    const auto taken = replay_.take_states(*last.index);
    if (taken || is_of_the_disk(taken.error())) {
      return taken;
    }
    // Its directory was sound, a state in it is not: the segment itself has all of it.
    WEIR_LOG(error, "commitlog: {} is damaged: made again from its segment", last.segment->index_path());
    replay_.forget_all();
    const auto count = out_.members.size();
    const auto* before = count > 1 ? out_.members[count - 2].index.get() : nullptr;
    WEIR_TRY(last.index, make_index_again(last.segment, last.segment->valid_end(), before));
    return replay_.take_states(*last.index);
  }

  Result<void> take_unsealed(const std::vector<SegmentFacts>& unsealed) {
    for (std::size_t number = 0; number < unsealed.size(); ++number) {
      const auto& facts = unsealed[number];
      const auto behind = std::span{unsealed}.subspan(number + 1);
      auto opened = open_segment(facts);
      if (!opened) {
        if (is_of_the_disk(opened.error())) {
          return opened.error();
        }
        WEIR_TRY(const bool is_damage, was_durable(facts.start, nullptr, 0, behind));
        if (is_damage) {
          out_.lost_files = true;
          out_.damage.push_back({facts.id, 0, 0});
          edits_.emplace_back(SealSegment{facts.id, 0, false});
          continue;
        }
        return drop(unsealed, number);
      }
      const auto& segment = opened->segment;
      if (!opened->is_unbegun) {
        last_boot_ = opened->boot_id;
      }
      if (!behind.empty()) {
        opened->size = std::min(opened->size, behind.front().start - segment->start());
      }
      out_.tail = std::max(out_.tail, segment->start() + opened->size);
      replay_.begin_segment(segment);
      bool is_cut = false;
      const auto damage_before = out_.damage.size();
      WEIR_TRY(const auto end, scan(*opened, behind, is_cut));
      // The next segment begins where this one ended: a tail that is missing as a whole is torn like any other.
      const auto next = behind.empty() ? keeper_.manifest().clean_point : behind.front().start;
      if (!is_cut && segment->start() + end < next) {
        WEIR_TRY(const bool is_damage, was_durable(segment->start() + end, nullptr, 0, behind));
        is_cut = !is_damage;
        if (is_damage) {
          out_.damage.push_back({facts.id, end, next - segment->start()});
        }
      }
      const auto is_whole = !is_cut && damage_before == out_.damage.size();
      // Only where this start knows all of it: a delta of this life will tell the whole segment from its state on.
      if (is_clean_ && is_whole && holds_state_alone_ && behind.empty() && end % kBlock == 0 &&
          keeper_.manifest().clean_point == segment->start() + end && opened->io == keeper_.files().io()) {
        WEIR_TRY_VOID(keeper_.files().continue_in(*segment, facts.reserved_end));
        out_.open = segment;
        out_.open_entries = replay_.entries();
        out_.members.push_back({segment, nullptr});
        return {};
      }
      WEIR_TRY_VOID(seal(segment, end));
      if (is_cut) {
        // In a file that was longer from the beginning only entries behind the end tell of a torn tail.
        out_.cut_bytes += facts.reserved_end > 0 ? std::max<std::int64_t>(0, sound_end_ - end) : opened->size - end;
        return drop(unsealed, number + 1);
      }
    }
    return {};
  }

  // Nothing of these segments is part of the log. Their positions are not given again.
  Result<void> drop(const std::vector<SegmentFacts>& unsealed, std::size_t from) {
    for (const auto& facts : std::span{unsealed}.subspan(from)) {
      if (const auto opened = open_segment(facts)) {
        out_.tail = std::max(out_.tail, opened->segment->start() + opened->size);
        out_.cut_bytes += opened->size;
      }
      out_.tail = std::max(out_.tail, facts.start);
      edits_.emplace_back(RemoveSegment{facts.id});
    }
    return {};
  }

  // File position behind the last entry that counts.
  Result<std::int64_t> scan(const Opened& opened, std::span<const SegmentFacts> behind, bool& is_cut) {
    const auto& segment = opened.segment;
    WEIR_TRY(const auto from, take_deltas(opened, behind));
    holds_state_alone_ = from == static_cast<std::int64_t>(kSegmentHeaderSize);
    SegmentScan scan{opened.to_scan(), segment->seed(), from, opened.size};
    for (;;) {
      WEIR_TRY(const auto step, scan.next());
      if (step == SegmentScan::Step::end) {
        out_.scanned_bytes += scan.position() - from;
        return scan.position();
      }
      if (step == SegmentScan::Step::entry) {
        const auto kind = scan.entry().header.kind;
        holds_state_alone_ =
            holds_state_alone_ && (kind == EntryKind::state || kind == EntryKind::group || kind == EntryKind::pad);
        replay_.apply(scan.entry());
        continue;
      }
      sound_end_ = 0;
      WEIR_TRY(const bool is_damage, was_durable(segment->start() + scan.position(), &opened, scan.position(), behind));
      if (!is_damage) {
        is_cut = true;
        out_.scanned_bytes += scan.position() - from;
        return scan.position();
      }
      WEIR_TRY(const auto range, step_over(*segment, scan));
      out_.damage.push_back(range);
    }
  }

  // Takes the state and index of the segment's beginning from its deltas; says where the scan has to begin. A delta may
  // be durable when the bytes that it speaks of are not. If the machine did not start again nothing written is lost;
  // else only a delta below a synced position that something knows is taken.
  Result<std::int64_t> take_deltas(const Opened& opened, std::span<const SegmentFacts> behind) {
    constexpr auto kFrom = static_cast<std::int64_t>(kSegmentHeaderSize);
    const auto& segment = opened.segment;
    const auto file = disk_.open(segment->index_path(), {.read_only = true});
    if (!file) {
      return file.error().code == Errc::not_found ? Result<std::int64_t>{kFrom} : file.error();
    }
    WEIR_TRY(const auto bytes, (*file)->map());
    const auto deltas = read_index_deltas(bytes.view(), segment->id(), segment->seed());
    if (!deltas) {
      return kFrom;  // a sealed one, from a start that died before its manifest edit; or damaged
    }
    auto count = deltas->deltas.size();
    for (; count > 0; --count) {
      const auto to = deltas->deltas[count - 1].to;
      if (to > opened.size) {
        continue;
      }
      if (opened.same_boot) {
        break;
      }
      WEIR_TRY(const bool is_durable, was_durable(segment->start() + (to - 1), &opened, to, behind));
      if (is_durable) {
        break;
      }
    }
    if (count == 0) {
      return kFrom;
    }
    WEIR_TRY_VOID(take_first_state(opened));
    for (const auto& delta : std::span{deltas->deltas}.first(count)) {
      WEIR_TRY_VOID(replay_.apply_delta(delta));
    }
    return deltas->deltas[count - 1].to;
  }

  // The state entry that the segment begins with, and nothing behind it.
  Result<void> take_first_state(const Opened& opened) {
    const auto& segment = opened.segment;
    SegmentScan scan{opened.to_scan(), segment->seed(), static_cast<std::int64_t>(kSegmentHeaderSize), opened.size};
    return apply_first_state(scan, replay_);
  }

  // Did anything know that `position` was synced? The manifest's clean point, or a group entry behind the bad place.
  Result<bool> was_durable(LogPosition position, const Opened* in, std::int64_t bad_at,
                           std::span<const SegmentFacts> behind) {
    if (position < keeper_.manifest().clean_point) {
      return true;
    }
    if (in != nullptr) {
      WEIR_TRY(const bool known, knows_synced(*in, bad_at, position));
      if (known) {
        return true;
      }
    }
    for (const auto& facts : behind) {
      if (const auto opened = open_segment(facts)) {
        WEIR_TRY(const bool known, knows_synced(*opened, static_cast<std::int64_t>(kSegmentHeaderSize), position));
        if (known) {
          return true;
        }
      }
    }
    return false;
  }

  Result<bool> knows_synced(const Opened& opened, std::int64_t from, LogPosition position) {
    SegmentScan scan{opened.to_scan(), opened.segment->seed(), from, opened.size};
    for (;;) {
      WEIR_TRY(const auto step, scan.next());
      if (step == SegmentScan::Step::end) {
        return false;
      }
      if (step == SegmentScan::Step::bad) {
        WEIR_TRY_VOID(scan.skip());
        continue;
      }
      sound_end_ = scan.position();
      if (scan.entry().header.kind == EntryKind::group) {
        if (const auto group = GroupPayload::decode(scan.entry().payload); group && group->synced > position) {
          return true;
        }
      }
    }
  }

  // A file in direct mode has its whole size from the beginning: gives back what a cut has left unused. After the edit
  // that says where the segment ends.
  Result<void> trim() {
    for (const auto& member : out_.members) {
      if (member.segment == out_.open || keeper_.manifest().segments.at(member.segment->id()).reserved_end == 0) {
        continue;
      }
      const auto end = aligned_up({member.segment->valid_end()}).value;
      WEIR_TRY(const auto size, member.segment->file().size());
      if (size - end > kWorthTrimming) {
        WEIR_TRY_VOID(member.segment->file().truncate(end));
      }
    }
    return {};
  }

  // Durable before anything of it is visible; what lies behind `end` never comes back.
  Result<void> seal(const std::shared_ptr<Segment>& segment, std::int64_t end) {
    WEIR_TRY_VOID(segment->file().sync());
    segment->set_valid_end(end);
    auto all = std::make_unique<SegmentSnapshot>(replay_.snapshot(end));
    auto index = out_.without_index.empty() ? keeper_.write_index(*all) : Error{Errc::disk_full};
    if (!index && !is_shortage(index.error())) {
      return index.error();
    }
    edits_.emplace_back(SealSegment{segment->id(), end, index.has_value()});
    out_.members.push_back({segment, index ? std::move(*index) : nullptr});
    for (const auto& [local, partition] : replay_.live()) {
      partition->role.index = nullptr;
      if (index) {
        partition->drop_open_index(segment->id());
      }
    }
    if (!index) {
      all->next_local = replay_.next_local();
      out_.without_index.push_back(std::move(all));
    }
    return {};
  }

  Disk& disk_;
  SegmentKeeper& keeper_;
  const CommitLogOptions& options_;
  Recovered out_;
  Replay replay_;
  std::vector<ManifestEdit> edits_;
  bool is_clean_ = false;           // the last stop and the manifest tell the same end
  bool holds_state_alone_ = false;  // the segment scanned last: its state, groups and pads
  std::string looked_at_;           // the segment's file
  std::int64_t sound_end_ = 0;      // of the last entry that knows_synced() saw
  std::optional<Uuid> last_boot_;   // in which the newest segment that can be read was begun
};

}  // namespace

Result<Recovered> recover(Disk& disk, SegmentKeeper& keeper, const CommitLogOptions& options) {
  return Recovery{disk, keeper, options}.run();
}

}  // namespace weir::log
