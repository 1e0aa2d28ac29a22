// Random lives of a log whose clock is set back and forward by a year, with stamps of all kinds, DeleteRecords beside
// retention, rules that change, and ends of all kinds between. The oracle is a list of what was sent: after each pass
// every log start is where the rule wants it, to the batch: neither early nor late.
#include <gtest/gtest.h>

#include <deque>

#include "log/test_log_read.hpp"
#include "sim/seams/seeds.hpp"

namespace weir::log {
namespace {

constexpr Millis kHour = 3'600'000;
constexpr Millis kDay = 24 * kHour;
constexpr Millis kYear = 365 * kDay;

struct SentBatch {
  std::int64_t base = 0;
  std::int64_t end = 0;
  Millis stamp = 0;
  Millis append = 0;
  std::int64_t bytes = 0;
  std::vector<std::string> values;
};

struct Model {
  int topic = 0;
  PartitionRules rules;
  std::deque<SentBatch> batches;  // in the log, also those below the start
  std::int64_t start = 0;         // that was seen once all was quiet
  std::int64_t end = 0;
};

// In words of its own, not those of log/retention_rule.
bool is_past(const SentBatch& batch, Millis bound, Millis now) {
  const bool stamp_says_nothing = batch.stamp < 0 || batch.stamp > now + kHour;
  return bound >= 0 && now > (stamp_says_nothing ? batch.append : batch.stamp) + bound;
}

std::int64_t wanted_start(const Model& model, Millis now) {
  auto start = model.start;
  std::int64_t size = 0;
  for (const auto& batch : model.batches) {
    size += batch.end > start ? batch.bytes : 0;
  }
  for (const auto& batch : model.batches) {
    if (!model.rules.delete_old || batch.end <= start) {
      continue;
    }
    const bool is_over = model.rules.retention_bytes >= 0 && size - batch.bytes >= model.rules.retention_bytes;
    if (!is_over && !is_past(batch, model.rules.retention_ms, now)) {
      break;
    }
    start = batch.end;
    size -= batch.bytes;
  }
  return start;
}

class Life {
 public:
  explicit Life(std::uint64_t seed) : random_(seed), test_(seed), seed_(seed) { test_.options.delta_bytes = 128 << 10; }

  void run() {
    pick_io();
    ASSERT_TRUE(test_.start());
    for (int topic = 1; topic <= 5; ++topic) {
      Model model{.topic = topic, .rules = {}, .batches = {}};
      model.rules.flush = topic == 2 ? FlushMode::async : FlushMode::sync;
      model.rules.memory = topic == 5;
      change_rules(model.rules);
      test_.create(topic, 0, model.rules);
      models_.push_back(model);
    }
    test_.queue.run_until_idle();
    for (int step = 0; step < 120 && !testing::Test::HasFatalFailure(); ++step) {
      one_step();
    }
    if (!testing::Test::HasFatalFailure()) {
      forget_all();
    }
  }

 private:
  void pick_io() { test_.options.io = random_.chance(2) ? IoMode::direct : IoMode::buffered; }
  [[nodiscard]] sim::SimClock& clock() { return test_.queue.clock(); }
  [[nodiscard]] std::shared_ptr<Partition> partition(const Model& model) const { return test_.find(model.topic, 0); }
  Model& any_model() { return models_[random_.below(models_.size())]; }

  void one_step() {
    const auto choice = random_.below(100);
    if (choice < 50) {
      send(any_model());
    } else if (choice < 60) {
      test_.queue.run_for(
          static_cast<Millis>(random_.below(1U << (10 + random_.below(18)))));  // up to a day and a half
    } else if (choice < 63) {
      clock().skew_wall(random_.chance(2) ? kYear : -kYear);
    } else if (choice < 68) {
      auto& model = any_model();
      change_rules(model.rules);
      test_.log->set_rules(partition(model)->key(), model.rules);
    } else if (choice < 75) {
      delete_records(any_model());
    } else if (choice < 95) {
      pass();
    } else {
      end_and_begin();
    }
  }

