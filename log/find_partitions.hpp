// find_partitions: whose data the log holds, as the files of a stopped broker tell it, without starting the log. For a
// repair of the metadata: what lives in the log and not in the metadata would be dropped at the next start. Blocks; the
// caller holds the folder's lock.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "log/partition.hpp"
#include "protocol/record_batch.hpp"

namespace weir::log {

struct FoundPartition {
  PartitionKey key;
  LocalPartition local;
  LeaderEpoch leader_epoch{0};
};
struct FoundPartitions {
  std::vector<FoundPartition> partitions;  // by rising key
  std::int64_t producer_id_max = -1;       // of all producers that the log remembers
};

// Deleted partitions are left out; so is one whose every mention is damaged. An empty folder has none. A manifest that
// is missing or damaged is no matter: the files of the segments say the same.
Result<FoundPartitions> find_partitions(Disk& disk, const std::string& folder);

// Shows the batches of those topics, segment by segment, the newest first, and in one segment in the order of the log.
// Ends behind a segment for which `is_enough` says so. Damage is stepped over.
Result<void> show_batches(Disk& disk, const std::string& folder, const FoundPartitions& found,
                          const std::set<Uuid>& topics,
                          const std::function<void(const PartitionKey&, const protocol::RecordBatchView&)>& see,
                          const std::function<bool()>& is_enough);

}  // namespace weir::log
