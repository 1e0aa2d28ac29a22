// How `weir group describe` and `weir explain group` show how far a group has read. Used by the main thread only.
#pragma once

#include <vector>

#include "tools/cli/common.hpp"
#include "tools/client/groups.hpp"

namespace weir::cli {

Table lag_table(const std::vector<client::PartitionLag>& partitions, bool with_commit_age);
json::array lag_json(const std::vector<client::PartitionLag>& partitions);

}  // namespace weir::cli
