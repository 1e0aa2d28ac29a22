// find_partitions: whose data the log holds, as the files of a stopped broker tell it, without starting the log.
#pragma once

#include <string>
#include <vector>

#include "base/disk.hpp"
#include "log/partition.hpp"

namespace weir::log {

// Rising. Deleted partitions are left out; so is one whose every mention is damaged. An empty folder has none. Blocks;
// the caller holds the folder's lock.
Result<std::vector<PartitionKey>> find_partitions(Disk& disk, const std::string& folder);

}  // namespace weir::log
