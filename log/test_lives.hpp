// The lives of a log: what is sent to it, how it is opened and stopped, and the judgement of what a start shows. For
// lives_sim_test.
#pragma once

#include "log/test_lives_topic.hpp"
#include "log/test_log_read.hpp"

namespace weir::log {

struct Sent {
  std::size_t topic = 0;
  std::vector<std::string> values;
  Acks acks = Acks::all;
  bool is_safe = false;  // the topic was when it was sent
  int rules_changes = 0;
  Reply reply;
};

inline void draw_options(CommitLogOptions& options, Random& random) {
  options.io = random.chance(2) ? IoMode::direct : IoMode::buffered;
  options.segment_bytes = random.chance(4) ? 2 * kMiB : kMiB;
  options.delta_bytes = pick(random, std::array<std::int64_t, 3>{64 << 10, 64 << 10, 256 << 10});
  options.image_bytes = pick(random, std::array<std::int64_t, 2>{4 * kMiB, 8 * kMiB});
  options.space_check_ms = 500;
  options.zero_ahead_ms = random.chance(3) ? 200 : 0;
  options.retention_check_ms = random.chance(3) ? 1'000 : 0;
  options.scrub_bytes_per_second = random.chance(4) ? 4 * kMiB : 0;
}

// See judge_shown().
inline std::string judge_start(const TestLog& test, LivesTopic& topic, Left left, Millis latest_wall_ms) {
  const auto partition = test.find(topic.number, 0);
  if (!partition) {
    return "gone";
  }
  const auto read = test.read_all(*partition);
  if (!read) {
    return "cannot be read: " + to_string(read.error());
  }
  const auto start = partition->log_start().value;
  const auto end = partition->high_watermark().value;
  std::map<std::int64_t, std::string> stored;
  for (const auto& record : *read) {
    stored.emplace(record.offset.value, record.value);
  }
  return judge_shown(topic, std::move(stored), start, end, left, latest_wall_ms);
}

// The one place that knows how a stop tells its end, and whether the log is clean. A log that does not tell is taken at
// its word, as the broker did.
inline void ask_to_stop(CommitLog& log, std::function<void(bool is_clean)> done) {
  log.stop([done = std::move(done)](auto... is_clean) { done((is_clean && ... && true)); });
}

}  // namespace weir::log
