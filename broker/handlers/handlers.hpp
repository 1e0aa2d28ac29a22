// The APIs that this broker serves: one row each, in the order of their keys, and one handler each in the file of its
// name. A row without a handler does not link; a handler without a row is never called. served_apis.cpp makes the table
// of it.
#pragma once

#include "broker/request_context.hpp"
#include "broker/services.hpp"

#define WEIR_SERVED_APIS(ROW)  \
  ROW(Produce)                 \
  ROW(Fetch)                   \
  ROW(ListOffsets)             \
  ROW(Metadata)                \
  ROW(OffsetCommit)            \
  ROW(OffsetFetch)             \
  ROW(FindCoordinator)         \
  ROW(JoinGroup)               \
  ROW(Heartbeat)               \
  ROW(LeaveGroup)              \
  ROW(SyncGroup)               \
  ROW(DescribeGroups)          \
  ROW(ListGroups)              \
  ROW(ApiVersions)             \
  ROW(CreateTopics)            \
  ROW(DeleteTopics)            \
  ROW(DeleteRecords)           \
  ROW(InitProducerId)          \
  ROW(OffsetForLeaderEpoch)    \
  ROW(DescribeConfigs)         \
  ROW(AlterConfigs)            \
  ROW(DescribeLogDirs)         \
  ROW(CreatePartitions)        \
  ROW(DeleteGroups)            \
  ROW(IncrementalAlterConfigs) \
  ROW(OffsetDelete)            \
  ROW(DescribeCluster)         \
  ROW(ListConfigResources)     \
  ROW(DescribeTopicPartitions) \
  ROW(ExplainGroup)

namespace weir::protocol {
#define WEIR_DECLARE(Name) \
  struct Name##Request;    \
  struct Name##Response;
WEIR_SERVED_APIS(WEIR_DECLARE)
#undef WEIR_DECLARE
}  // namespace weir::protocol

namespace weir::broker {
// The request borrows from context.frame: whoever keeps the one keeps the other.
#define WEIR_DECLARE(Name) \
  void handle(RequestContext context, protocol::Name##Request request, Reply<protocol::Name##Response> reply);
WEIR_SERVED_APIS(WEIR_DECLARE)
#undef WEIR_DECLARE
}  // namespace weir::broker
