// GroupShard: all groups of one partition of `__consumer_offsets`, as a pure state machine. Owned by
// broker/group_service; one thread (the io loop that owns the partition). Events and a time go in. Out come answers
// that may leave now, and records to append; the answers that depend on records come out of appended().
//
// How its owner drives it, after every call: send effects.answers, log effects.notes, move the log's start if
// effects.move_start is set; then, if take_append() gives records, append them as one batch and report the outcome with
// appended(). One append is under way at a time, so a group of events shares one sync. tick() at next_deadline().
//
// What OffsetFetch shows is durable, always. A refused append rolls the offsets back to what is durable, answers its
// events with a retriable error, and the groups go on from there. An append of which nothing is heard (a full disk) is
// waited for, but who asked hears coordinator_not_available after offsets.commit.timeout.ms, as from Kafka, members in
// JoinGroup and SyncGroup too; what was asked may still come true. Behind GroupConfig::queued_bytes_max of waiting
// records whatever would add one is refused so at once.
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
  [[nodiscard]] InspectedGroup inspect(const std::string& group_id) const;
  // The groups behind `after` ("": from the first) in the order of their ids, until their offsets and members are
  // `offsets_max` or more; none: there are no more. So that all can be looked at without holding the thread for long.
  [[nodiscard]] std::vector<InspectedGroup> inspect_some(const std::string& after, std::size_t offsets_max) const;
  [[nodiscard]] std::vector<ListedGroup> list() const;
  [[nodiscard]] std::size_t group_count() const { return slots_.size(); }

  [[nodiscard]] Millis next_deadline() const;  // monotonic; kNever if nothing is due ever
  void tick(Now now, Effects& out);

  // Empty: nothing to append, or an append is under way.
  std::vector<LogRecord> take_append();
  // The append that take_append() gave is durable at `base_offset`, or was refused.
  void appended(Result<Offset> outcome, Now now, Effects& out);

  // Key and value bytes that a replay would read; of these, what is still true (counted anew: slow, for tests).
  [[nodiscard]] std::int64_t log_bytes() const { return log_bytes_; }
  [[nodiscard]] std::int64_t live_bytes() const;

 private:
  struct Slot;
  struct Write;
  using Change = std::pair<OffsetKey, std::optional<CommittedOffset>>;  // nullopt: a tombstone

  [[nodiscard]] Slot* find(const std::string& group_id) const;
  [[nodiscard]] Slot* find_seen(const std::string& group_id) const;  // what describe and list tell
  Slot& find_or_make(const std::string& group_id, Now now);
  // Puts what a group asked for into the queue and its answers where they belong; `last` waits for the writes, if any.
  void apply(Slot& slot, GroupEffects effects, std::optional<Answer> last, Now now, Effects& out);
  void write_offsets(Slot& slot, std::vector<Change> changes, std::vector<Answer> answers, bool delete_group, Now now);
  void queue(Write write, Now now);
  // The log takes nothing for long, and clients ask again: what they are refused must not wait here as well.
  [[nodiscard]] bool is_queue_full() const { return queued_bytes_ >= config_.queued_bytes_max; }
  Write& write_of(WriteId id);
  void time_out(Now now, Effects& out);
  void finish(Write& write, ErrorCode error, Now now, Effects& out);
  // Forgets a group of which nothing is left, else files its next deadline.
  void settle(const std::string& group_id);

  // group_shard_upkeep.cpp
  void expire_offsets(Now now, Effects& out);
  void plan_reappend();
  void reappend_done(Result<Offset> outcome, Effects& out);
  template <class Visit>
  void for_each_live_record(Visit&& visit) const;

  const GroupConfig& config_;
  Random random_;
  std::map<std::string, std::unique_ptr<Slot>> slots_;
  std::set<std::pair<Millis, std::string>> deadlines_;
  Millis next_expiry_ms_ = kNever;

  // Groups made by a commit of which nothing could be written. As in Kafka admins can delete them and their offsets,
  // but nobody sees them before the next record of the partition; they go like all empty groups.
  std::set<std::string> unseen_;

  std::deque<Write> queued_;
  std::size_t queued_bytes_ = 0;  // of their records
  std::deque<Write> under_way_;
  struct Waiting {
    Millis until;  // monotonic
    WriteId write;
  };
  std::deque<Waiting> waiting_;         // writes that somebody waits for, oldest first
  std::optional<Errc> logged_refusal_;  // cause of the last append's refusal; logged once until it changes
  WriteId next_write_ = 1;

  std::deque<LogRecord> reappend_;        // live state still to be written again; nothing else is appended before it
  std::optional<Offset> reappend_start_;  // where the first of it went
  bool reappending_ = false;              // the append under way is a part of it
  bool start_at_next_append_ = false;     // there was no live state to write again
  std::int64_t reappended_bytes_ = 0;
  std::int64_t under_way_bytes_ = 0;
  std::int64_t log_bytes_ = 0;
  std::int64_t reappend_check_at_ = 0;  // log_bytes_ at which it may be worth it again
  bool has_unknown_records_ = false;    // kinds of a later build: writing live state anew would lose them
};

// What a group client is told when its record could not be appended, as Kafka maps it.
ErrorCode append_error(Errc code);
// The answer of the same kind that says `error` to all of it.
void refuse(Answer& answer, ErrorCode error);

}  // namespace weir::group
