#include "log/find_partitions.hpp"

#include <set>

#include "log/manifest.hpp"
#include "log/replay.hpp"
#include "log/segment_scan.hpp"

namespace weir::log {
namespace {

// A sealed index has the state of every partition at its end; anything else is read from the entries.
Result<void> take_segment(Disk& disk, const std::string& path, const SegmentFacts& facts, Replay& replay) {
  const auto stem = path + "/commitlog/";
  WEIR_TRY(auto file, disk.open(stem + segment_file_name(facts.id), {.read_only = true}));
  WEIR_TRY(const auto size, file->size());
  auto seed = facts.seed;
  if (seed.value == 0) {
    std::vector<std::byte> header(kSegmentHeaderSize);
    WEIR_TRY_VOID(file->read_at(0, header));
    WEIR_TRY(const auto decoded, decode_segment_header(header));
    seed = decoded.seed;
  }
  const auto index_path = stem + index_file_name(facts.id);
  if (facts.sealed && disk.exists(index_path)) {
    WEIR_TRY(const auto index_file, disk.open(index_path, {.read_only = true}));
    WEIR_TRY(auto bytes, index_file->map());
    if (const auto index = IndexFile::open(std::move(bytes), facts.id, seed); index && replay.take_states(**index)) {
      return {};
    }
  }
  const auto end = facts.sealed ? std::min(size, facts.valid_end) : facts.bounded(size);
  const auto segment = std::make_shared<Segment>(facts.id, seed, std::move(file), "", "");
  segment->begin(facts.start);
  replay.begin_segment(segment);
  SegmentScan scan{segment->file(), seed, static_cast<std::int64_t>(kSegmentHeaderSize), end};
  for (;;) {
    WEIR_TRY(const auto step, scan.next());
    if (step == SegmentScan::Step::end) {
      return {};
    }
    if (step == SegmentScan::Step::bad) {
      WEIR_TRY_VOID(scan.skip());
      continue;
    }
    replay.apply(scan.entry());
  }
}

}  // namespace

Result<std::vector<PartitionKey>> find_partitions(Disk& disk, const std::string& folder) {
  if (!disk.exists(folder + "/manifest")) {
    return std::vector<PartitionKey>{};
  }
  WEIR_TRY(const auto manifest, Manifest::open(disk, folder + "/manifest", 0));
  Replay replay{0};
  // From the newest sealed segment on: what it knows is all that lived then.
  auto from = manifest->state().segments.begin();
  for (auto at = from; at != manifest->state().segments.end(); ++at) {
    from = at->second.sealed && at->second.has_index ? at : from;
  }
  for (; from != manifest->state().segments.end(); ++from) {
    if (const auto taken = take_segment(disk, folder, from->second, replay);
        !taken && taken.error().code == Errc::disk_failed) {
      return taken.error();
    }
  }
  std::set<PartitionKey> keys;
  for (const auto& [local, partition] : replay.live()) {
    keys.insert(partition->key());
  }
  return std::vector<PartitionKey>{keys.begin(), keys.end()};
}

}  // namespace weir::log
