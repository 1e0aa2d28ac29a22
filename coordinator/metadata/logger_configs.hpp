// The broker's loggers as DescribeConfigs and IncrementalAlterConfigs know them: one, "root", with Kafka's names of
// levels. A change acts at once and ends with the process, as in Kafka: it is not in the metadata.
#pragma once

#include <optional>
#include <vector>

#include "base/config_row.hpp"
#include "coordinator/metadata/data_folder.hpp"
#include "coordinator/metadata/plan_parts.hpp"
#include "protocol/gen/incremental_alter_configs.hpp"

namespace weir::metadata {

std::vector<DescribedConfig> describe_loggers();

// Why this node does not do what the request asks of its loggers, or nullopt if it does. Changes nothing.
std::optional<Refusal> refuse_logger_change(
    const Identity& identity, const protocol::IncrementalAlterConfigsRequest::AlterConfigsResource& resource);

// After the request was planned: sets the levels of what it asked and was not refused.
void set_logger_levels(const protocol::IncrementalAlterConfigsRequest& request,
                       const protocol::IncrementalAlterConfigsResponse& response);

}  // namespace weir::metadata
