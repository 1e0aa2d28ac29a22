// Names of topics whose metadata is lost, by what the log holds: which of them is `__consumer_offsets`, told by its
// records (in folders of early builds it has a random topic id), and what the committed offsets call the others. Reads
// the log; blocks.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/disk.hpp"
#include "log/find_partitions.hpp"

namespace weir::metadata {

// A topic is it if it has records and each of them has the key of a committed offset or of a group, in the partition
// that owns that group. nullopt if none is, or more than one. A topic without a record has nothing to lose.
Result<std::optional<Uuid>> find_offsets_topic(Disk& disk, const std::string& data_folder,
                                               const log::FoundPartitions& found, const std::set<Uuid>& unnamed);

// Each committed offset holds the name and the id of its topic. Topics that no group has read are not found.
Result<std::map<Uuid, std::string>> find_names(Disk& disk, const std::string& data_folder,
                                               const log::FoundPartitions& found, const Uuid& offsets_topic,
                                               const std::set<Uuid>& unnamed);

}  // namespace weir::metadata
