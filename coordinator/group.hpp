// Group: one classic consumer group as a pure state machine. Owned by a GroupShard; one thread. An event and a time go
// in; answers, a value to write and a deadline come out. No socket, disk or clock inside.
//
// Rules: Kafka's classic protocol as a 4.4.0 node showed it. A generation's assignments are answered only after
// written() said that their record is durable. Expiry is lazy: heartbeats only move a member's own deadline.
#pragma once

#include <deque>
#include <map>
#include <set>

#include "base/random.hpp"
#include "coordinator/group_records.hpp"
#include "coordinator/group_types.hpp"

namespace weir::group {

using WriteToken = std::uint64_t;

// A value of the group to append. The owner appends it and then calls Group::written with the token.
struct GroupWrite {
  WriteToken token = 0;
  GroupValue value;
};

struct GroupEffects {
  std::vector<Answer> answers;  // leave now
  std::vector<GroupWrite> writes;
  std::vector<std::string> notes;  // why the group moved, one sentence each, for the broker's log
};

class Group {
 public:
  Group(std::string id, const GroupConfig& config, Random& random, Now now);
  // As a record said. Sessions start with start_sessions().
  Group(std::string id, const GroupConfig& config, Random& random, const GroupValue& value);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  void join(JoinRequest request, Ticket ticket, Now now, GroupEffects& out);
  void sync(SyncRequest request, Ticket ticket, Now now, GroupEffects& out);
  ErrorCode heartbeat(const Sender& sender, Now now);
  LeaveAnswer leave(const std::vector<LeavingMember>& leaving, Now now, GroupEffects& out);
  // May this sender commit offsets? A yes keeps the sender's session alive.
  ErrorCode commit(const Sender& sender, Now now);
  void tick(Now now, GroupEffects& out);
  // Not later than the first thing that tick() has to do; kNever if there is nothing.
  [[nodiscard]] Millis next_deadline() const;
  // The write is durable, or was refused with `error`.
  void written(WriteToken token, ErrorCode error, Now now, GroupEffects& out);

  // After replay: members must heartbeat again; a group over a smaller size limit rebalances.
  void start_sessions(Now now, GroupEffects& out);
  // The group is being deleted (dead answers 15) / the deletion was refused.
  void die();
  void revive();
  // Answers everybody who waits with `error` and forgets all members: the group could not be created.
  void refuse_all(ErrorCode error, GroupEffects& out);

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] GroupState state() const { return state_; }
  [[nodiscard]] std::int32_t generation() const { return generation_; }
  [[nodiscard]] const std::string& protocol_type() const { return protocol_type_; }
  [[nodiscard]] std::size_t member_count() const { return members_.size(); }
  [[nodiscard]] bool has_pending_members() const { return !pending_.empty(); }
  [[nodiscard]] bool has_member(const std::string& member_id) const { return members_.contains(member_id); }
  [[nodiscard]] bool uses_consumer_protocol() const { return protocol_type_ == "consumer"; }
  // Kafka's rule: a consumer group whose subscriptions cannot be read counts as subscribed to everything.
  [[nodiscard]] bool is_subscribed_to(const std::string& topic) const;
  [[nodiscard]] bool knows_subscriptions() const { return subscribed_.has_value(); }
  [[nodiscard]] Millis state_since_ms() const { return state_since_ms_; }
  [[nodiscard]] GroupFacts facts() const;
  // The value of a group without members, as written when it is created.
  [[nodiscard]] GroupValue value_when_created() const;

 private:
  struct Member {
    std::string member_id;
    std::optional<std::string> instance_id;
    std::string client_id;
    std::string client_host;
    std::int32_t session_timeout_ms = 0;
    std::int32_t rebalance_timeout_ms = 0;
    std::vector<JoinProtocol> protocols;
    SharedBytes assignment;
    bool is_new = false;  // has not yet come through a rebalance: expires even while it waits
    std::optional<Ticket> join_ticket;
    std::optional<Ticket> sync_ticket;
    Millis heard_ms = -1;  // its last request
    Millis session_deadline = kNever;
    Millis queued_deadline = kNever;  // the entry in session_queue_ that counts; later than session_deadline never
  };
  struct PendingMember {  // has been given an id (79) and not come back yet
    Millis session_deadline = kNever;
    Millis queued_deadline = kNever;
  };
  struct AssignmentWrite {
    WriteToken token = 0;
    std::int32_t generation = 0;
    std::map<std::string, SharedBytes> assignments;
  };
  struct RejoinWrite {  // a static member took its place in a stable group under a new id
    Ticket ticket = 0;
    std::string old_member_id;
    std::string new_member_id;
    std::string old_leader;
    std::vector<JoinProtocol> old_protocols;
    std::int32_t old_session_timeout_ms = 0;
    std::int32_t old_rebalance_timeout_ms = 0;
    bool can_skip_assignment = false;
  };

