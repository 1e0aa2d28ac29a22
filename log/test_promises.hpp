// Promises: what was said about a log while its disk was recorded, each with the number of events that the disk had
// seen by then. So a power cut behind any event can be judged: held_at() says what must be true of what it left,
// judge() looks at a log that was started there. For tests.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "log/test_log_read.hpp"

namespace weir::log {

struct TopicPromise {
  PartitionRules rules;
  std::map<std::int64_t, std::string> records;  // acknowledged after a sync, or shown by a start, which syncs first
  std::int64_t start = 0;                       // log start that was answered
  std::int64_t start_asked = 0;                 // the highest that anybody asked for
  std::int64_t seen_end = 0;                    // high watermark that a reader of a synced topic saw
  std::optional<TestBatch> last_sequenced;      // the newest acknowledged batch of its idempotent producer
  std::int64_t last_sequenced_at = 0;           // where it is
  std::int16_t producer_epoch = 0;              // the newest that the producer used
  int sent = 0;                                 // batches with that epoch
  int last_sequenced_number = 0;                // which of them that was
};

struct Held {
  std::map<int, TopicPromise> topics;    // that exist
  int topics_made = 0;                   // ids are never used again
  std::optional<LogPosition> clean_end;  // what the log told when it has stopped, and did not start again
};

class Promises {
 public:
  using Change = std::function<void(Held&)>;
  void add(std::size_t at, Change change) { changes_.emplace_back(at, std::move(change)); }
  [[nodiscard]] Held held_at(std::size_t events, Held held = {}) const {
    for (const auto& [at, change] : changes_) {
      if (at <= events) {
        change(held);
      }
    }
    return held;
  }

 private:
  std::vector<std::pair<std::size_t, Change>> changes_;
};

inline std::string judge_topic(const TestLog& test, int topic, const TopicPromise& promise) {
  const auto partition = test.find(topic, 0);
  const auto name = "topic " + std::to_string(topic) + ": ";
  if (!partition) {
    return name + "gone";
  }
  const auto read = test.read_all(*partition);
  if (!read) {
    return name + "cannot be read: " + to_string(read.error());
  }
  const auto start = partition->log_start().value;
  const auto end = partition->high_watermark().value;
  if (end < promise.seen_end || start < promise.start ||
      (promise.rules.retention_bytes < 0 && start > std::max(promise.start, promise.start_asked))) {
    return name + "start or end: " + std::to_string(start) + " to " + std::to_string(end) + ", seen " +
           std::to_string(promise.start) + " to " + std::to_string(promise.seen_end);
  }
  if (partition->log_end().value != end) {
    return name + "records that are not visible";
  }
  std::map<std::int64_t, std::string> stored;
  auto next = start;
  int number = -1;
  for (const auto& record : *read) {
    if (record.offset.value != next++) {
      return name + "a gap before offset " + std::to_string(record.offset.value);
    }
    const auto colon = record.value.find(':');
    if (std::stoi(record.value) != topic || std::stoi(record.value.substr(colon + 1)) <= number) {
      return name + "another topic's record, a duplicate or a wrong order at " + std::to_string(record.offset.value);
    }
    number = std::stoi(record.value.substr(colon + 1));
    stored.emplace(record.offset.value, record.value);
  }
  if (next != end) {
    return name + "fewer records than the high watermark says";
  }
  for (const auto& [offset, value] : promise.records) {
    const auto found = stored.find(offset);
    if (offset >= start && (found == stored.end() || found->second != value)) {
      return name + "promised record " + std::to_string(offset) + (found == stored.end() ? " is gone" : " is another");
    }
  }
  return "";
}

// The first promise that a started log breaks, in words, or "".
inline std::string judge(TestLog& test, const Held& held) {
  if (test.log->statistics().recovery_damaged_ranges > 0) {
    return "a power cut was taken for damage";
  }
  for (const auto& partition : test.log->partitions()) {
    const auto is_known = [&](const auto& known) { return known.key == partition->key(); };
    if (std::ranges::none_of(test.known, is_known)) {
      return "a deleted topic is back";
    }
  }
  for (const auto& [topic, promise] : held.topics) {
    if (auto why = judge_topic(test, topic, promise); !why.empty()) {
      return why;
    }
  }
  for (const auto& [topic, promise] : held.topics) {  // after all others: these write
    if (promise.last_sequenced &&
        promise.sent - promise.last_sequenced_number < 5) {  // of five batches an idempotent producer may ask again
      const auto again = test.append_now(test.find(topic, 0), *promise.last_sequenced);
      if (!again.duplicate || again.base_offset.value != promise.last_sequenced_at) {
        return "topic " + std::to_string(topic) + ": a producer's batch that was acknowledged is not known";
      }
    }
  }
  return "";
}

}  // namespace weir::log
