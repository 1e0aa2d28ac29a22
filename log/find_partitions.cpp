#include "log/find_partitions.hpp"

#include <map>

#include "log/index_rebuild.hpp"
#include "log/manifest_rebuild.hpp"

namespace weir::log {
namespace {

struct OpenedSegment {
  std::shared_ptr<Segment> segment;
  std::int64_t end = 0;  // file position
};

Result<OpenedSegment> open_segment(Disk& disk, const std::string& folder, const SegmentFacts& facts) {
  const auto stem = folder + "/commitlog/";
  WEIR_TRY(auto file, disk.open(stem + segment_file_name(facts.id), {.read_only = true}));
  WEIR_TRY(const auto size, file->size());
  auto seed = facts.seed;
  if (seed.value == 0) {
    WEIR_TRY(const auto header, read_segment_header(*file));
    seed = header.seed;
  }
  auto segment = std::make_shared<Segment>(facts.id, seed, std::move(file), "", stem + index_file_name(facts.id));
  segment->begin(facts.start);
  return OpenedSegment{std::move(segment), facts.sealed ? std::min(size, facts.valid_end) : facts.bounded(size)};
}

// A sealed index has the state of every partition at its end; anything else is read from the entries.
Result<void> take_segment(Disk& disk, const std::string& folder, const SegmentFacts& facts, Replay& replay) {
  WEIR_TRY(const auto opened, open_segment(disk, folder, facts));
  const auto& segment = opened.segment;
  if (facts.sealed) {
    const auto index = IndexFile::open(disk, segment->index_path(), facts.id, segment->seed());
    if (index && replay.take_states(**index)) {
      return {};
    }
  }
  const auto replayed = replay_segment(segment, opened.end, replay);  // what is damaged has nothing to say
  return replayed ? Result<void>{} : replayed.error();
}

// Reads only, as a start would see the segments.
Result<ManifestState> segments_of(Disk& disk, const std::string& folder) {
  if (!disk.exists(folder + "/commitlog")) {
    return ManifestState{};
  }
  SegmentFiles files{disk, folder, IoMode::buffered, 0};
  const auto bytes = read_file(disk, folder + "/manifest", Manifest::kFileSizeMax);
  if (!bytes && bytes.error().code == Errc::disk_failed) {
    return bytes.error();
  }
  const auto content = bytes ? decode_manifest(*bytes) : Result<ManifestContent>{bytes.error()};
  if (!content && content.error().code == Errc::unsupported) {
    return content.error();
  }
  if (content) {
    WEIR_TRY(const bool lacks_records, has_unknown_segment(disk, files, content->state));
    if (!lacks_records) {
      return content->state;
    }
  }
  return state_from_files(disk, files, content ? content->state : ManifestState{});
}

bool is_of_the_disk(const Error& error) {
  return error.code == Errc::disk_failed;
}

}  // namespace

Result<FoundPartitions> find_partitions(Disk& disk, const std::string& folder) {
  WEIR_TRY(const auto state, segments_of(disk, folder));
  Replay replay;
  // From the newest sealed segment on: what it knows is all that lived then.
  auto from = state.segments.begin();
  for (auto at = from; at != state.segments.end(); ++at) {
    from = at->second.sealed && at->second.has_index ? at : from;
  }
  for (; from != state.segments.end(); ++from) {
    if (const auto taken = take_segment(disk, folder, from->second, replay); !taken && is_of_the_disk(taken.error())) {
      return taken.error();
    }
  }
  FoundPartitions found;
  for (const auto& [local, partition] : replay.live()) {
    found.partitions.push_back({partition->key(), local, partition->leader_epoch()});
    for (const auto& producer : partition->role.producers.list()) {
      found.producer_id_max = std::max(found.producer_id_max, producer.id);
    }
  }
  std::ranges::sort(found.partitions, {}, &FoundPartition::key);
  return found;
}

Result<void> show_batches(Disk& disk, const std::string& folder, const FoundPartitions& found,
                          const std::set<Uuid>& topics,
                          const std::function<void(const PartitionKey&, const protocol::RecordBatchView&)>& see,
                          const std::function<bool()>& is_enough) {
  std::map<LocalPartition, PartitionKey> wanted;
  for (const auto& one : found.partitions) {
    if (topics.contains(one.key.topic_id)) {
      wanted.emplace(one.local, one.key);
    }
  }
  WEIR_TRY(const auto state, segments_of(disk, folder));
  for (auto at = state.segments.rbegin(); at != state.segments.rend() && !is_enough(); ++at) {
    const auto opened = open_segment(disk, folder, at->second);
    if (!opened) {
      continue;
    }
    const auto& segment = opened->segment;
    SegmentScan scan{segment->file(), segment->seed(), static_cast<std::int64_t>(kSegmentHeaderSize), opened->end};
    for (;;) {
      WEIR_TRY(const auto step, scan.next());
      if (step == SegmentScan::Step::end) {
        break;
      }
      if (step == SegmentScan::Step::bad) {
        WEIR_TRY_VOID(scan.skip());
        continue;
      }
      const auto& entry = scan.entry();
      const auto key = wanted.find(entry.header.partition);
      const auto batch = protocol::RecordBatchView::parse(entry.payload);
      if (entry.header.kind == EntryKind::batch && key != wanted.end() && batch) {
        see(key->second, *batch);
      }
    }
  }
  return {};
}

}  // namespace weir::log
