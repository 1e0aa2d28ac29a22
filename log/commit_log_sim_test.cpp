// Random lives of one log, each ended by a crash at a random disk operation, checked against what was promised.
#include <gtest/gtest.h>

#include <deque>

#include <map>

#include "log/test_log_read.hpp"
#include "sim/seams/seeds.hpp"

namespace weir::log {
namespace {

// One partition as its clients know it.
struct Model {
  int topic = 0;
  FlushMode flush = FlushMode::sync;
  bool idempotent = false;
  int next_value = 0;
  std::int32_t next_sequence = 0;
  std::int16_t producer_epoch = 0;
  std::int64_t producer_id = -1;
  std::map<std::int64_t, std::string> known;     // records that a client has read or whose offset it was told
  std::map<std::int64_t, std::string> promised;  // acknowledged so that a power cut may not take them
  std::map<std::int64_t, std::string> written;   // acknowledged so that a process death may not take them
  std::int64_t seen_end = 0;                     // high watermark that a reader saw
  std::int64_t start = 0;                        // log start that was answered
};

struct Sent {
  int model = 0;
  std::vector<std::string> values;
  TestBatch batch;
  Acks acks = Acks::all;
  Reply reply;
  bool counted = false;
};

class Life {
 public:
  explicit Life(std::uint64_t seed) : random_(seed), test_(seed), seed_(seed) { test_.options.delta_bytes = 128 << 10; }

  void run() {
    pick_io();
    ASSERT_TRUE(test_.start()) << seed_;
    for (int i = 0; i < 1 + static_cast<int>(random_.below(5)); ++i) {
      add_partition();
    }
    const int lives = 2 + static_cast<int>(random_.below(3));
    for (int life = 0; life < lives && !testing::Test::HasFatalFailure(); ++life) {
      live_until_crash();
      restart();
    }
    if (testing::Test::HasFatalFailure()) {
      return;
    }
    settle();
    ASSERT_TRUE(test_.stop()) << "seed " << seed_;
    pick_io();
    ASSERT_TRUE(test_.start(true)) << "seed " << seed_;
    ASSERT_NO_FATAL_FAILURE(check(sim::CrashMode::process_death));
  }

 private:
  // Each start may write in another way than the one before it.
  void pick_io() { test_.options.io = random_.chance(2) ? IoMode::direct : IoMode::buffered; }

  void add_partition() {
    Model model;
    model.topic = static_cast<int>(models_.size()) + 1;
    model.flush = random_.chance(3) ? FlushMode::async : FlushMode::sync;
    model.idempotent = random_.chance(2);
    model.producer_id = 1000 + model.topic;
    PartitionRules rules;
    rules.flush = model.flush;
    rules.retention_ms = random_.chance(3) ? rules.retention_ms : -1;  // the stamps of the test batches are old
    test_.create(model.topic, 0, rules);
    models_.push_back(model);
  }

  std::shared_ptr<Partition> partition(const Model& model) const { return test_.find(model.topic, 0); }

