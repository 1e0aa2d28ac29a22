// What goes into the group coordinator and what comes out: plain values that own all they hold, so that they may hop
// between threads. Nothing here knows a wire version; broker/handlers translate. Spelling follows the protocol.
//
// Every event that is answered later carries a Ticket of the caller's choice; exactly one Answer with it comes out.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"
#include "protocol/errors.hpp"

namespace weir::group {

using protocol::ErrorCode;
using Ticket = std::uint64_t;

inline constexpr Millis kNever = std::numeric_limits<Millis>::max();

// Deadlines use the monotonic time, what is written into records the wall time.
struct Now {
  Millis monotonic_ms = 0;
  Millis wall_ms = 0;
};

// One row each of the broker's config table. Defaults are Kafka's.
struct GroupConfig {
  Millis initial_rebalance_delay_ms = 3000;         // group.initial.rebalance.delay.ms
  Millis session_timeout_min_ms = 6000;             // group.min.session.timeout.ms
  Millis session_timeout_max_ms = 1'800'000;        // group.max.session.timeout.ms
  std::int32_t group_size_max = 2'147'483'647;      // group.max.size
  Millis new_member_join_timeout_ms = 300'000;      // Kafka's constant: a new member that waits in JoinGroup
  std::int32_t offset_metadata_units_max = 4096;    // offset.metadata.max.bytes, which counts UTF-16 units all the same
  Millis offsets_retention_ms = 10'080LL * 60'000;  // offsets.retention.minutes
  Millis offsets_retention_check_ms = 600'000;      // offsets.retention.check.interval.ms
  Millis write_timeout_ms = 5'000;                  // offsets.commit.timeout.ms
  std::int64_t reappend_dirty_bytes = 16LL << 20;   // docs/ARCHITECTURE.md, "Groups": when to write live state anew
  std::size_t append_bytes_max = std::size_t{256} << 10;  // one append carries no more, unless one event needs it
  std::size_t queued_bytes_max = std::size_t{4} << 20;    // of records behind it; then what would add one is refused
};

struct JoinProtocol {
  std::string name;
  SharedBytes metadata;
};

struct JoinRequest {
  std::string group_id;
  std::string member_id;
  std::optional<std::string> instance_id;
  std::string client_id;
  std::string client_host;  // as Kafka prints it: "/127.0.0.1"
  std::int32_t session_timeout_ms = 0;
  std::int32_t rebalance_timeout_ms = 0;  // version 0 has none: the session timeout
  std::string protocol_type;
  std::vector<JoinProtocol> protocols;  // in order of preference
  std::string reason;
  bool member_id_required = true;    // version 4 and later: a dynamic member must first ask for its id
  bool can_skip_assignment = false;  // version 9 and later
};

struct JoinedMember {
  std::string member_id;
  std::optional<std::string> instance_id;
  SharedBytes metadata;
};

struct JoinAnswer {
  ErrorCode error = ErrorCode::none;
  std::int32_t generation = -1;
  std::optional<std::string> protocol_type;
  std::optional<std::string> protocol_name;
  std::string leader;
  bool skip_assignment = false;
  std::string member_id;
  std::vector<JoinedMember> members;  // only for the leader
};

struct MemberAssignment {
  std::string member_id;
  SharedBytes assignment;
};

struct SyncRequest {
  std::string group_id;
  std::string member_id;
  std::optional<std::string> instance_id;
  std::int32_t generation = -1;
  std::optional<std::string> protocol_type;
  std::optional<std::string> protocol_name;
  std::vector<MemberAssignment> assignments;
};

struct SyncAnswer {
  ErrorCode error = ErrorCode::none;
  std::optional<std::string> protocol_type;
  std::optional<std::string> protocol_name;
  SharedBytes assignment;
};

// Who says something: a heartbeat, a commit.
struct Sender {
  std::string member_id;
  std::optional<std::string> instance_id;
  std::int32_t generation = -1;
};

struct LeavingMember {
  std::string member_id;
  std::optional<std::string> instance_id;
  std::string reason;
};

struct LeaveRequest {
  std::string group_id;
  std::vector<LeavingMember> members;
};

struct LeftMember {
  std::string member_id;
  std::optional<std::string> instance_id;
  ErrorCode error = ErrorCode::none;
};

struct LeaveAnswer {
  ErrorCode error = ErrorCode::none;
  std::vector<LeftMember> members;
};

struct CommitPartition {
  std::string topic;
  Uuid topic_id;
  std::int32_t partition = 0;
  std::int64_t offset = -1;
  std::int32_t leader_epoch = -1;
  std::string metadata;
};

struct CommitRequest {
  std::string group_id;
  Sender sender;
  std::optional<Millis> retention_ms;  // versions 2 to 4 may name it
  std::vector<CommitPartition> partitions;
  bool old_unknown_group_error = false;  // below version 9 an unknown group with a generation is error 22, else 69
};

struct CommitAnswer {
  std::vector<ErrorCode> partitions;  // in the order of the request
};

struct TopicPartitions {
  std::string topic;
  Uuid topic_id;  // zero: the caller knows none, no check
  std::vector<std::int32_t> partitions;
};

struct FetchedOffset {
  std::int32_t partition = 0;
  std::int64_t offset = -1;
  std::int32_t leader_epoch = -1;
  std::string metadata;
  Millis commit_ms = -1;   // of the commit, wall time
  Millis changed_ms = -1;  // of the first commit in a row that said this offset, as far as the log still tells
};

struct FetchedTopic {
  std::string topic;
  Uuid topic_id;
  std::vector<FetchedOffset> partitions;
};

struct DeleteOffsetsRequest {
  std::string group_id;
  std::vector<TopicPartitions> topics;
};

struct DeleteOffsetsAnswer {
  ErrorCode error = ErrorCode::none;
  std::vector<std::vector<ErrorCode>> topics;  // in the order of the request; empty with an error above
};

struct DeleteGroupAnswer {
  ErrorCode error = ErrorCode::none;
};

struct Answer {
  Ticket ticket = 0;
  std::variant<JoinAnswer, SyncAnswer, LeaveAnswer, CommitAnswer, DeleteOffsetsAnswer, DeleteGroupAnswer> body;
};

enum class GroupState : std::uint8_t { empty, preparing_rebalance, completing_rebalance, stable, dead };
std::string_view to_string(GroupState state);  // as DescribeGroups spells it

struct MemberFacts {
  std::string member_id;
  std::optional<std::string> instance_id;
  std::string client_id;
  std::string client_host;
  SharedBytes metadata;  // only in a stable group
  SharedBytes assignment;
  // What an explanation needs (coordinator/explain_group).
  SharedBytes subscription;  // metadata of the group's protocol, else of the member's first one; in every state
  Millis heard_ms = -1;      // its last request, monotonic; -1: none since this broker started
  std::int32_t session_timeout_ms = 0;
  Millis session_end_ms = kNever;  // monotonic, unless it is heard of before
  bool waits_in_join = false;
  bool waits_in_sync = false;
};

struct Rebalance {
  Millis at_ms = 0;  // monotonic
  std::string reason;
};

struct Departure {
  Millis at_ms = 0;  // monotonic
  std::string member_id;
  std::string reason;
};

struct GroupFacts {
  bool found = false;  // else the answer says Dead
  GroupState state = GroupState::dead;
  std::string protocol_type;
  std::string protocol_name;  // only in a stable group
  std::vector<MemberFacts> members;
  // What an explanation needs. Rebalances and departures since this broker started only.
  std::int32_t generation = -1;
  Millis state_since_ms = -1;     // wall time; -1: not known
  Millis deadline_ms = kNever;    // when a rebalance goes on without those who are missing; monotonic
  bool in_initial_delay = false;  // the deadline is the pause before a new group's first rebalance
  std::string leader;
  bool writes_assignments = false;    // the leader has sent them, their record is not durable yet
  std::int32_t pending_members = 0;   // were given an id and have not come back with it
  std::vector<Rebalance> rebalances;  // the newest kRebalancesKept, oldest first
  std::optional<Departure> last_departure;
};
inline constexpr std::size_t kRebalancesKept = 16;

// All that is known of a group at one moment.
struct InspectedGroup {
  std::string group_id;
  GroupFacts facts;
  std::vector<FetchedTopic> offsets;  // durable ones, without their metadata
};

struct ListedGroup {
  std::string group_id;
  std::string protocol_type;
  GroupState state = GroupState::empty;
};

}  // namespace weir::group
