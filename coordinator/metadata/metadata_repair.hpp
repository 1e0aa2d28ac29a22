// repair_metadata: for a folder `metadata` that the start refuses. Keeps every record that can still be read, in a new
// snapshot, and says what is lost and what came back by what the log holds:
//   - a topic without its records, which the next start would drop: an internal one under its own name, with the
//   configs
//     that its coordinator makes it with; another one with default configs, under the name that committed offsets have
//     for it, or as "recovered-<topic id>";
//   - partitions that a topic has in the log only, and leader epochs that the log has seen;
//   - producer ids: none that a lost record may have given out is given out again.
//
// For the operator's hand, while no broker runs on the folder: the caller holds its lock. Nothing is deleted: what was
// there is renamed to `<name>.damaged`. A death in the middle leaves the old or the new state.
#pragma once

#include <string>
#include <vector>

#include "base/disk.hpp"
#include "coordinator/metadata/identity.hpp"
#include "coordinator/metadata/image.hpp"
#include "log/find_partitions.hpp"

namespace weir::metadata {

struct MetadataRepair {
  bool was_sound = false;             // then nothing was changed
  std::vector<std::string> findings;  // sentences: what is lost, what came back
  std::size_t topics = 0;             // that are known afterwards
};

// On failure `why` is one sentence that names the file.
Result<MetadataRepair> repair_metadata(Disk& disk, const std::string& data_folder, const Identity& identity,
                                       const log::FoundPartitions& in_log, Millis now, std::string& why);

// What can be read of the metadata, sound or not. Changes nothing.
Result<ImagePointer> readable_metadata(Disk& disk, const std::string& data_folder);

}  // namespace weir::metadata