  void send() {
    Sent sent;
    sent.model = static_cast<int>(random_.below(models_.size()));
    auto& model = models_[static_cast<std::size_t>(sent.model)];
    const auto count = 1 + random_.below(4);
    for (std::uint64_t i = 0; i < count; ++i) {
      auto value = std::to_string(model.next_value++) + ":";
      const auto size = random_.chance(20) ? random_.below(60'000) : random_.below(600);
      value.resize(value.size() + size, static_cast<char>('a' + random_.below(26)));
      sent.values.push_back(value);
    }
    sent.batch.values = sent.values;
    sent.batch.timestamp += static_cast<Millis>(random_.below(10'000));
    if (model.idempotent) {
      sent.batch.producer_id = model.producer_id;
      sent.batch.producer_epoch = model.producer_epoch;
      sent.batch.base_sequence = model.next_sequence;
      model.next_sequence += static_cast<std::int32_t>(count);
    }
    constexpr std::array kAcks{Acks::all, Acks::all, Acks::leader, Acks::internal, Acks::none};
    sent.acks = kAcks[random_.below(kAcks.size())];
    sent.reply = test_.append(partition(model), sent.batch, sent.acks);
    if (model.idempotent && random_.chance(8)) {  // the client did not wait long enough
      auto again = sent;
      again.reply = test_.append(partition(model), again.batch, again.acks);
      sent_.push_back(std::move(again));
    }
    sent_.push_back(std::move(sent));
  }

  void count_answers() {
    for (auto& sent : sent_) {
      if (sent.counted || !sent.reply->has_value()) {
        continue;
      }
      sent.counted = true;
      const auto& outcome = **sent.reply;
      if (outcome.error) {
        continue;
      }
      auto& model = models_[static_cast<std::size_t>(sent.model)];
      for (std::size_t i = 0; i < sent.values.size(); ++i) {
        const auto offset = outcome.base_offset.value + static_cast<std::int64_t>(i);
        const auto [at, added] = model.known.emplace(offset, sent.values[i]);
        ASSERT_EQ(at->second, sent.values[i]) << "seed " << seed_ << ": offset " << offset << " answered for two";
        model.written[offset] = sent.values[i];
        if (sent.acks == Acks::internal || (sent.acks == Acks::all && model.flush == FlushMode::sync)) {
          model.promised[offset] = sent.values[i];
        }
      }
    }
  }

  void read_some() {
    auto& model = models_[random_.below(models_.size())];
    const auto from = partition(model);
    ASSERT_LE(from->log_start(), from->high_watermark());
    ASSERT_LE(from->high_watermark(), from->log_end());
    ASSERT_GE(from->high_watermark().value, model.seen_end) << "seed " << seed_;
    const auto end = from->high_watermark();
    const auto start = from->log_start().value;
    const Offset at{start +
                    static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(end.value - start) + 1))};
    const auto records = test_.read_all(*from, at, ReadFrom::may_block, 1 + random_.below(100'000));
    if (!records) {
      ASSERT_TRUE(test_.disk.crashed()) << "seed " << seed_ << ": " << to_string(records.error());
      return;
    }
    model.seen_end = end.value;
    ASSERT_EQ(std::ssize(*records), end - at) << "seed " << seed_;
    for (const auto& record : *records) {
      const auto [known, added] = model.known.emplace(record.offset.value, record.value);
      ASSERT_EQ(known->second, record.value) << "seed " << seed_;
    }
  }

  void move_start() {
    auto& model = models_[random_.below(models_.size())];
    const auto of = partition(model);
    const auto range = static_cast<std::uint64_t>(of->high_watermark() - of->log_start());
    const auto target = of->log_start() + static_cast<std::int64_t>(random_.below(range / 4 + 1));
    test_.log->move_start(of, target, *test_.runtime->io.front(), [&model, target](const Result<Offset>& moved) {
      if (moved) {
        model.start = std::max(model.start, target.value);
      }
    });
  }

  void live_until_crash() {
    const bool clean = random_.chance(5);
    if (!clean) {
      test_.disk.crash_at_operation(1 + random_.below(random_.chance(2) ? 30 : 300));
    }
    const auto steps = 200 + random_.below(1500);
    for (std::uint64_t step = 0; step < steps && !test_.disk.crashed(); ++step) {
      const auto choice = random_.below(10);
      if (choice < 4) {
        send();
      } else if (choice == 4) {
        ASSERT_NO_FATAL_FAILURE(read_some());
      } else if (choice == 5 && random_.chance(10)) {
        move_start();
      } else if (choice == 6 && random_.chance(20)) {
        test_.log->run_retention([] {});
      } else if (choice == 7 && random_.chance(40) && models_.size() < 8) {
        add_partition();
      }
      for (auto turns = random_.below(6); turns > 0 && test_.queue.ready() > 0; --turns) {
        test_.queue.step();
      }
      ASSERT_NO_FATAL_FAILURE(count_answers());
    }
    if (clean && random_.chance(2)) {
      settle();
    }
  }

  void settle() {
    test_.queue.run_until_idle();
    count_answers();
  }

  void restart() {
    count_answers();
    const auto mode = random_.chance(2) ? sim::CrashMode::power_cut : sim::CrashMode::process_death;
    test_.crash(mode);
    sent_.clear();
    auto worst = mode;
    for (int deaths = 0; random_.chance(3) && deaths < 3; ++deaths) {  // dies again while it recovers
      pick_io();
      test_.disk.crash_at_operation(1 + random_.below(12));
      const bool started = test_.start().has_value();
      const auto again = random_.chance(2) ? sim::CrashMode::power_cut : sim::CrashMode::process_death;
      if (started && random_.chance(2)) {
        test_.queue.run_until_idle();
      }
      test_.crash(again);
      worst = again == sim::CrashMode::power_cut ? again : worst;
    }
    pick_io();
    const auto started = test_.start();
    ASSERT_TRUE(started) << "seed " << seed_ << ": " << to_string(started.error());
    ASSERT_NO_FATAL_FAILURE(check(worst));
  }

  void check(sim::CrashMode mode) {
    for (auto& model : models_) {
      const auto of = partition(model);
      ASSERT_NE(of, nullptr);
      const auto records = test_.read_all(*of);
      ASSERT_TRUE(records) << "seed " << seed_ << " topic " << model.topic << ": " << to_string(records.error());
      std::map<std::int64_t, std::string> stored;
      int last = -1;
      for (const auto& record : *records) {
        stored[record.offset.value] = record.value;
        const int number = std::stoi(record.value);
        ASSERT_GT(number, last) << "seed " << seed_ << ": order, or a duplicate";
        last = number;
      }
      ASSERT_GE(of->log_start().value, model.start) << "seed " << seed_;
      const auto must_have = [&](const std::map<std::int64_t, std::string>& wanted, const char* why) {
        for (const auto& [offset, value] : wanted) {
          if (offset < of->log_start().value) {
            continue;
          }
          const auto found = stored.find(offset);
          ASSERT_TRUE(found != stored.end()) << "seed " << seed_ << " topic " << model.topic << " " << why << " offset "
                                             << offset << " end " << of->high_watermark().value;
          ASSERT_EQ(found->second, value) << "seed " << seed_ << " " << why;
        }
      };
      ASSERT_NO_FATAL_FAILURE(must_have(model.promised, "promised"));
      if (mode == sim::CrashMode::process_death) {
        ASSERT_NO_FATAL_FAILURE(must_have(model.written, "written"));
      }
      if (model.flush == FlushMode::sync || mode == sim::CrashMode::process_death) {
        ASSERT_GE(of->high_watermark().value, model.seen_end) << "seed " << seed_;
        for (const auto& [offset, value] : model.known) {
          if (offset < model.seen_end && offset >= of->log_start().value) {
            ASSERT_EQ(stored[offset], value) << "seed " << seed_ << " seen by a reader";
          }
        }
      }
      // From here on what is there is what a client can know; a new producer epoch, as after any lost answer.
      model.known = stored;
      model.written = stored;
      model.promised = stored;  // recovery has synced all that it accepted
      model.seen_end = of->high_watermark().value;
      model.start = of->log_start().value;
      model.producer_epoch += 1;
      model.next_sequence = 0;
      ASSERT_NO_FATAL_FAILURE(check_times(*of, stored));
    }
  }

  void check_times(const Partition& of, const std::map<std::int64_t, std::string>& stored) {
    const auto largest = test_.log->find_max_timestamp(of, of.high_watermark());
    ASSERT_TRUE(largest) << to_string(largest.error());
    ASSERT_EQ(largest->has_value(), !stored.empty()) << "seed " << seed_;
    if (!stored.empty()) {
      const auto first = test_.log->find_by_time(of, 0, of.high_watermark());
      ASSERT_TRUE(first && *first);
      ASSERT_EQ((*first)->offset.value, stored.begin()->first) << "seed " << seed_;
      const auto none = test_.log->find_by_time(of, (*largest)->timestamp + 1, of.high_watermark());
      ASSERT_TRUE(none && !*none);
    }
  }

  Random random_;
  TestLog test_;
  const std::uint64_t seed_;
  std::deque<Model> models_;
  std::vector<Sent> sent_;
};

TEST(CommitLogSim, WhatWasPromisedSurvivesACrashAtAnyDiskOperation) {
  for (const auto seed : sim::seeds(200)) {
    Life life{seed};
    life.run();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace weir::log
