// Random lives of replicated partitions: batches of a leader with gaps and epochs, truncations, bounds of the high
// watermark, full segments, retention; each life ends by a crash at a random disk operation, sometimes index files or
// the manifest are lost with it. The model is the history of each partition, state by state: whatever is read must be
// one of its states as a whole, and not one before the last that was promised. So nothing truncated ever comes back.
#include <gtest/gtest.h>

#include <deque>
#include <limits>

#include "log/log_dump.hpp"
#include "log/log_partition.hpp"
#include "log/test_follower.hpp"
#include "sim/seams/recording_disk.hpp"
#include "sim/seams/seeds.hpp"

namespace weir::log {
namespace {

struct SentBatch {
  StoredBatch stored;
  Millis timestamp = 0;
  protocol::BatchFacts facts;
};

// A partition's whole content from offset 0 on, also of what the log start has passed.
struct State {
  std::vector<std::shared_ptr<const SentBatch>> batches;
  EpochList epochs;
  std::int64_t end = 0;

  [[nodiscard]] State truncated(std::int64_t to) const {
    State after = *this;
    std::erase_if(after.batches, [&](const auto& one) { return one->stored.last >= to; });
    after.epochs.truncate_to(Offset{to});
    after.end = to;
    return after;
  }
  [[nodiscard]] State with(std::shared_ptr<const SentBatch> one) const {
    State after = *this;
    after.end = one->stored.last + 1;
    after.epochs.assign(LeaderEpoch{one->stored.epoch}, Offset{one->stored.base});
    after.batches.push_back(std::move(one));
    return after;
  }
  [[nodiscard]] std::vector<StoredBatch> from(std::int64_t start) const {
    std::vector<StoredBatch> all;
    for (const auto& one : batches) {
      if (one->stored.last >= start) {
        all.push_back(one->stored);
      }
    }
    return all;
  }
};

// The states in the order of what was asked; the first one is that of the last start.
struct Model {
  int topic = 0;
  FlushMode flush = FlushMode::sync;
  std::deque<State> states{State{}};
  std::size_t synced = 0;     // no power cut may bring back a state before this one
  std::size_t written = 0;    // nor a death of the process one before this
  std::int64_t bound = 0;     // that was told, as the log takes it
  std::int64_t start = 0;     // log start that was answered
  std::int64_t seen_end = 0;  // high watermark that a reader saw
  std::int32_t epoch = 0;     // of the leader
  int next_value = 0;
  bool is_truncating = false;
  std::uint64_t bound_lag = 1;  // the bound follows the log end this much less often
  // How many events the disk had seen when a state was promised.
  std::vector<std::pair<std::size_t, std::size_t>> promised_at;

