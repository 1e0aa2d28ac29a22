// GroupShard: all groups of one partition of `__consumer_offsets`, as a pure state machine. Owned by
// broker/group_service; one thread (the io loop that owns the partition). Events and a time go in. Out come answers
// that may leave now, and records to append; the answers that depend on records come out of appended().
//
// How its owner drives it, after every call: send effects.answers, log effects.notes, move the log's start if
// effects.move_start is set; then, if take_append() gives records, append them as one batch and report the outcome with
// appended(). One append is under way at a time, so a group of events shares one sync. tick() at next_deadline().
//
// What OffsetFetch shows is durable, always. A refused append rolls the offsets back to what is durable, answers its
// events with a retriable error, and the groups go on from there.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "coordinator/group.hpp"
#include "coordinator/offsets.hpp"

namespace weir::group {

struct Effects {
  std::vector<Answer> answers;
  std::vector<std::string> notes;
  std::optional<Offset> move_start;  // everything below has been written again: the log may start here
};

class GroupShard {
 public:
  GroupShard(const GroupConfig& config, Random random);
  ~GroupShard();

  // Start: every record of the partition in order, then loaded(). An error names a record that was skipped.
  Result<void> replay(Bytes key, std::optional<Bytes> value);
  void loaded(Now now, Effects& out);

  void join(JoinRequest request, Ticket ticket, Now now, Effects& out);
  void sync(SyncRequest request, Ticket ticket, Now now, Effects& out);
  ErrorCode heartbeat(const std::string& group_id, const Sender& sender, Now now);
  void leave(const LeaveRequest& request, Ticket ticket, Now now, Effects& out);
  void commit(CommitRequest request, Ticket ticket, Now now, Effects& out);
  void delete_offsets(const DeleteOffsetsRequest& request, Ticket ticket, Now now, Effects& out);
  void delete_group(const std::string& group_id, Ticket ticket, Now now, Effects& out);
  // Tombstones for the offsets of topics for which `is_gone` says true (a topic was deleted).
  void drop_topics(const std::function<bool(const std::string& topic, const Uuid& topic_id)>& is_gone, Now now,
                   Effects& out);

  // Reads, answered at once. An unknown group has no offsets; that is no error.
  [[nodiscard]] std::vector<FetchedTopic> fetch(const std::string& group_id,
                                                const std::vector<TopicPartitions>& topics) const;
  [[nodiscard]] std::vector<FetchedTopic> fetch_all(const std::string& group_id) const;
  [[nodiscard]] GroupFacts describe(const std::string& group_id) const;
  [[nodiscard]] std::vector<ListedGroup> list() const;

  [[nodiscard]] Millis next_deadline() const;  // monotonic; kNever if nothing is due ever
  void tick(Now now, Effects& out);

  // Empty: nothing to append, or an append is under way.
  std::vector<LogRecord> take_append();
  // The append that take_append() gave is durable at `base_offset`, or was refused.
  void appended(Result<Offset> outcome, Now now, Effects& out);

  [[nodiscard]] std::int64_t log_bytes() const { return log_bytes_; }    // key and value bytes that a replay reads
  [[nodiscard]] std::int64_t live_bytes() const { return live_bytes_; }  // of these, what is still true

 private:
  struct Slot;
  struct Write;
  using Slots = std::map<std::string, std::unique_ptr<Slot>, std::less<>>;

  Slot* find(const std::string& group_id) const;
  Slot& find_or_make(const std::string& group_id, Now now);
  void apply(Slot& slot, GroupEffects& effects, Effects& out, std::optional<Answer> answer_when_durable = {});
  void queue(Write write);
  void settle(Slot& slot);
  void finish(Write& write, ErrorCode error, Now now, Effects& out);
  void note_live(std::size_t before, std::size_t after);
  void write_offsets(Slot& slot, std::vector<std::pair<OffsetKey, std::optional<CommittedOffset>>> values,
                     std::vector<Answer> answers, bool deletes_group);
  void expire_offsets(Now now, Effects& out);
  void plan_reappend();

  const GroupConfig& config_;
  Random random_;
  Slots slots_;
  std::set<std::pair<Millis, Slot*>> deadlines_;
  Millis next_expiry_ms_ = kNever;

  std::deque<Write> queued_;
  std::deque<Write> under_way_;
  WriteId next_write_ = 1;
  std::int64_t log_bytes_ = 0;
  std::int64_t live_bytes_ = 0;
  std::int64_t reappend_retry_at_ = 0;  // log_bytes_ below which a refused re-append is not tried again
  std::optional<Offset> reappend_start_;
  bool has_unknown_records_ = false;  // kinds of a later build: writing live state anew would lose them
};

}  // namespace weir::group
