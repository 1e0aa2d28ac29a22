// Services: what handlers may use, by reference. Built by Broker in the order of its fields, alive until every
// connection is gone. Each service says for itself which thread may call it.
#pragma once

#include "base/effective_config.hpp"
#include "base/metrics.hpp"
#include "base/runtime.hpp"
#include "broker/fetch_session.hpp"
#include "broker/request_memory.hpp"
#include "broker/topic_settings.hpp"
#include "broker/waiters.hpp"
#include "coordinator/metadata/controller.hpp"
#include "coordinator/metadata/data_folder.hpp"
#include "log/commit_log.hpp"

namespace weir::metadata {
class ProducerIdSource;
}

namespace weir::broker {

class GatheredAppends;
class GroupLag;
class GroupService;

struct Services {
  const Config& config;  // static: what only a restart changes
  Runtime& runtime;
  Metrics& metrics;
  const std::string& data_folder;
  const metadata::Identity& identity;
  metadata::Controller& controller;
  metadata::ProducerIdSource& producer_ids;
  log::CommitLog& log;
  GatheredAppends& appends;
  WaiterHub& waiters;
  FetchSessions& fetch_sessions;
  RequestMemory& memory;
  TopicSettings& topics;
  GroupService& groups;
  GroupLag& lag;
  EffectiveConfig& effective;  // what may be set while the broker runs
};

}  // namespace weir::broker