  // group_join.cpp
  void join_new(JoinRequest request, Ticket ticket, Now now, GroupEffects& out);
  void join_known(JoinRequest request, Ticket ticket, Now now, GroupEffects& out);
  void rejoin_static(JoinRequest request, Ticket ticket, const std::string& old_id, std::string new_id, Now now,
                     GroupEffects& out);
  void add_member(JoinRequest request, Ticket ticket, std::string member_id, Now now, GroupEffects& out);
  void update_member(Member& member, std::vector<JoinProtocol> protocols, std::int32_t session_timeout_ms,
                     std::int32_t rebalance_timeout_ms, std::optional<Ticket> ticket, GroupEffects& out);
  Member& replace_static(const std::string& old_id, const std::string& new_id, GroupEffects& out);
  void rejoin_written(const RejoinWrite& write, ErrorCode error, Now now, GroupEffects& out);
  [[nodiscard]] bool accepts_size_with(const std::string& member_id) const;
  [[nodiscard]] bool supports(const JoinRequest& request) const;
  [[nodiscard]] JoinAnswer current_generation_for(const Member& member) const;

  // group_rebalance.cpp
  void rebalance_or_complete(const std::string& reason, Now now, GroupEffects& out);
  void prepare_rebalance(const std::string& reason, Now now, GroupEffects& out);
  void complete_join_if_all_there(Now now, GroupEffects& out);
  void complete_join(Now now, GroupEffects& out);
  void initial_delay_over(Now now, GroupEffects& out);
  void sync_time_over(Now now, GroupEffects& out);
  void assignment_written(const AssignmentWrite& write, ErrorCode error, Now now, GroupEffects& out);
  void answer_waiting_syncs(ErrorCode error, Now now, GroupEffects& out);
  bool elect_leader_who_joined();
  void next_generation(Now now);
  [[nodiscard]] std::string select_protocol() const;
  [[nodiscard]] std::optional<std::set<std::string>> read_subscriptions() const;
  [[nodiscard]] bool all_joined() const { return members_.size() == awaiting_join_ && pending_.empty(); }
  [[nodiscard]] Millis rebalance_timeout_ms() const;
  [[nodiscard]] GroupValue value_with(const std::map<std::string, SharedBytes>& assignments) const;

  // group.cpp
  [[nodiscard]] ErrorCode check_member(const std::string& member_id,
                                       const std::optional<std::string>& instance_id) const;
  void remove_member(const std::string& member_id, const std::string& reason, Now now, GroupEffects& out);
  void session_over(const std::string& member_id, Now now, GroupEffects& out);
  void after_removal(const std::string& reason, Now now, GroupEffects& out);
  void keep_alive(Member& member, Now now) {
    set_session_deadline(member, now.monotonic_ms + member.session_timeout_ms);
  }
  void set_session_deadline(Member& member, Millis deadline);
  void queue_deadline(Millis deadline, const std::string& member_id);
  void answer_join(Member& member, JoinAnswer answer, GroupEffects& out);
  void answer_sync(Member& member, SyncAnswer answer, GroupEffects& out);
  void count_protocols(const Member& member, int step);
  void go(GroupState next, Now now);
  static constexpr std::size_t kReasonBytesMax = 200;  // of what is kept: clients may say 32,767
  [[nodiscard]] bool is_leader(const std::string& member_id) const { return leader_ == member_id; }

  const std::string id_;
  const GroupConfig& config_;
  Random& random_;

  GroupState state_ = GroupState::empty;
  GroupState previous_state_ = GroupState::empty;
  Millis state_since_ms_ = -1;
  std::int32_t generation_ = 0;
  std::string protocol_type_;  // "": none yet, a group that only stores offsets
  std::optional<std::string> protocol_name_;
  std::optional<std::string> leader_;
  std::optional<std::set<std::string>> subscribed_;

  std::map<std::string, Member> members_;
  std::map<std::string, PendingMember> pending_;
  std::map<std::string, std::string> static_members_;     // instance id -> member id
  std::map<std::string, std::int64_t> protocol_support_;  // protocol -> members that have it
  std::set<std::string> pending_sync_;
  std::size_t awaiting_join_ = 0;

  std::set<std::pair<Millis, std::string>> session_queue_;
  Millis join_deadline_ = kNever;
  Millis sync_deadline_ = kNever;
  bool initial_delay_ = false;  // join_deadline_ is the pause before the first rebalance
  Millis delay_ms_ = 0;
  Millis delay_left_ms_ = 0;
  bool new_member_added_ = false;

  std::deque<Rebalance> rebalances_;  // the newest kRebalancesKept
  std::optional<Departure> last_departure_;

  WriteToken next_token_ = 1;
  std::optional<AssignmentWrite> assignment_write_;
  std::map<WriteToken, RejoinWrite> rejoin_writes_;
};

}  // namespace weir::group
