// repair_metadata: for a folder `metadata` that the start refuses. Keeps every record that can still be read, in a new
// snapshot, and says what is lost. Topics whose records are gone, but whose data the log still holds, come back under a
// name of their own ("recovered-<topic id>"), with default configs: else the next start would drop their data.
//
// For the operator's hand, while no broker runs on the folder: the caller holds its lock. Nothing is deleted: what was
// there is renamed to `<name>.damaged`. A death in the middle leaves the old or the new state.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "coordinator/metadata/data_folder.hpp"
#include "log/partition.hpp"

namespace weir::metadata {

struct MetadataRepair {
  bool was_sound = false;             // then nothing was changed
  std::vector<std::string> findings;  // sentences: what is lost, what came back
  std::size_t topics = 0;             // that are known afterwards
};

// `in_log`: log::find_partitions(). On failure `why` is one sentence that names the file.
Result<MetadataRepair> repair_metadata(Disk& disk, const std::string& data_folder, const Identity& identity,
                                       std::span<const log::PartitionKey> in_log, Millis now, std::string& why);

}  // namespace weir::metadata
