// The rules of metadata requests, pure: the newest image and a request go in, records and the answer come out. The
// controller appends the records and applies them before it sends the answer; with validate_only it drops them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "coordinator/metadata/data_folder.hpp"
#include "coordinator/metadata/image.hpp"
#include "coordinator/metadata/record_frame.hpp"
#include "coordinator/metadata/settings.hpp"
#include "log/partition.hpp"
#include "protocol/errors.hpp"
#include "protocol/gen/alter_configs.hpp"
#include "protocol/gen/create_partitions.hpp"
#include "protocol/gen/create_topics.hpp"
#include "protocol/gen/delete_topics.hpp"
#include "protocol/gen/incremental_alter_configs.hpp"

namespace weir::metadata {

// As Kafka: one request may not make more partitions than one batch of metadata records should hold.
inline constexpr std::int64_t kPartitionsPerRequestMax = 10'000;
inline constexpr std::int32_t kProducerIdBlock = 1000;

struct PlanInput {
  const MetadataImage& image;
  const ControllerSettings& settings;
  const Identity& identity;
  Random& random;  // topic ids
};

template <class Response>
struct Plan {
  RecordList records;
  Response response;
};

Plan<protocol::CreateTopicsResponse> plan_create_topics(const PlanInput& in,
                                                        const protocol::CreateTopicsRequest& request);
Plan<protocol::DeleteTopicsResponse> plan_delete_topics(const PlanInput& in,
                                                        const protocol::DeleteTopicsRequest& request);
Plan<protocol::CreatePartitionsResponse> plan_create_partitions(const PlanInput& in,
                                                                const protocol::CreatePartitionsRequest& request);
Plan<protocol::AlterConfigsResponse> plan_alter_configs(const PlanInput& in,
                                                        const protocol::AlterConfigsRequest& request);
Plan<protocol::IncrementalAlterConfigsResponse> plan_incremental_alter_configs(
    const PlanInput& in, const protocol::IncrementalAlterConfigsRequest& request);
Plan<std::vector<AutoCreateResult>> plan_auto_create(const PlanInput& in, const std::vector<std::string>& names);
Plan<Result<ProducerIdBlock>> plan_producer_ids(const PlanInput& in);
// not_found if one of them does not exist.
Result<RecordList> plan_leader_epochs(const PlanInput& in, std::span<const log::PartitionKey> partitions);
// What the image must say about this node and does not: features at the first start, the broker's registration.
RecordList plan_registration(const PlanInput& in);

}  // namespace weir::metadata
