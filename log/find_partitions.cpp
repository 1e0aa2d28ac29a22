#include "log/find_partitions.hpp"

#include <set>

#include "log/index_rebuild.hpp"
#include "log/manifest.hpp"

namespace weir::log {
namespace {

// A sealed index has the state of every partition at its end; anything else is read from the entries.
Result<void> take_segment(Disk& disk, const std::string& path, const SegmentFacts& facts, Replay& replay) {
  const auto stem = path + "/commitlog/";
  WEIR_TRY(auto file, disk.open(stem + segment_file_name(facts.id), {.read_only = true}));
  WEIR_TRY(const auto size, file->size());
  auto seed = facts.seed;
  if (seed.value == 0) {
    WEIR_TRY(const auto header, read_segment_header(*file));
    seed = header.seed;
  }
  if (facts.sealed) {
    const auto index = IndexFile::open(disk, stem + index_file_name(facts.id), facts.id, seed);
    if (index && replay.take_states(**index)) {
      return {};
    }
  }
  const auto segment = std::make_shared<Segment>(facts.id, seed, std::move(file), "", "");
  segment->begin(facts.start);
  const auto end = facts.sealed ? std::min(size, facts.valid_end) : facts.bounded(size);
  const auto replayed = replay_segment(segment, end, replay);  // what is damaged has nothing to say
  return replayed ? Result<void>{} : replayed.error();
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
