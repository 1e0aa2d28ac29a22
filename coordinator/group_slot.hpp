// What a GroupShard keeps for each group and each write: private to group_shard*.cpp.
#pragma once

#include "coordinator/group_shard.hpp"

namespace weir::group {

struct GroupShard::Slot {
  std::optional<Group> group;  // set from the end of find_or_make / replay on
  Offsets offsets;
  std::optional<std::vector<std::byte>> durable_value;  // the group's newest durable record
  std::int32_t writes = 0;                              // queued or under way
  Millis filed_deadline = kNever;                       // the entry in deadlines_
  // A commit made it: without offsets too it is there until the next expiry check, as in Kafka, or until the log is
  // written anew without it.
  bool stays_empty = false;

  // Nothing durable, nobody here, nothing to come: as if it had never been.
  [[nodiscard]] bool is_nothing() const {
    return writes == 0 && !durable_value && !stays_empty && offsets.empty() && group->member_count() == 0 &&
           !group->has_pending_members();
  }
};

// One event's records, and what they mean.
struct GroupShard::Write {
  enum class Kind : std::uint8_t { group_created, group_value, offsets, delete_group };
  WriteId id = 0;
  Kind kind = Kind::offsets;
  std::string group_id;
  WriteToken token = 0;  // group_value
  std::vector<OffsetKey> keys;
  std::vector<LogRecord> records;  // of a group record the value stays here until it is durable
  std::vector<Answer> answers;     // leave when durable, or are turned into refusals

  [[nodiscard]] std::size_t size() const {
    std::size_t sum = 0;
    for (const auto& record : records) {
      sum += record.size();
    }
    return sum;
  }
};

template <class Visit>
void GroupShard::for_each_live_record(Visit&& visit) const {
  for (const auto& [id, slot] : slots_) {
    if (slot->durable_value) {
      auto record = group_tombstone(id);
      record.value = slot->durable_value;
      visit(std::move(record));
    }
    slot->offsets.for_each_durable([&](const std::string& topic, std::int32_t partition, const CommittedOffset& value,
                                       Millis) { visit(offset_record({id, topic, partition}, value)); });
  }
}

}  // namespace weir::group
