// repair_identity: makes the two identity files of a data folder again (coordinator/metadata/identity.hpp), from what
// is left: one of them, the broker's registration in the metadata, and what the operator says. For the operator's hand,
// while no broker runs on the folder: the caller holds its lock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "coordinator/metadata/identity.hpp"

namespace weir::metadata {

struct IdentityWish {  // what the operator says; empty: nothing
  std::string cluster_id;
  std::optional<std::int32_t> node_id;
};

struct RepairedIdentity {
  Identity identity;
  std::vector<std::string> findings;  // sentences; none: both files were as they should be
};

// On failure `why` is one sentence that names the file and what to say. corrupt: nothing tells the cluster id, or two
// sound files disagree; invalid_argument: the operator says another than the files, or the folder is Kafka's;
// unsupported: of a newer version.
Result<RepairedIdentity> repair_identity(Disk& disk, const std::string& data_folder, const IdentityWish& wish,
                                         Random& random, std::string& why);

}  // namespace weir::metadata
