// allow_writes: takes back the mark that a failed write or sync has left in the manifest (docs/DURABILITY.md). For the
// operator's hand, while no broker runs on the folder: the caller holds its lock. The next start still reads what it
// must judge past the page cache: nobody else may have looked since the failure.
#pragma once

#include <string>

#include "base/disk.hpp"

namespace weir::log {

// The errno that the mark named; 0 if there was none, and then nothing is written. not_found without a manifest.
Result<std::int32_t> allow_writes(Disk& disk, const std::string& folder);

}  // namespace weir::log
