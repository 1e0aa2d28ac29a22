// Appender: the queue of appends and the log role that empties it: producer check, offset, entry header, image, open
// index, and the parking of answers in the open group. Never touches the disk, never waits.
//
// Owner: the engine of CommitLog. push* and bring() on any thread; request_group() and the writer's side on
// Runtime::write; offer_segment() on the pool; all members marked "log role" belong to whoever holds the gate.
//
// States of the log role's work: incoming (queue) -> backlog (swapped out) -> open group -> closed groups -> writer.
// A work item that finds no room in the image, or no prepared segment, stays first in the backlog; the writer (after a
// write) and the keeper (after preparing) bring the role again. What must hold is in docs/ARCHITECTURE.md, "The log".
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "log/entry.hpp"
#include "log/group.hpp"
#include "log/image.hpp"
#include "log/role_gate.hpp"
#include "log/space_guard.hpp"

namespace weir::log {

struct AppenderLimits {
  std::int64_t segment_bytes = 1LL << 30;
  std::int64_t delta_bytes = 64LL << 20;
  std::int64_t segment_index_bytes_max = 48LL << 20;
  bool whole_blocks = false;  // every group ends at a block's end: it is written past the page cache
};

// What the appender asks of its surroundings. Called in the log role; must not block.
class AppenderHooks {
 public:
  virtual ~AppenderHooks() = default;
  virtual void wake_writer() = 0;        // something is in the open group or waits for room in the image
  virtual void group_is_ready() = 0;     // the awaited group: take_groups() now gives it
  virtual void want_segment() = 0;       // prepare the next one; offer_segment() when done
  virtual void continue_log_role() = 0;  // the role is held and too many turns were made: post run_held_role()
  virtual void limit_reached() = 0;      // SpaceGuard::limit(): a producer was refused
  // The segment begins to be filled: publish it to readers, and say what its header holds.
  virtual SegmentHeader segment_begins(const std::shared_ptr<Segment>& segment) = 0;
  [[nodiscard]] virtual LogPosition begin_of_oldest_segment() const = 0;
};

class Appender {
 public:
  // While `space` is short what producers send is refused with disk_full; internal records still go in.
  Appender(AppenderLimits limits, Image& image, Clock& clock, const SpaceGuard& space, AppenderHooks& hooks)
      : limits_(limits), image_(image), clock_(clock), space_(space), hooks_(hooks) {}

  // Before the roles start: partitions that the log knows, the number for the next one, where to go on. A null segment
  // means that the first turn begins with a prepared one.
  struct Beginning {
    std::vector<std::shared_ptr<LogPartition>> live;
    LocalPartition next_local{1};
    std::shared_ptr<Segment> open;  // go on in it from `tail`; null: the first turn begins a prepared one at `tail`
    LogPosition tail;
    std::int64_t open_entries = 0;
  };
  void start(Beginning beginning);

  // Any thread.
  using Control = UniqueFunction<bool(Appender&)>;  // runs in the log role; false: no room now, ask again later
  void push(Append request);
  void push(std::span<Append> requests);
  void push_as_follower(Append request);
  void push_control(Control control);
  // Reserves a memory partition's offsets below `end`, as durable as a commit; `done` says why not (disk_full and
  // read_only as for a producer).
  void push_reserve(std::shared_ptr<Partition> partition, Offset end, Executor& reply_on,
                    UniqueFunction<void(const AppendOutcome&)> done);
  // A turn that were left by an exception would hold the role for ever: it ends the process.
  void bring() noexcept;
  void run_held_role() noexcept;  // the continuation asked for by continue_log_role()
  [[nodiscard]] LogPosition appended() const { return {appended_.load(std::memory_order_acquire)}; }
  // For ever: nothing goes into the log any more, and `why` is what producers are told.
  void set_read_only(Errc why = Errc::read_only) {
    auto none = kWrites;
    read_only_.compare_exchange_strong(none, static_cast<int>(why), std::memory_order_acq_rel);
  }
  [[nodiscard]] bool is_read_only() const { return read_only_.load(std::memory_order_acquire) != kWrites; }
  void set_synced(LogPosition position) { synced_.store(position.value, std::memory_order_release); }
  [[nodiscard]] LogPosition synced() const { return {synced_.load(std::memory_order_acquire)}; }

  // Write role. True: the groups are in `into` (perhaps none). False: group_is_ready() will be called.
  bool request_groups(bool pad, std::vector<Group>& into);
  void take_groups(std::vector<Group>& into);
  [[nodiscard]] bool writer_is_needed() const { return writer_needed_.load(std::memory_order_seq_cst); }

  // Pool.
  void offer_segment(std::shared_ptr<Segment> segment);

  // Log role, for controls.
  bool put_created(const std::shared_ptr<LogPartition>& partition, LeaderEpoch epoch);
  bool put_deleted(LogPartition& partition);
  bool put_start_moved(const std::shared_ptr<LogPartition>& partition, Offset start,
                       Answer& answer);                                                // takes it if true
  bool put_epoch_start(const std::shared_ptr<LogPartition>& partition, Offset start);  // of its leader_epoch()
  // The same reservation once more, in another block: a bad block must not bring offsets back.
  bool put_reserved_copy(const std::shared_ptr<LogPartition>& partition);
  // Replicated partitions. `producers`: as of offset `end`. Each takes the answer if true.
  bool put_truncated(const std::shared_ptr<LogPartition>& partition, const TruncatedPayload& to,
                     const ProducerTable& producers, Answer& answer);
  bool put_bound(const std::shared_ptr<LogPartition>& partition, Offset bound);
  // The end of this life, in two steps. finish(): from now on all is refused (appends get `closed`, controls do
  // nothing); fills the segment if it has anything beyond its state, so that the log ends with a fresh state entry.
  // end(): closes the last group; not a byte may follow. `answer` waits for its sync.
  bool finish();
  void end(Answer answer);
  [[nodiscard]] LocalPartition next_local() const { return next_local_; }
  void expire_producers(Millis expiration_ms);
  // Fills that segment, if it is still the one that is being filled and the log goes on.
  bool roll(SegmentId segment);
  bool ask_for_sync();  // of all that is in the log now

