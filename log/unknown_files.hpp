// Files in commitlog/ and pool/ that no segment of the manifest has. Ours are what a death left behind: a segment
// prepared and never named, one whose removal was cut short, an index that was being written. They go. Everything else
// is somebody's who put it there: it is left alone and told. Start-up only; blocks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "log/manifest.hpp"

namespace weir::log {

// Certainly ours: the exact name of a segment or an index file (also as `.tmp`), and the header of one, or nothing
// but zeros from the front to the end. What cannot be read, or is no file (a folder, a pipe), is not.
bool is_file_of_ours(Disk& disk, const std::string& folder, const std::string& name);

// Removes from `folder` (commitlog) what is ours and not of a segment in `manifest`. The names of what it left alone.
Result<std::vector<std::string>> remove_leftovers(Disk& disk, const std::string& folder, const ManifestState& manifest);

// The files of segments that the manifest has just dropped, whatever is in them: before anybody could take them back.
Result<void> remove_dropped(Disk& disk, const std::string& folder, std::span<const SegmentId> segments);

// "<folder>: a, b and 3 more", for the log; "" without names.
std::string list_files(const std::string& folder, std::span<const std::string> names);

}  // namespace weir::log
