// Group: what one gathered write carries, handed from the log role to the write role. Answers: completions sorted by
// where they run, so that each executor gets one post. Values; whoever holds a role holds them.
#pragma once

#include <memory>
#include <vector>

#include "log/commit_log.hpp"
#include "log/log_partition.hpp"

namespace weir::log {

struct Answer {
  Executor* on = nullptr;  // null: nobody waits
  UniqueFunction<void(const AppendOutcome&)> done;
  AppendOutcome outcome;
};

enum class Tells : std::uint8_t {
  log_end,    // behind this item; of a duplicate the end of the batch that it repeats
  truncated,  // the log end is this, and was beyond it
  bound,      // of the high watermark
};
struct GroupItem {
  std::shared_ptr<LogPartition> partition;
  Offset end;
  bool is_synced_answer;  // the answer waits for the sync
  Answer answer;
  Tells tells = Tells::log_end;
  bool is_producers = false;  // may be told that the disk is full while its bytes still wait for room
};

// Index, states and positions for a delta or for sealing, taken by the log role at one position.
struct PartitionSnapshot {
  std::shared_ptr<LogPartition> partition;
  std::shared_ptr<OpenIndex> index;  // null: no batch in this segment
  std::size_t index_from = 0;        // entries [from, to)
  std::size_t index_to = 0;
  PartitionState state;
  std::vector<std::vector<std::byte>> producers;
};
struct SegmentSnapshot {
  std::shared_ptr<Segment> segment;
  std::int64_t from = 0;  // file positions that a delta covers; sealing: all up to `to`
  std::int64_t to = 0;
  std::vector<PartitionSnapshot> partitions;  // rising local numbers; sealing: every live partition
  LocalPartition next_local{1};               // sealing: above every number that was ever given
};

struct Group {
  std::shared_ptr<Segment> segment;
  LogPosition from;
  LogPosition to;
  std::vector<GroupItem> items;
  bool needs_sync = false;                 // something in it waits for, or becomes visible by, a sync
  Millis sync_within_ms = kNoFlushMs;      // else: how long it may stay unsynced once it is written
  bool begins_segment = false;             // the segment is new: named in the manifest before its first byte is written
  std::unique_ptr<SegmentSnapshot> seal;   // the segment is full with this group
  std::unique_ptr<SegmentSnapshot> delta;  // to be written once this group is in the file
};

class Answers {
 public:
  void add(Answer answer) {
    if (answer.on == nullptr || !answer.done) {
      return;
    }
    for (auto& lot : lots_) {
      if (lot.on == answer.on) {
        lot.answers.push_back(std::move(answer));
        return;
      }
    }
    lots_.push_back({answer.on, {}});
    lots_.back().answers.reserve(kFewAnswers);
    lots_.back().answers.push_back(std::move(answer));
  }
  // One task per executor; then empty again.
  void post_all() {
    for (auto& lot : lots_) {
      lot.on->post([answers = std::move(lot.answers)]() mutable {
        for (auto& answer : answers) {
          answer.done(answer.outcome);
        }
      });
    }
    lots_.clear();
  }

 private:
  static constexpr std::size_t kFewAnswers = 8;
  struct Lot {
    Executor* on;
    std::vector<Answer> answers;
  };
  std::vector<Lot> lots_;
};

}  // namespace weir::log
