// From what a request names (topic name or id, partition index) to the log partition that serves it.
#pragma once

#include <memory>

#include "broker/services.hpp"
#include "protocol/errors.hpp"

namespace weir::broker {

struct FoundPartition {
  protocol::ErrorCode error =
      protocol::ErrorCode::none;                 // unknown_topic_or_partition, unknown_topic_id, or the epoch codes
  std::shared_ptr<const metadata::Topic> topic;  // null if unknown
  std::shared_ptr<log::Partition> partition;     // never null without an error
};

// `id` is used when it is not zero, else `name`. One image for one request: all its partitions are looked up in the
// same.
FoundPartition find_partition(const metadata::MetadataImage& image, const log::CommitLog& log, std::string_view name,
                              const Uuid& id, std::int32_t index);

// What a client believes against what is so: fenced_leader_epoch (74) below, unknown_leader_epoch (75) above, none for
// -1 alone (a Fetch says nothing with any negative epoch, and brings -1 here).
protocol::ErrorCode check_leader_epoch(const log::Partition& partition, std::int32_t current_leader_epoch);

using protocol::wire;

}  // namespace weir::broker
