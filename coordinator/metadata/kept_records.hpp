// Records of kinds that this build stores but does not act on yet: ACLs, quotas, credentials, tokens, controllers. The
// image keeps the newest record of each thing, so that no snapshot loses them. Pure.
#pragma once

#include <optional>
#include <string>

#include "coordinator/metadata/record_frame.hpp"

namespace weir::metadata {

struct KeptRecord {
  std::string key;     // what the record is about; "" for a record that leaves no trace
  bool erase = false;  // it says that the thing is gone
};

// unsupported for a kind that this build has never heard of: its meaning could matter, so nothing may be built on it.
Result<KeptRecord> classify_kept(const RecordFrame& frame);

}  // namespace weir::metadata
