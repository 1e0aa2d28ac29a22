// GroupLag: how far groups have read, and why one stands where it stands. Puts together what the coordinator knows
// (committed offsets, members, assignments), the metadata image and the log. Owned by Broker; any io loop may call.
//
// Nothing here runs on an io loop for long: the coordinator is asked in turns, and partitions are looked up and counted
// on the pool. Commits are taken before the ends of the log, so that a commit beyond the end is one indeed.
#pragma once

#include <string>
#include <vector>

#include "base/runtime.hpp"
#include "broker/group_service.hpp"
#include "coordinator/explain_group.hpp"
#include "coordinator/metadata/controller.hpp"
#include "log/commit_log.hpp"

namespace weir::broker {

class GroupLag {
 public:
  GroupLag(Runtime& runtime, metadata::Controller& controller, log::CommitLog& log, GroupService& groups)
      : runtime_(runtime), controller_(controller), log_(log), groups_(groups) {}

  struct Explained {
    protocol::ErrorCode error = protocol::ErrorCode::none;
    group::GroupStanding standing;
    std::vector<std::string> reasons;
  };
  // `done` runs on `reply_on`, the caller's loop.
  void explain(std::string group_id, IoLoop& reply_on, UniqueFunction<void(Explained)> done);

  // Of all groups, in Prometheus' text format.
  struct Lines {
    std::string records_behind;
    std::string lag_state;
  };
  void measure(IoLoop& reply_on, UniqueFunction<void(Lines)> done);

 private:
  Runtime& runtime_;
  metadata::Controller& controller_;
  log::CommitLog& log_;
  GroupService& groups_;
};

}  // namespace weir::broker
