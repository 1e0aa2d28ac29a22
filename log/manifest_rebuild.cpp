#include "log/manifest_rebuild.hpp"

#include "base/errno_error.hpp"
#include "log/index_file.hpp"

namespace weir::log {
namespace {

struct Found {
  SegmentHeader header;
  std::int64_t file_size = 0;
  std::optional<std::int64_t> valid_end;  // if it is known to be sealed
  bool has_index = false;
};

// nullopt: no segment's file.
Result<std::optional<Found>> look_at(Disk& disk, SegmentFiles& files, SegmentId id) {
  const auto opened = files.open_to_read(id);
  if (!opened && is_of_no_file(opened.error())) {
    return std::optional<Found>{};  // somebody gave such a name to it
  }
  WEIR_TRY(const auto file, opened);
  const auto header = read_segment_header(*file);
  if (!header && header.error().code != Errc::truncated && header.error().code != Errc::corrupt) {
    return header.error();
  }
  if (!header || header->id != id) {
    return std::optional<Found>{};
  }
  WEIR_TRY(const auto size, file->size());
  const auto index = IndexFile::open(disk, files.index_path_of(id), id, header->seed);
  return std::optional{
      Found{*header, size, index ? std::optional{(*index)->facts().valid_end} : std::nullopt, index.has_value()}};
}

Result<std::vector<Found>> find_segments(Disk& disk, SegmentFiles& files, SegmentId from) {
  std::vector<Found> all;
  WEIR_TRY(const auto names, disk.list(files.folder()));
  for (const auto& name : names) {
    if (const auto id = segment_of_file_name(name); id && *id >= from) {
      WEIR_TRY(const auto found, look_at(disk, files, *id));
      if (found) {
        all.push_back(*found);
      }
    }
  }
  return all;
}

std::vector<ManifestEdit> edits_for(std::span<const Found> all) {
  // Segments are sealed in order, so the open ones are those behind the last sealed one.
  std::size_t sealed = all.size();
  while (sealed > 0 && !all[sealed - 1].valid_end) {
    --sealed;
  }
  std::vector<ManifestEdit> edits;
  for (std::size_t number = 0; number < all.size(); ++number) {
    const auto& [header, file_size, valid_end, has_index] = all[number];
    edits.emplace_back(AddSegment{header.id, header.role, header.retention_class, header.start});
    edits.emplace_back(KeepSeed{header.id, header.seed});
    if (header.io == IoMode::direct) {
      edits.emplace_back(ReserveSegment{header.id, file_size});
    }
    if (number < sealed) {
      const auto ends = valid_end ? *valid_end : std::min(file_size, all[number + 1].header.start - header.start);
      edits.emplace_back(SealSegment{header.id, ends, has_index});
    }
  }
  return edits;
}

}  // namespace

Result<bool> has_unknown_segment(Disk& disk, SegmentFiles& files, const ManifestState& known) {
  WEIR_TRY(const auto found, find_segments(disk, files, known.next_segment));
  return !found.empty();
}

Result<ManifestState> state_from_files(Disk& disk, SegmentFiles& files, const ManifestState& known) {
  WEIR_TRY(auto found, find_segments(disk, files, SegmentId{0}));
  std::erase_if(found, [&](const Found& one) {
    return one.header.id < known.next_segment && !known.segments.contains(one.header.id);
  });
  for (auto& one : found) {
    const auto facts = known.segments.find(one.header.id);
    if (!one.valid_end && facts != known.segments.end() && facts->second.sealed) {
      one.valid_end = facts->second.valid_end;
    }
  }
  auto state = known;
  state.segments.clear();
  for (const auto& edit : edits_for(found)) {
    WEIR_TRY_VOID(state.apply(edit));
  }
  return state;
}

}  // namespace weir::log
