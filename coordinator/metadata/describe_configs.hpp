// DescribeConfigs: what topics, brokers, loggers and groups are configured with, value by value, and where each value
// comes from. Pure, but for the level of the log; built from the tables in base/ and the newest image.
#pragma once

#include <vector>

#include "base/config.hpp"
#include "coordinator/metadata/data_folder.hpp"
#include "coordinator/metadata/image.hpp"
#include "protocol/gen/create_topics.hpp"
#include "protocol/gen/describe_configs.hpp"

namespace weir::metadata {

// The whole answer: one result for each resource, with an error where this node does not serve it.
// `broker` is the effective configuration.
protocol::DescribeConfigsResponse describe_configs(const MetadataImage& image, const Config& broker,
                                                   const Identity& identity,
                                                   const protocol::DescribeConfigsRequest& request);

// All effective configs of a topic that is being created, as CreateTopics answers them.
std::vector<protocol::CreateTopicsResponse::CreatableTopicConfigs> created_topic_configs(
    const ConfigOverrides& overrides, const Config& broker);

}  // namespace weir::metadata