 private:
  struct Work {
    Append append;
    Control control;        // set: a control, else an append
    Offset reserve_to{-1};  // set: a reservation by the append's partition, which has no batch
    bool as_follower = false;
  };
  bool do_work(Work& work);
  bool do_reserve(Append& request, Offset end);
  [[nodiscard]] std::optional<Error> why_not(const Append& request) const;  // may nothing of it go into the log?
  bool turn();
  void run_role() noexcept;
  void hand_over_if_wanted();
  bool do_append(Append& request);
  bool do_append_as_follower(Append& request);
  bool refuse_too_large(Append& request);
  bool make_room_for_batch(LogPartition& partition, std::size_t entry_bytes);
  void put_batch(Append& request, Offset base);
  [[nodiscard]] std::optional<Error> why_not_truncate(const LogPartition& partition, const TruncatedPayload& to) const;
  void put_truncation_group(LogPartition& partition, const TruncatedPayload& to, const ProducerTable& producers,
                            LogPosition at);
  void repeat_answer(Append& request, const SequenceCheck& original);
  void refuse(Append& request, Error error);
  void refuse_what_has_no_segment(Error why);
  void take_incoming();
  // Nothing may go into the log: the stop is under way, or the disk has failed.
  [[nodiscard]] bool is_over() const { return closing_ || is_read_only(); }
  [[nodiscard]] std::optional<Error> why_no_segment_comes() const;
  [[nodiscard]] bool is_beyond_limit(const Append& request) const;
  void answer_when_synced(Answer answer);  // all that is in the log now
  bool make_room(std::size_t entry_bytes);
  [[nodiscard]] std::int64_t file_end_max() const;
  bool segment_is_ready();  // there is one, and its state is in the image
  bool begin_segment();
  bool put_pending_state();
  void fill_segment();
  bool finish_segment();
  void begin_bytes();
  void close_group(bool pad);
  void put_zeros(std::size_t count);
  bool put_reserved(const std::shared_ptr<LogPartition>& partition, Offset end);
  bool put_created_entry(const LogPartition& partition, LeaderEpoch epoch);
  bool put_created_copy(LogPartition& partition);
  [[nodiscard]] std::optional<Error> why_closed(const LogPartition& partition) const;
  void answer_at_once(Answer& answer, Error error);
  template <class Payload>
  bool put_control_entry(LocalPartition partition, const Payload& payload);
  void mark_changed(const std::shared_ptr<LogPartition>& partition);
  void take_delta_if_due();
  [[nodiscard]] std::unique_ptr<SegmentSnapshot> snapshot_of_all();
  [[nodiscard]] PartitionSnapshot snapshot_of(const std::shared_ptr<LogPartition>& partition) const;
  [[nodiscard]] std::int64_t file_position() const { return image_.tail().value - segment_->start().value; }

  const AppenderLimits limits_;
  Image& image_;
  Clock& clock_;
  const SpaceGuard& space_;
  AppenderHooks& hooks_;

  RoleGate gate_;
  std::mutex queue_mutex_;  // guards incoming_
  std::vector<Work> incoming_;
  std::mutex next_mutex_;  // guards next_
  std::shared_ptr<Segment> next_;

  // Log role.
  std::vector<Work> backlog_;
  std::size_t backlog_at_ = 0;
  std::map<LocalPartition, std::shared_ptr<LogPartition>> live_;
  LocalPartition next_local_{1};                       // above every number in live_ and every one that was ever there
  std::shared_ptr<Segment> segment_;                   // null or full (valid_end set): begin the next one
  std::vector<std::vector<std::byte>> pending_state_;  // chunks that still have to go to the new segment's beginning
  std::size_t pending_state_at_ = 0;
  std::int64_t data_from_ = 0;        // file position behind the state
  bool has_entries_ = false;          // behind the state there is more than groups and pads
  std::int64_t segment_entries_ = 0;  // index entries of this segment
  std::int64_t delta_from_ = 0;
  std::vector<std::shared_ptr<LogPartition>> changed_;  // since the last delta, each once
  std::unique_ptr<SegmentSnapshot> due_delta_;
  Group group_;  // the open one
  bool group_has_bytes_ = false;
  std::vector<Group> closed_;  // wait for the writer's request
  bool stalled_on_image_ = false;
  bool wants_segment_ = false;
  bool closing_ = false;
  bool has_ended_ = false;
  bool has_no_segment_ = false;  // this turn, and none comes soon: what needs one is refused
  Millis now_ms_ = 0;            // wall time of this turn
  Answers answers_now_;          // refusals, and duplicates that are as durable as asked
  std::vector<std::byte> scratch_;

  // Between the roles.
  std::atomic<int> close_wanted_{0};  // 1: close, 2: close with a pad
  enum Mailbox : int { empty, filled, awaited };
  std::atomic<int> mailbox_{empty};
  std::vector<Group> handed_;  // owned by the log role until the mailbox is filled, then by the write role
  std::atomic<bool> writer_needed_{false};
  std::atomic<std::int64_t> appended_{0};
  std::atomic<std::int64_t> synced_{0};
  static constexpr int kWrites = -1;
  std::atomic<int> read_only_{kWrites};  // else the Errc of the refusal
};

}  // namespace weir::log
