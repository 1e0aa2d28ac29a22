#include "tools/client/groups.hpp"

#include "protocol/errors.hpp"
#include "protocol/gen/consumer_protocol_assignment.hpp"
#include "protocol/gen/delete_groups.hpp"
#include "protocol/gen/describe_groups.hpp"
#include "protocol/gen/explain_group.hpp"
#include "protocol/gen/find_coordinator.hpp"
#include "protocol/gen/list_groups.hpp"
#include "protocol/gen/offset_commit.hpp"
#include "protocol/gen/offset_fetch.hpp"

namespace weir::client {
namespace {
using protocol::ErrorCode;
using protocol::Text;
constexpr Millis kRetryMs = 100;
constexpr std::int16_t kByName = 9;  // the last versions of OffsetFetch and OffsetCommit that name topics

// Members of the consumer protocol tell their partitions in a format of their own; others keep theirs to themselves.
std::vector<TopicPartition> assigned_to(const protocol::DescribeGroupsResponse::DescribedGroupMember& member) {
  std::vector<TopicPartition> assigned;
  protocol::Reader in{member.member_assignment.view()};
  if (in.remaining() < sizeof(std::int16_t)) {
    return assigned;
  }
  const auto version = std::min(in.read_int16(), protocol::ConsumerProtocolAssignment::kMaxVersion);
  protocol::ConsumerProtocolAssignment assignment;
  if (version < 0 || !decode(in, version, assignment)) {
    return assigned;
  }
  for (const auto& topic : assignment.assigned_partitions) {
    for (const auto index : topic.partitions) {
      assigned.emplace_back(topic.topic.str(), index);
    }
  }
  std::ranges::sort(assigned);
  return assigned;
}

}  // namespace

Result<std::int32_t> Groups::coordinator(const std::string& group, std::int16_t& error) {
  const auto deadline = broker_.clock().monotonic_ms() + broker_.cluster()->options().timeout_ms;
  WEIR_TRY([[maybe_unused]] const auto nodes, broker_.topics(std::vector<std::string>{}));  // addresses of the nodes
  for (;;) {
    protocol::FindCoordinatorRequest request;
    request.coordinator_keys.emplace_back(group);
    WEIR_TRY(const auto answer,
             (broker_.call<protocol::FindCoordinatorRequest, protocol::FindCoordinatorResponse>(std::move(request))));
    if (answer.response.coordinators.empty()) {
      return {Errc::corrupt};
    }
    const auto& found = answer.response.coordinators.front();
    error = found.error_code;
    if (error == 0) {
      return found.node_id;
    }
    const auto known = protocol::error_code_from(error);
    if (!known || !protocol::is_retriable(*known) || broker_.clock().monotonic_ms() >= deadline) {
      return Cluster::kAnyNode;
    }
    broker_.pause(kRetryMs);
  }
}

Result<std::vector<ListedGroup>> Groups::list(std::int16_t& error) {
  WEIR_TRY(const auto answer, (broker_.call<protocol::ListGroupsRequest, protocol::ListGroupsResponse>({})));
  error = answer.response.error_code;
  std::vector<ListedGroup> groups;
  for (const auto& group : answer.response.groups) {
    groups.push_back({group.group_id.str(), group.group_state.str(), group.group_type.str()});
  }
  std::ranges::sort(groups, {}, &ListedGroup::id);
  return groups;
}

Result<GroupState> Groups::describe(const std::string& group, std::int16_t& error) {
  WEIR_TRY(const auto node, coordinator(group, error));
  if (error != 0) {
    return GroupState{};
  }
  protocol::DescribeGroupsRequest request;
  request.groups.emplace_back(group);
  WEIR_TRY(const auto answer,
           (broker_.call<protocol::DescribeGroupsRequest, protocol::DescribeGroupsResponse>(std::move(request), node)));
  if (answer.response.groups.empty()) {
    return {Errc::corrupt};
  }
  const auto& told = answer.response.groups.front();
  error = told.error_code == wire(ErrorCode::group_id_not_found) ? std::int16_t{0} : told.error_code;
  GroupState state{told.group_state.empty() ? "Dead" : told.group_state.str(),
                   told.protocol_type.str(),
                   told.protocol_data.str(),
                   {}};
  for (const auto& member : told.members) {
    state.members.push_back({member.member_id.str(), member.group_instance_id ? member.group_instance_id->str() : "",
                             member.client_id.str(), member.client_host.str(), assigned_to(member)});
  }
  return state;
}

Result<GroupExplanation> Groups::explain(const std::string& group, std::int16_t& error) {
  WEIR_TRY(const auto node, coordinator(group, error));
  if (error != 0) {
    return GroupExplanation{};
  }
  protocol::ExplainGroupRequest request;
  request.group_ids.emplace_back(group);
  WEIR_TRY(const auto answer,
           (broker_.call<protocol::ExplainGroupRequest, protocol::ExplainGroupResponse>(std::move(request), node)));
  if (answer.response.groups.empty()) {
    return {Errc::corrupt};
  }
  const auto& told = answer.response.groups.front();
  error = told.error_code;
  GroupExplanation explanation{told.state.str(), told.generation, told.state_since_ms, {}, {}};
  for (const auto& reason : told.reasons) {
    explanation.reasons.push_back(reason.str());
  }
  for (const auto& topic : told.topics) {
    for (const auto& part : topic.partitions) {
      const auto state = part.lag_state == 0   ? LagState::number
                         : part.lag_state == 1 ? LagState::no_commit
                                               : LagState::unknown;
      explanation.partitions.push_back({.at = {topic.topic_name.str(), part.partition_index},
                                        .state = state,
                                        .committed = part.committed_offset,
                                        .end = part.high_watermark,
                                        .behind = part.records_behind,
                                        .commit_age_ms = part.commit_age_ms,
                                        .member = part.member_id ? part.member_id->str() : ""});
    }
  }
  return explanation;
}

Result<OffsetsByPartition> Groups::committed(const std::string& group, std::int16_t& error) {
  WEIR_TRY(const auto node, coordinator(group, error));
  if (error != 0) {
    return OffsetsByPartition{};
  }
  protocol::OffsetFetchRequest request;
  auto& asked = request.groups.emplace_back();
  asked.group_id = Text{group};
  asked.topics.reset();
  WEIR_TRY(const auto answer, (broker_.call<protocol::OffsetFetchRequest, protocol::OffsetFetchResponse>(
                                  std::move(request), node, kByName)));
  OffsetsByPartition offsets;
  for (const auto& told : answer.response.groups) {
    error = told.error_code == wire(ErrorCode::group_id_not_found) ? std::int16_t{0} : told.error_code;
    for (const auto& topic : told.topics) {
      for (const auto& part : topic.partitions) {
        if (part.error_code != 0) {
          error = part.error_code;
        }
        if (part.committed_offset >= 0) {
          offsets[{topic.name.str(), part.partition_index}] = part.committed_offset;
        }
      }
    }
  }
  return offsets;
}

Result<void> Groups::commit(const std::string& group, const OffsetsByPartition& offsets, std::int16_t& error) {
  WEIR_TRY(const auto node, coordinator(group, error));
  if (error != 0) {
    return {};
  }
  protocol::OffsetCommitRequest request;
  request.group_id = Text{group};
  for (const auto& [at, offset] : offsets) {
    if (request.topics.empty() || request.topics.back().name != std::string_view{at.first}) {
      request.topics.emplace_back().name = Text{at.first};
    }
    request.topics.back().partitions.push_back({.partition_index = at.second, .committed_offset = offset});
  }
  WEIR_TRY(const auto answer, (broker_.call<protocol::OffsetCommitRequest, protocol::OffsetCommitResponse>(
                                  std::move(request), node, kByName)));
  for (const auto& topic : answer.response.topics) {
    for (const auto& part : topic.partitions) {
      if (part.error_code != 0) {
        error = part.error_code;
      }
    }
  }
  return {};
}

Result<void> Groups::remove(const std::string& group, std::int16_t& error) {
  WEIR_TRY(const auto node, coordinator(group, error));
  if (error != 0) {
    return {};
  }
  protocol::DeleteGroupsRequest request;
  request.groups_names.emplace_back(group);
  WEIR_TRY(const auto answer,
           (broker_.call<protocol::DeleteGroupsRequest, protocol::DeleteGroupsResponse>(std::move(request), node)));
  for (const auto& result : answer.response.results) {
    error = result.error_code;
  }
  return {};
}

}  // namespace weir::client