  void change_rules(PartitionRules& rules) {
    constexpr std::array<Millis, 6> kBounds{-1, 0, 1'000, kHour, kDay, kYear};
    rules.delete_old = !random_.chance(8);
    rules.retention_ms = kBounds[random_.below(kBounds.size())];
    rules.retention_bytes = random_.chance(3) ? static_cast<std::int64_t>(random_.below(400'000)) : -1;
  }

  Millis any_stamp() {
    switch (random_.below(8)) {
      case 0: return -1;
      case 1: return -static_cast<Millis>(1 + random_.below(1U << 30U));
      case 2: return clock().wall_ms() - kYear - kDay;
      case 3: return clock().wall_ms() - static_cast<Millis>(random_.below(2 * kDay));
      case 4: return clock().wall_ms() + static_cast<Millis>(random_.below(kHour + 1));
      case 5: return clock().wall_ms() + kHour + static_cast<Millis>(random_.below(kDay));
      case 6: return clock().wall_ms() + kYear;
      default: return clock().wall_ms();
    }
  }

  void send(Model& model) {
    settle();
    SentBatch sent;
    sent.stamp = any_stamp();
    for (auto count = 1 + random_.below(3); count > 0; --count) {
      auto value = std::to_string(model.topic) + ":" + std::to_string(next_value_++) + ":";
      value.resize(value.size() + (random_.chance(3) ? random_.below(90'000) : random_.below(600)), 'v');
      sent.values.push_back(std::move(value));
    }
    const auto size_before = test_.log->size_bytes(*partition(model));
    sent.append = clock().wall_ms();
    const auto outcome = test_.append_now(partition(model), {.values = sent.values, .timestamp = sent.stamp});
    ASSERT_FALSE(outcome.error) << "seed " << seed_;
    sent.base = outcome.base_offset.value;
    sent.end = sent.base + std::ssize(sent.values);
    sent.bytes = test_.log->size_bytes(*partition(model)) - size_before;
    ASSERT_EQ(sent.base, model.end) << "seed " << seed_;
    model.end = sent.end;
    model.batches.push_back(std::move(sent));
  }

  void delete_records(Model& model) {
    const auto target =
        model.start + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(model.end - model.start) + 1));
    test_.log->move_start(partition(model), Offset{target}, *test_.runtime->io.front(), [](const Result<Offset>&) {});
    if (random_.chance(3)) {  // beside a pass, and an end
      asked_[model.topic] = std::max(asked_[model.topic], target);
      return;
    }
    test_.queue.run_until_idle();
    model.start = target;
    ASSERT_NO_FATAL_FAILURE(check());
  }

  void pass() {
    settle();
    test_.log->run_retention([] {});
    test_.queue.run_until_idle();
    for (auto& model : models_) {
      model.start = wanted_start(model, clock().wall_ms());
    }
    check();
  }

  void settle() {
    test_.queue.run_until_idle();
    for (const auto& [topic, start] : asked_) {
      auto& model = models_[static_cast<std::size_t>(topic - 1)];
      model.start = std::max(model.start, start);
    }
    asked_.clear();
  }

  // All is quiet: every start and every record is where it should be.
  void check() {
    settle();
    for (const auto& model : models_) {
      const auto of = partition(model);
      ASSERT_EQ(of->log_start().value, model.start) << "seed " << seed_ << ", topic " << told(model);
      ASSERT_EQ(of->high_watermark().value, model.end) << "seed " << seed_ << ", topic " << model.topic;
      check_records(model);
    }
  }

  std::string told(const Model& model) {
    auto text = std::to_string(model.topic) + " at " + std::to_string(clock().wall_ms()) + ", retention " +
                std::to_string(model.rules.retention_ms) + " ms, " + std::to_string(model.rules.retention_bytes) +
                " bytes:";
    for (const auto& batch : model.batches) {
      text += "\n  offset " + std::to_string(batch.base) + " to " + std::to_string(batch.end) + ", stamp " +
              std::to_string(batch.stamp) + ", append " + std::to_string(batch.append) + ", bytes " +
              std::to_string(batch.bytes);
    }
    return text;
  }

  void check_records(const Model& model) {
    const auto read = test_.read_all(*partition(model));
    ASSERT_TRUE(read) << "seed " << seed_ << ", topic " << model.topic << ": " << to_string(read.error());
    auto at = read->begin();
    for (const auto& batch : model.batches) {
      for (std::size_t i = 0; i < batch.values.size(); ++i) {
        const auto offset = batch.base + static_cast<std::int64_t>(i);
        if (offset < model.start) {
          continue;
        }
        ASSERT_TRUE(at != read->end() && at->offset.value == offset && at->value == batch.values[i])
            << "seed " << seed_ << ", topic " << model.topic << ", offset " << offset;
        ++at;
      }
    }
    ASSERT_TRUE(at == read->end());
  }

  void end_and_begin() {
    const auto kind = random_.below(3);
    if (kind == 0) {
      settle();
      ASSERT_TRUE(test_.stop()) << "seed " << seed_;
    } else {
      if (random_.chance(2)) {
        test_.log->run_retention([] {});
      }
      for (auto steps = random_.below(40); steps > 0 && test_.queue.ready() > 0; --steps) {
        test_.queue.step();
      }
      test_.crash(kind == 1 ? sim::CrashMode::process_death : sim::CrashMode::power_cut);
    }
    // The topics' rules are those of the metadata.
    for (auto& known : test_.known) {
      for (const auto& model : models_) {
        known.rules = known.key.topic_id == topic_number(model.topic) ? model.rules : known.rules;
      }
    }
    pick_io();
    ASSERT_TRUE(test_.start(kind == 0)) << "seed " << seed_;
    for (auto& model : models_) {
      learn(model, kind == 2);
    }
    asked_.clear();
    check();
  }

  // A start is not before one that was there when all was quiet, nor behind what somebody wanted; the same for the end.
  void learn(Model& model, bool after_power_cut) {
    const auto of = partition(model);
    const auto start = of->log_start().value;
    const auto end = of->high_watermark().value;
    if (model.rules.memory) {
      ASSERT_GE(end, model.end) << "seed " << seed_;
      ASSERT_EQ(start, end);
      model.batches.clear();
      model.start = model.end = end;
      return;
    }
    const auto asked = asked_.contains(model.topic) ? asked_[model.topic] : 0;
    auto with_asked = model;
    with_asked.start = std::max(model.start, asked);
    ASSERT_GE(start, model.start) << "seed " << seed_ << ", topic " << model.topic;
    ASSERT_LE(start, wanted_start(with_asked, clock().wall_ms())) << "seed " << seed_ << ", topic " << model.topic;
    model.start = start;
    if (after_power_cut && model.rules.flush == FlushMode::async) {
      while (!model.batches.empty() && model.batches.back().end > end) {
        model.end = model.batches.back().base;
        model.batches.pop_back();
      }
    }
    ASSERT_EQ(end, model.end) << "seed " << seed_ << ", topic " << model.topic;
  }

  // Once nothing is wanted all files go but the last ones.
  void forget_all() {
    settle();
    for (auto& model : models_) {
      model.rules.delete_old = true;
      model.rules.retention_ms = -1;
      model.rules.retention_bytes = 0;
      test_.log->set_rules(partition(model)->key(), model.rules);
    }
    ASSERT_NO_FATAL_FAILURE(pass());
    for (const auto& model : models_) {
      ASSERT_EQ(partition(model)->log_start(), partition(model)->high_watermark()) << "seed " << seed_;
    }
    ASSERT_LE(test_.log->statistics().segments, 3) << "seed " << seed_;
  }

  Random random_;
  TestLog test_;
  const std::uint64_t seed_;
  std::vector<Model> models_;
  std::map<int, std::int64_t> asked_;  // starts whose move nobody has waited for
  int next_value_ = 0;
};

TEST(RetentionSim, NothingGoesEarlyAndNothingStaysThroughClockJumpsDeletesAndEndsOfAllKinds) {
  for (const auto seed : sim::seeds(sim::seed_count(100))) {
    Life life{seed};
    life.run();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace weir::log