  void promise(std::size_t state, bool is_synced, std::size_t events) {
    written = std::max(written, state);
    if (is_synced) {
      synced = std::max(synced, state);
      promised_at.emplace_back(events, synced);
    }
  }
  [[nodiscard]] std::size_t promised_behind(std::size_t events) const {
    std::size_t least = 0;
    for (const auto& [at, state] : promised_at) {
      least = at <= events ? std::max(least, state) : least;
    }
    return least;
  }
};

struct Seen {  // so that nobody takes a test for one that has seen none of it
  int truncations = 0;
  int into_older_segments = 0;
  int starts_with_one_of_those = 0;
};

struct Asked {
  int model = 0;
  std::size_t state = 0;         // that is reached by it
  std::optional<Errc> expected;  // it must be refused
  Reply appended;
  Truncated truncated;
};

// What a started log shows of a partition: the number of the newest state, at or above `least`, that it is in every
// respect; or why there is none.
struct Judgement {
  std::size_t state = 0;
  std::string why;
};

std::string name_of(const Model& model) {
  return "topic " + std::to_string(model.topic) + ": ";
}

std::string judge_epochs(const TestLog& test, const Partition& of, const State& state) {
  const auto start = of.log_start();
  for (const auto& one : state.batches) {
    if (one->stored.last < start.value) {
      continue;
    }
    const LeaderEpoch epoch{one->stored.epoch};
    const auto end = test.log->epoch_end(of, epoch);
    const auto expected = state.epochs.end_of(epoch, Offset{state.end});
    if (end.epoch != epoch || end.end_offset != expected.start ||
        test.log->epoch_at(of, std::max(Offset{one->stored.base}, start)) != epoch) {
      return "epoch " + std::to_string(epoch.value) + " ends at " + std::to_string(end.end_offset.value) + ", not at " +
             std::to_string(expected.start.value);
    }
  }
  const auto latest = state.epochs.latest();
  if (latest && test.log->epoch_end(of, LeaderEpoch{latest->epoch.value + 1}).end_offset != Offset{-1}) {
    return "a later epoch is known";
  }
  return "";
}

std::string judge_times(const TestLog& test, const Partition& of, const State& state, Random& random) {
  const auto start = of.log_start().value;
  const auto timestamp = static_cast<Millis>(random.below(10'000));
  std::optional<std::int64_t> expected;
  Millis largest = -1;
  for (const auto& one : state.batches) {
    if (one->stored.last < start) {
      continue;
    }
    largest = std::max(largest, one->timestamp);
    if (!expected && one->timestamp >= timestamp) {
      expected = std::max(one->stored.base, start);
    }
  }
  const auto found = test.log->find_by_time(of, timestamp, of.log_end());
  const auto newest = test.log->find_max_timestamp(of, of.log_end());
  if (!found || !newest) {
    return "no look-up by time";
  }
  if (found->has_value() != expected.has_value() || (expected && (*found)->offset.value != *expected)) {
    return "another offset for a time";
  }
  if (newest->has_value() != (largest >= 0) || (largest >= 0 && (*newest)->timestamp != largest)) {
    return "another largest timestamp";
  }
  return "";
}

std::string judge_counts(const TestLog& test, const Partition& of, const State& state, Random& random) {
  const auto end = of.high_watermark().value;
  const auto from = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(end) + 1));
  const auto to = random.chance(2) ? end : from + static_cast<std::int64_t>(random.below(100));
  const auto first = std::max(from, of.log_start().value);
  std::int64_t expected = 0;
  for (const auto& one : state.batches) {
    expected +=
        std::max<std::int64_t>(0, std::min({one->stored.last + 1, to, end}) - std::max(one->stored.base, first));
  }
  const auto found = test.log->records_between(of, Offset{from}, Offset{to});
  if (!found || *found != expected) {
    return "records between " + std::to_string(from) + " and " + std::to_string(to) + ": " +
           (found ? std::to_string(*found) : to_string(found.error())) + ", not " + std::to_string(expected);
  }
  return "";
}

std::string to_text(const Producer& producer) {
  auto text = " id " + std::to_string(producer.id) + " epoch " + std::to_string(producer.epoch) + ":";
  for (std::size_t i = 0; i < producer.batch_count; ++i) {
    text += " " + std::to_string(producer.batches[i].base_offset.value);
  }
  return text;
}

// The producers as the batches from the beginning on make them. What the log start has passed may be forgotten, older
// batches before newer ones; nothing else, and nothing is known that is not so. Not while batches are on their way.
std::string judge_producers(const Partition& of, const State& state) {
  ProducerTable expected;
  for (const auto& one : state.batches) {
    expected.apply(one->facts, Offset{one->stored.base}, 0);
  }
  const auto& found = static_cast<const LogPartition&>(of).role.producers;
  for (const auto& producer : found.list()) {
    const auto* right = expected.find(producer.id);
    const auto less = right != nullptr ? right->batch_count - producer.batch_count : -1;
    if (less < 0 || right->epoch != producer.epoch ||
        !std::equal(producer.batches.begin(), producer.batches.begin() + producer.batch_count,
                    right->batches.begin() + less)) {
      return "producer" + to_text(producer) + ", not" + (right != nullptr ? to_text(*right) : " known");
    }
  }
  for (const auto& right : expected.list()) {
    const auto* producer = found.find(right.id);
    const auto less = right.batch_count - (producer != nullptr ? producer->batch_count : 0);
    if (less > 0 && right.batches[static_cast<std::size_t>(less - 1)].last_offset >= of.log_start()) {
      return "producer" + to_text(right) + " is not known, or only" + (producer != nullptr ? to_text(*producer) : "");
    }
  }
  return "";
}

Judgement judge(const TestLog& test, const Model& model, std::size_t least, bool is_settled, Random& random) {
  const auto of = test.find(model.topic, 0);
  if (!of) {
    return {0, name_of(model) + "gone"};
  }
  const auto stored = read_to_end(test, *of, 1 + random.below(200'000));
  if (!stored) {
    return {0, name_of(model) + "cannot be read: " + to_string(stored.error())};
  }
  const auto start = of->log_start();
  const auto end = of->log_end();
  if (start > of->high_watermark() || of->high_watermark() > end || start.value < model.start ||
      of->high_watermark().value > model.bound) {
    return {0, name_of(model) + "start, high watermark or end"};
  }
  std::string nearly;  // the same batches, but not the same in another respect
  for (auto number = model.states.size(); number > least; --number) {
    const auto& state = model.states[number - 1];
    if (state.end != end.value || state.from(start.value) != *stored) {
      continue;
    }
    auto why = judge_epochs(test, *of, state);
    why = why.empty() ? judge_times(test, *of, state, random) : why;
    why = why.empty() ? judge_counts(test, *of, state, random) : why;
    why = why.empty() && is_settled ? judge_producers(*of, state) : why;
    if (why.empty()) {
      return {number - 1, ""};
    }
    nearly = nearly.empty() ? why : nearly;
  }
  return {0, name_of(model) + nearly + (nearly.empty() ? "" : "; ") + "its content, " + std::to_string(stored->size()) +
                 " batches from " + std::to_string(start.value) + " to " + std::to_string(end.value) +
                 ", is none of its states from " + std::to_string(least) + " to " +
                 std::to_string(model.states.size() - 1)};
}

class Life {
 public:
  explicit Life(std::uint64_t seed, Disk* on = nullptr) : random_(seed), test_(seed), seed_(seed) {
    test_.options.delta_bytes = 128 << 10;
    test_.on = on;
  }

  void begin() {
    pick_io();
    const auto started = test_.start();
    ASSERT_TRUE(started) << "seed " << seed_ << ": " << to_string(started.error());
    for (int topic = 1; topic <= 1 + static_cast<int>(random_.below(3)); ++topic) {
      Model model;
      model.topic = topic;
      model.flush = random_.chance(3) ? FlushMode::async : FlushMode::sync;
      auto rules = replicated(model.flush);
      rules.retention_bytes = random_.chance(3) ? 400'000 : -1;
      model.bound_lag = 1 + random_.below(20);
      test_.create(topic, 0, rules);
      models_.push_back(std::move(model));
    }
    test_.create(9, 0);
  }

  void run() {
    ASSERT_NO_FATAL_FAILURE(begin());
    for (auto lives = 2 + random_.below(4); lives > 0; --lives) {
      ASSERT_NO_FATAL_FAILURE(live(random_.chance(5)));
      ASSERT_NO_FATAL_FAILURE(restart());
    }
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_TRUE(test_.stop()) << "seed " << seed_;
    pick_io();
    ASSERT_TRUE(test_.start(true)) << "seed " << seed_;
    ASSERT_NO_FATAL_FAILURE(check_start(sim::CrashMode::process_death));
  }

  void live(bool clean) {
    if (!clean) {
      test_.disk.crash_at_operation(1 + random_.below(random_.chance(2) ? 40 : 400));
    }
    const auto steps = 100 + random_.below(500);
    for (std::uint64_t step = 0; step < steps && !test_.disk.crashed(); ++step) {
      ASSERT_NO_FATAL_FAILURE(one_step());
      for (auto turns = random_.below(8); turns > 0 && test_.queue.ready() > 0; --turns) {
        test_.queue.step();
      }
      ASSERT_NO_FATAL_FAILURE(hear_answers());
    }
    if (clean) {
      ASSERT_NO_FATAL_FAILURE(settle());
    }
  }

  void settle() {
    test_.queue.run_until_idle();
    ASSERT_NO_FATAL_FAILURE(hear_answers());
    if (test_.disk.crashed()) {
      return;
    }
    for (const auto& model : models_) {
      ASSERT_EQ(judge(test_, model, model.states.size() - 1, true, random_).why, "") << "seed " << seed_;
    }
    std::string lines;
    // A manifest that was made again knows less of where files in direct mode end.
    if (test_.on == nullptr && !manifest_was_lost_) {
      const auto report = verify_folder(test_.disk, "data", [&](std::string_view line) { lines += line; });
      ASSERT_TRUE(report && report->problems == 0) << "seed " << seed_ << ": " << lines;
    }
  }

  TestLog& test() { return test_; }
  [[nodiscard]] const std::deque<Model>& models() const { return models_; }
  std::function<std::size_t()> events = [] { return std::size_t{0}; };
  Seen seen;

 private:
  void pick_io() { test_.options.io = random_.chance(2) ? IoMode::direct : IoMode::buffered; }
  std::shared_ptr<Partition> partition(const Model& model) const { return test_.find(model.topic, 0); }

  void one_step() {
    const auto number = random_.below(models_.size());
    auto& model = models_[number];
    const auto choice = random_.below(100);
    if (choice < 3) {
      test_.append(test_.find(9, 0), {.values = {std::string(random_.below(30'000), 'p')}});
    } else if (choice < 8) {
      ASSERT_NO_FATAL_FAILURE(look(model));
    } else if (choice < 10) {
      move_start(model);
    } else if (choice < 11) {
      test_.log->run_retention([] {});
    } else if (model.is_truncating) {
      return;
    } else if (choice < 75) {
      append(static_cast<int>(number));
    } else if (choice < 90) {
      if (random_.chance(model.bound_lag)) {
        raise_bound(model);
      }
    } else {
      begin_truncation(static_cast<int>(number));
    }
  }

  // As a leader would send it; now and then what none would.
  void append(int number) {
    auto& model = models_[static_cast<std::size_t>(number)];
    const auto& state = model.states.back();
    model.epoch += random_.chance(12) ? 1 + static_cast<std::int32_t>(random_.below(2)) : 0;
    auto sent = std::make_shared<SentBatch>();
    auto& stored = sent->stored;
    stored.base = state.end + (random_.chance(8) ? static_cast<std::int64_t>(random_.below(12)) : 0);
    stored.epoch = model.epoch;
    std::optional<Errc> expected;
    const bool has_visible_batch =
        !state.batches.empty() && state.batches.back()->stored.base >= std::max(model.bound, model.seen_end);
    if (random_.chance(20) && state.end > 0) {
      stored.base = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(state.end)));
      expected = Errc::out_of_range;
    } else if (random_.chance(20) && has_visible_batch && state.batches.back()->stored.epoch > 0) {
      stored.epoch = state.batches.back()->stored.epoch - 1;
      expected = Errc::stale_epoch;
    }
    stored.value = std::to_string(model.topic) + ":" + std::to_string(model.next_value++) + ":";
    stored.value.resize(stored.value.size() + (random_.chance(4) ? random_.below(70'000) : random_.below(500)), 'x');
    TestBatch batch{.base_offset = stored.base,
                    .values = {stored.value},
                    .timestamp = static_cast<Millis>(random_.below(10'000)),
                    .leader_epoch = stored.epoch};
    batch.values.resize(1 + random_.below(3), "more");
    if (random_.chance(2)) {
      batch.producer_id = static_cast<std::int64_t>(100 + random_.below(4));
      batch.producer_epoch = static_cast<std::int16_t>(model.next_value / 60);
      batch.base_sequence = model.next_value * 5;
    }
    stored.last = stored.base + std::ssize(batch.values) - 1;
    sent->timestamp = batch.timestamp;
    sent->facts = protocol::RecordBatchView::parse(make_batch(batch))->facts();
    Asked asked{.model = number, .state = 0, .expected = expected, .appended = {}, .truncated = {}};
    asked.appended = append_as_follower(test_, partition(model), batch);
    if (!expected) {
      model.states.push_back(state.with(std::move(sent)));
      asked.state = model.states.size() - 1;
    }
    asked_.push_back(std::move(asked));
  }

  void begin_truncation(int number) {
    auto& model = models_[static_cast<std::size_t>(number)];
    const auto& state = model.states.back();
    const auto floor = model.bound;
    const auto range = state.end - floor;
    auto end = floor + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(range) + 1));
    if (random_.chance(2) && !state.batches.empty()) {  // where a batch begins, mostly one of the newest
      const auto back = random_.below(std::min<std::uint64_t>(state.batches.size(), random_.chance(3) ? 200 : 10));
      end = std::max(floor, state.batches[state.batches.size() - 1 - back]->stored.base);
    }
    model.epoch += 1;
    auto epoch = model.epoch;
    Asked asked{.model = number, .state = model.states.size() - 1, .expected = {}, .appended = {}, .truncated = {}};
    const bool has_new_batch = !state.batches.empty() && state.batches.back()->stored.base >= model.bound;
    if (random_.chance(10) && floor > 0) {
      end = floor - 1;
      asked.expected = Errc::out_of_range;
    } else if (random_.chance(10) && has_new_batch) {
      epoch = state.batches.back()->stored.epoch - 1;
      asked.expected = Errc::stale_epoch;
    } else if (random_.chance(10)) {
      end = state.end + static_cast<std::int64_t>(random_.below(3));
    }
    if (!asked.expected && end < state.end) {
      model.states.push_back(state.truncated(end));
      asked.state = model.states.size() - 1;
    }
    model.is_truncating = true;
    asked.truncated = truncate(test_, partition(model), end, epoch);
    asked_.push_back(std::move(asked));
  }

  void raise_bound(Model& model) {
    const auto end = model.states.back().end;
    const auto wanted =
        random_.chance(3) ? end : static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(end) + 5));
    test_.log->bound_high_watermark(partition(model), Offset{wanted});
    model.bound = std::max(model.bound, std::min(end, wanted));
  }

  void move_start(Model& model) {
    const auto of = partition(model);
    const auto range = static_cast<std::uint64_t>(of->high_watermark() - of->log_start());
    const auto target = of->log_start() + static_cast<std::int64_t>(random_.below(range / 3 + 1));
    test_.log->move_start(of, target, *test_.runtime->io.front(), [&model](const Result<Offset>& moved) {
      if (moved) {
        model.start = std::max(model.start, moved->value);
      }
    });
  }

  void look(Model& model) {
    const auto judged = judge(test_, model, model.written, false, random_);
    if (test_.disk.crashed()) {
      return;
    }
    ASSERT_EQ(judged.why, "") << "seed " << seed_;
    model.seen_end = std::max(model.seen_end, partition(model)->high_watermark().value);
  }

  void hear_answers() {
    for (auto at = asked_.begin(); at != asked_.end();) {
      const bool is_append = at->appended != nullptr;
      if (is_append ? !at->appended->has_value() : !at->truncated->has_value()) {
        ++at;
        continue;
      }
      std::optional<Error> error;
      if (is_append) {
        error = (*at->appended)->error;
      } else if (!**at->truncated) {
        error = (**at->truncated).error();
      }
      auto& model = models_[static_cast<std::size_t>(at->model)];
      if (!test_.disk.crashed()) {
        ASSERT_EQ(error ? std::optional{error->code} : std::nullopt, at->expected) << "seed " << seed_;
      }
      if (!error && !is_append) {
        const auto of = std::static_pointer_cast<LogPartition>(partition(model));
        seen.truncations += 1;
        seen.into_older_segments += reaches_older_segments(*of) ? 1 : 0;
      }
      if (!error) {
        model.promise(at->state, !is_append || model.flush == FlushMode::sync, events());
      }
      model.is_truncating = model.is_truncating && is_append;
      at = asked_.erase(at);
    }
  }

  static bool reaches_older_segments(const LogPartition& partition) {
    return std::ranges::any_of(partition.truncations().entries(),
                               [](const Truncation& one) { return one.reach > one.end; });
  }

  void lose_files() {
    if (random_.chance(8)) {
      manifest_was_lost_ = true;
      static_cast<void>(test_.disk.remove("data/manifest"));
    } else if (random_.chance(3)) {
      const auto names = test_.disk.list("data/commitlog");
      for (const auto& name : names ? *names : std::vector<std::string>{}) {
        if (name.ends_with(".index") && random_.chance(2)) {
          static_cast<void>(test_.disk.remove("data/commitlog/" + name));
        }
      }
    }
  }

  void restart() {
    ASSERT_NO_FATAL_FAILURE(hear_answers());
    auto worst = random_.chance(2) ? sim::CrashMode::power_cut : sim::CrashMode::process_death;
    test_.crash(worst);
    asked_.clear();
    for (int deaths = 0; random_.chance(3) && deaths < 3; ++deaths) {  // dies again while it recovers
      pick_io();
      test_.disk.crash_at_operation(1 + random_.below(12));
      const bool started = test_.start().has_value();
      if (started && random_.chance(2)) {
        test_.queue.run_until_idle();
      }
      const auto again = random_.chance(2) ? sim::CrashMode::power_cut : sim::CrashMode::process_death;
      test_.crash(again);
      worst = again == sim::CrashMode::power_cut ? again : worst;
    }
    lose_files();
    pick_io();
    const auto started = test_.start();
    ASSERT_TRUE(started) << "seed " << seed_ << ": " << to_string(started.error());
    ASSERT_NO_FATAL_FAILURE(check_start(worst));
  }

  void check_start(sim::CrashMode worst) {
    for (auto& model : models_) {
      const auto least = worst == sim::CrashMode::power_cut ? model.synced : model.written;
      const auto judged = judge(test_, model, least, true, random_);
      ASSERT_EQ(judged.why, "") << "seed " << seed_;
      const auto of = partition(model);
      seen.starts_with_one_of_those += reaches_older_segments(static_cast<const LogPartition&>(*of)) ? 1 : 0;
      model.states = {model.states[judged.state]};  // a start has synced what it shows
      if (model.flush == FlushMode::sync || worst == sim::CrashMode::process_death) {
        ASSERT_GE(of->log_end().value, model.seen_end) << name_of(model) << "seed " << seed_;
      }
      model.synced = model.written = 0;
      model.bound = model.seen_end = of->high_watermark().value;
      model.start = of->log_start().value;
      model.is_truncating = false;
    }
  }

  Random random_;
  TestLog test_;
  const std::uint64_t seed_;
  std::deque<Model> models_;
  std::deque<Asked> asked_;
  bool manifest_was_lost_ = false;
};

TEST(FollowerSim, WhateverACrashLeavesIsOneStateOfTheHistoryAndNothingTruncatedComesBack) {
  Seen seen;
  for (const auto seed : sim::seeds(sim::seed_count(150))) {
    Life life{seed};
    life.run();
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
    seen.truncations += life.seen.truncations;
    seen.into_older_segments += life.seen.into_older_segments;
    seen.starts_with_one_of_those += life.seen.starts_with_one_of_those;
  }
  std::printf("%d truncations, %d into segments that were full, %d starts behind such a one\n", seen.truncations,
              seen.into_older_segments, seen.starts_with_one_of_those);
}

TEST(FollowerSim, APowerCutBehindAnyEventOfTheDiskLeavesAStateThatWasPromisedOrALaterOne) {
  std::size_t images = 0;
  for (const auto seed : sim::seeds(sim::seed_count(15))) {
    sim::SimDisk disk{seed};
    ASSERT_TRUE(disk.make_directories("data") && disk.sync_directory("."));
    const auto base = disk.clone(seed);
    sim::RecordingDisk recording{disk};
    Life life{seed, &recording};
    life.events = [&] { return recording.size(); };
    ASSERT_NO_FATAL_FAILURE(life.begin());
    ASSERT_NO_FATAL_FAILURE(life.live(true));
    life.test().kill();
    Random random{seed};
    std::vector<std::size_t> cuts;
    for (int i = 0; i < 12; ++i) {
      cuts.push_back(random.below(recording.size() + 1));
    }
    std::ranges::sort(cuts);
    sim::Replay replay{base.get(), recording.events()};
    for (const auto at : cuts) {
      replay.advance_to(at);
      const auto image = replay.power_cut(random.next());
      TestLog after{seed};
      after.on = image.get();
      after.known = life.test().known;
      after.options = life.test().options;
      after.options.boot_id = topic_number(777);
      ASSERT_TRUE(after.start()) << "seed " << seed << ", cut behind event " << at;
      for (auto model : life.models()) {
        model.start = 0;  // an answer to a move may have come later than the cut
        const auto judged = judge(after, model, model.promised_behind(at), true, random);
        ASSERT_EQ(judged.why, "") << "seed " << seed << ", cut behind event " << at;
      }
      ++images;
    }
  }
  std::printf("%zu images\n", images);
}

}  // namespace
}  // namespace weir::log
