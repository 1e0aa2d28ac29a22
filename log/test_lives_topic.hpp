// A partition as its clients know it through the lives of a log or a broker, however each ended, and what is wrong with
// what is shown of it. For log/lives_sim_test and sim/broker_lives_sim_test.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "log/partition.hpp"

namespace weir::log {

// What the end of a life leaves of what was answered.
enum class Left : std::uint8_t {
  all,      // a stop that said clean, or a process that died: whatever acks said
  promised  // a power cut, or a sync that failed: what acks=all on a safe topic and acks=internal promise
};

enum class Stamps : std::uint8_t { now, none, negative, future, old, mixed };
constexpr std::uint64_t kStampKinds = 6;

struct SentFacts {
  Millis stamp = -1;
  Millis append_ms = 0;  // wall clock, the lowest that it can be
  std::int64_t bytes = 0;
};

struct LivesTopic {
  int number = 0;
  PartitionRules rules;
  int rules_changes = 0;
  Stamps stamps = Stamps::now;
  bool is_deleted = false;
  int next_value = 0;
  std::map<std::int64_t, std::string> known;     // that a client has read or whose offset it was told
  std::map<std::int64_t, std::string> answered;  // without an error
  std::map<std::int64_t, std::string> promised;  // also against a power cut
  std::set<std::string> refused;                 // may be nowhere
  std::map<std::string, SentFacts> facts;        // of each value that was sent
  std::int64_t seen_end = 0;                     // high watermark that a reader saw
  std::int64_t start = 0;                        // log start that was answered
  std::int64_t start_asked = 0;                  // the highest that anybody asked for
  Millis shortest_retention_ms = -1;             // that was ever in force
  std::int64_t smallest_retention_bytes = -1;
  bool epoch_was_raised = false;  // since the last judgement
  std::int32_t leader_epoch = 0;  // that clients were told

