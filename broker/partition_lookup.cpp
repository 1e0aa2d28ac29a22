#include "broker/partition_lookup.hpp"

namespace weir::broker {
using protocol::ErrorCode;

constexpr std::int32_t kNotAsked = -1;  // what is below is an old epoch

FoundPartition find_partition(const metadata::MetadataImage& image, const log::CommitLog& log, std::string_view name,
                              const Uuid& id, std::int32_t index) {
  const bool by_id = !id.is_zero();
  const auto& topic = by_id ? image.find_topic(id) : image.find_topic(name);
  if (!topic) {
    return {.error = by_id ? ErrorCode::unknown_topic_id : ErrorCode::unknown_topic_or_partition};
  }
  auto partition = log.find({topic->id, index});
  if (!partition) {
    return {.error = ErrorCode::unknown_topic_or_partition, .topic = topic};
  }
  return {.topic = topic, .partition = std::move(partition)};
}

ErrorCode check_leader_epoch(const log::Partition& partition, std::int32_t current_leader_epoch) {
  const auto ours = partition.leader_epoch().value;
  if (current_leader_epoch == kNotAsked || current_leader_epoch == ours) {
    return ErrorCode::none;
  }
  return current_leader_epoch < ours ? ErrorCode::fenced_leader_epoch : ErrorCode::unknown_leader_epoch;
}

}  // namespace weir::broker
