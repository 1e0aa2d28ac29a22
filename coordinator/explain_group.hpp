// Why a group stands where it stands, in sentences for people. Pure, any thread: the facts of a group, how far it has
// read and a time go in. Each state and each cause has its sentence here and its case in explain_group_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "coordinator/group_types.hpp"

namespace weir::group {

enum class LagState : std::int8_t {
  number,     // `behind` says how many records wait
  no_commit,  // nobody has said how far the group is
  unknown     // there is no such partition (any more), or the commit lies beyond its end
};

struct PartitionStanding {
  std::int32_t partition = 0;
  LagState lag = LagState::unknown;
  std::int64_t committed = -1;  // -1: no commit
  std::int64_t log_start = -1;  // -1: there is no such partition
  std::int64_t high_watermark = -1;
  std::int64_t behind = -1;   // records that are there to be read; -1 unless a number
  Millis commit_age_ms = -1;  // since the last commit; -1: no commit
  Millis still_ms = -1;       // since the committed offset last changed; -1: no commit
  std::int32_t member = -1;   // whom it is assigned to: index into GroupFacts::members; -1: nobody
};

struct TopicStanding {
  std::string topic;
  bool exists = true;
  bool subscribed = false;                    // by some member
  std::vector<PartitionStanding> partitions;  // rising: all of a subscribed topic, else those committed or assigned
};

struct GroupStanding {
  std::string group_id;
  GroupFacts facts;
  std::vector<TopicStanding> topics;  // by name
};

// What holds the group up comes first, what is only worth knowing last. Not empty for a group that was found.
std::vector<std::string> explain_group(const GroupStanding& group, Now now);

// "12 s", "5 min", "3 h", "2 days".
std::string duration_text(Millis duration_ms);
// "1,234,567".
std::string grouped_digits(std::int64_t number);

}  // namespace weir::group