  void set_rules(const PartitionRules& to) {
    rules = to;
    ++rules_changes;
    const auto lower = [](std::int64_t& least, std::int64_t value) {
      least = value >= 0 && (least < 0 || value < least) ? value : least;
    };
    lower(shortest_retention_ms, to.retention_ms);
    lower(smallest_retention_bytes, to.retention_bytes);
  }
};

inline constexpr Millis kHour = 3'600'000;
inline constexpr Millis kDay = 24 * kHour;
inline constexpr std::int64_t kMiB = 1 << 20;

template <std::size_t kCount, class Value>
Value pick(Random& random, const std::array<Value, kCount>& values) {
  return values[random.below(kCount)];
}

inline std::string to_text(const PartitionRules& rules) {
  return std::string{rules.flush == FlushMode::async ? "async" : "sync"} + ", retention " +
         std::to_string(rules.retention_ms) + " ms " + std::to_string(rules.retention_bytes) + " bytes";
}

inline PartitionRules draw_rules(Random& random) {
  PartitionRules rules;
  rules.flush = random.chance(3) ? FlushMode::async : FlushMode::sync;
  rules.retention_ms = pick(random, std::array<Millis, 3>{-1, 7 * kDay, 30 * kDay});
  rules.retention_bytes = random.chance(6) ? 600'000 : -1;
  return rules;
}
inline Millis draw_stamp(Stamps stamps, Millis wall, Random& random) {
  switch (stamps) {
    case Stamps::now: return wall;
    case Stamps::none: return -1;
    case Stamps::negative: return -kDay;
    case Stamps::future: return wall + 365 * kDay;
    case Stamps::old: return wall - 20 * kDay;
    case Stamps::mixed: return draw_stamp(static_cast<Stamps>(random.below(kStampKinds - 1)), wall, random);
  }
  return -1;
}

// May retention have dropped it by its age? Its own stamp counts, but not one in the future, and without one (also a
// negative one) the time of its append.
inline bool is_old(const LivesTopic& topic, const SentFacts& facts, Millis latest_wall_ms) {
  const auto time = facts.stamp >= 0 ? std::min(facts.stamp, facts.append_ms) : facts.append_ms;
  return topic.shortest_retention_ms >= 0 && time < latest_wall_ms - topic.shortest_retention_ms;
}

// "" or the first record that was dropped and had no reason to be.
inline std::string judge_dropped(const LivesTopic& topic, std::int64_t log_start, Millis latest_wall_ms) {
  std::int64_t bytes_left = 0;  // at most: also what nobody knows to be there
  for (const auto& [value, facts] : topic.facts) {
    bytes_left += facts.bytes;
  }
  bool has_old = false;
  for (const auto& [offset, value] : topic.known) {
    const auto& facts = topic.facts.at(value);
    bytes_left -= offset < log_start ? facts.bytes : 0;
    has_old = has_old || (offset < log_start && facts.stamp >= 0 && is_old(topic, facts, latest_wall_ms));
  }
  if (topic.smallest_retention_bytes >= 0 && bytes_left >= topic.smallest_retention_bytes) {
    return "";
  }
  for (auto at = topic.known.lower_bound(std::max(topic.start, topic.start_asked)); at != topic.known.end(); ++at) {
    if (at->first >= log_start) {
      break;
    }
    const auto& facts = topic.facts.at(at->second);
    // Where others have stamps the one without goes with them, as in Kafka.
    if (!is_old(topic, facts, latest_wall_ms) && !(topic.stamps == Stamps::mixed && has_old)) {
      return "retention dropped offset " + std::to_string(at->first) + ", stamp " + std::to_string(facts.stamp) +
             ", appended at " + std::to_string(facts.append_ms) + ", now " + std::to_string(latest_wall_ms);
    }
  }
  return "";
}

inline std::string judge_missing(const std::map<std::int64_t, std::string>& wanted,
                                 const std::map<std::int64_t, std::string>& stored, std::int64_t log_start,
                                 std::string_view what) {
  for (auto at = wanted.lower_bound(log_start); at != wanted.end(); ++at) {
    const auto found = stored.find(at->first);
    if (found == stored.end() || found->second != at->second) {
      return std::string{what} + " offset " + std::to_string(at->first) +
             (found == stored.end() ? " is gone" : " is another");
    }
  }
  return "";
}

// A value is "writer:number:..."; those of one writer come in the order of their numbers, each at most once.
inline std::string judge_records(const LivesTopic& topic, const std::map<std::int64_t, std::string>& stored,
                                 std::int64_t start, std::int64_t end) {
  auto next = start;
  std::map<std::string, int> newest;  // number of each writer
  for (const auto& [offset, value] : stored) {
    if (offset != next++) {
      return "a gap before offset " + std::to_string(offset);
    }
    if (!topic.facts.contains(value)) {
      return "offset " + std::to_string(offset) + " holds what nobody sent to it";
    }
    if (topic.refused.contains(value)) {
      return "offset " + std::to_string(offset) + " holds what was refused";
    }
    const auto colon = value.find(':');
    const auto sent_as = std::stoi(value.substr(colon + 1));
    auto& number = newest.try_emplace(value.substr(0, colon), -1).first->second;
    if (sent_as <= number) {
      return "a wrong order or a duplicate at offset " + std::to_string(offset);
    }
    number = sent_as;
  }
  return next == end ? "" : "fewer records than the high watermark says: " + std::to_string(next);
}

// What a start shows of the topic, and what is known of it from then on. "" or the promise that is broken.
inline std::string judge_shown(LivesTopic& topic, std::map<std::int64_t, std::string> stored, std::int64_t start,
                               std::int64_t end, Left left, Millis latest_wall_ms) {
  const auto range = std::to_string(start) + " to " + std::to_string(end);
  if (start < topic.start) {
    return "the log start that was answered, " + std::to_string(topic.start) + ", is " + range;
  }
  auto why = judge_records(topic, stored, start, end);
  why = why.empty() ? judge_missing(topic.promised, stored, start, "promised") : why;
  if (why.empty() && left == Left::all) {
    why = judge_missing(topic.answered, stored, start, "answered");
  }
  if (why.empty() && !topic.epoch_was_raised) {
    auto seen = topic.known;
    seen.erase(seen.lower_bound(topic.seen_end), seen.end());
    why = judge_missing(seen, stored, start, "seen and without a new leader epoch");
    if (why.empty() && end < topic.seen_end) {
      why = "the high watermark was " + std::to_string(topic.seen_end);
    }
  }
  why = why.empty() ? judge_dropped(topic, start, latest_wall_ms) : why;
  if (!why.empty()) {
    return why + " (it is " + range + ")";
  }
  topic.known = topic.answered = topic.promised = std::move(stored);  // a start has synced all that it shows
  topic.seen_end = end;
  topic.start = topic.start_asked = start;
  topic.epoch_was_raised = false;
  return "";
}

}  // namespace weir::log
