// Names of the files in the folder `metadata`, and which are there (log and snapshots: coordinator/metadata/
// metadata_log.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/disk.hpp"
#include "base/ids.hpp"

namespace weir::metadata {

struct MetadataFiles {
  std::vector<Offset> logs;       // base offsets, ascending
  std::vector<Offset> snapshots;  // end offsets, ascending
};

std::string log_name(Offset base);
std::string snapshot_name(Offset end);
bool is_metadata_file(std::string_view name);  // a log or a snapshot
// Files of other names are left out.
Result<MetadataFiles> list_metadata(Disk& disk, const std::string& folder);

}  // namespace weir::metadata
