// ManifestRebuild: the set of segments as their own files tell it, for a start whose manifest is gone, damaged, or
// lacks its last record. The manifest is a copy of what the files say: headers (written only after the manifest named
// the segment) and sealed index files (up to which position the segment counts).
//
// What only the manifest knew is lost with it: which segments were removed and not yet unlinked (they come back;
// their partitions' log starts still hide them), the clean point (a bad entry in the last segment is then judged by
// what later entries know), cached starts. Pure reading; blocks; start-up only.
#pragma once

#include "log/manifest.hpp"
#include "log/segment_files.hpp"

namespace weir::log {

// Does the folder hold a segment whose number `known` has never heard of? Then records of the manifest are lost.
Result<bool> has_unknown_segment(Disk& disk, SegmentFiles& files, const ManifestState& known);

// The state that the files tell, with what is left of the manifest (`known`, may be empty): segments that it says were
// removed stay so. Files without a sound header were never named, or hold nothing that can be read: they are left out.
// unsupported: a file of a newer version.
Result<ManifestState> state_from_files(Disk& disk, SegmentFiles& files, const ManifestState& known);

}  // namespace weir::log
