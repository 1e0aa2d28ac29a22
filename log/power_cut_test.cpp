// Power cuts behind any event of a recorded disk, and the mutation check: without the syncs of one place some cut must
// break a promise, or that place has no reason. WEIR_SEED=N repeats a seed, WEIR_SEEDS=N runs more.
#include <gtest/gtest.h>

#include <deque>

#include "log/test_promises.hpp"
#include "sim/seams/recording_disk.hpp"
#include "sim/seams/seeds.hpp"

namespace weir::log {
namespace {

// A log that works on a recorded disk, through deaths of its process and clean stops.
class Recorded {
 public:
  // On what a power cut left (`base`), where `held` must be true; null: a new disk.
  Recorded(std::uint64_t seed, std::shared_ptr<const sim::SimDisk> base, Held held)
      : base_(std::move(base)),
        disk_(base_ ? base_->clone(seed) : std::make_unique<sim::SimDisk>(seed)),
        recording(*disk_),
        begins_with(std::move(held)),
        random_(seed),
        test_(seed) {
    test_.on = &recording;
    test_.options.delta_bytes = 128 << 10;
    test_.options.boot_id = topic_number(static_cast<int>(100 + random_.below(30'000)));
    test_.options.raise_epochs = [](std::span<KnownPartition* const> partitions) -> Result<void> {
      for (auto* partition : partitions) {
        partition->leader_epoch = LeaderEpoch{partition->leader_epoch.value + 1};
      }
      return {};
    };
    if (!base_) {
      WEIR_CHECK(disk_->make_directories("data").has_value());
      WEIR_CHECK(disk_->sync_directory(".").has_value());
      base_ = disk_->clone(seed);
    }
    for (const auto& [topic, promise] : begins_with.topics) {
      test_.known.push_back({{topic_number(topic), 0}, promise.rules, LeaderEpoch{0}});
    }
  }

  // Starts, and judges what is there. "" or what is wrong.
  std::string start(const Held& held) {
    test_.options.io = random_.chance(2) ? IoMode::direct : IoMode::buffered;
    recording.revive();
    test_.clean_end = held.clean_end;
    const auto started = test_.start(random_.chance(2));
    if (!started) {
      return "no start: " + to_string(started.error());
    }
    add([](Held& now) { now.clean_end.reset(); });
    auto why = judge(test_, held);
    if (why.empty()) {
      show_all(held);
    }
    return why;
  }

  void work(std::size_t lives) {
    for (std::size_t life = 0; life < lives; ++life) {
      if (life > 0) {
        ASSERT_EQ(start(held()), "") << "a start after a process death";
      }
      if (random_.chance(3)) {
        recording.die_at(1 + random_.below(400), random_.below(5'000));
      } else if (random_.chance(3)) {
        recording.die_at_sync("Manifest::append sync");  // a start that reads such an edit relies on it
      }
      const auto steps = 60 + random_.below(200);
      for (std::uint64_t step = 0; step < steps && !recording.died(); ++step) {
        one_step();
        for (auto turns = random_.below(12); turns > 0 && test_.queue.ready() > 0; --turns) {
          test_.queue.step();
          hear_answers();
        }
      }
      end_life();
    }
  }

  void settle() {
    test_.queue.run_until_idle();
    hear_answers();
    is_settling_.clear();
  }

  [[nodiscard]] Held held() const { return promises.held_at(recording.size(), begins_with); }
  [[nodiscard]] Held held_at(std::size_t events) const { return promises.held_at(events, begins_with); }
  [[nodiscard]] const sim::SimDisk* base() const { return base_.get(); }

 private:
  struct Sent {
    int topic;
    PartitionRules rules;
    TestBatch batch;
    Acks acks;
    Reply reply;
    int number = 0;  // of the producer's batches in this life
  };
  struct Producer {
    int next_value = 0;
    bool is_idempotent = false;
    std::int16_t epoch = 0;
    std::int32_t sequence = 0;
    int sent = 0;
  };
  std::shared_ptr<const sim::SimDisk> base_;
  std::unique_ptr<sim::SimDisk> disk_;

 public:
  sim::RecordingDisk recording;
  Promises promises;
  Held begins_with;

 private:
  void add(Promises::Change change) { promises.add(recording.size(), std::move(change)); }

  // A start has synced what it shows: from here on all of it stays.
  void show_all(const Held& held) {
    for (const auto& [topic, promise] : held.topics) {
      const auto partition = test_.find(topic, 0);
      const auto read = test_.read_all(*partition);
      WEIR_CHECK(read.has_value());
      auto& producer = producers_[topic];
      producer.is_idempotent = topic % 2 == 0;
      producer.epoch = static_cast<std::int16_t>(promise.producer_epoch + 1);
      producer.sequence = 0;
      producer.sent = 0;
      std::map<std::int64_t, std::string> records;
      for (const auto& record : *read) {
        records.emplace(record.offset.value, record.value);
        producer.next_value =
            std::max(producer.next_value, std::stoi(record.value.substr(record.value.find(':') + 1)) + 1);
      }
      add([topic = topic, records = std::move(records), start = partition->log_start().value,
           end = partition->high_watermark().value](Held& now) {
        auto& of = now.topics[topic];
        of.records = records;
        of.start = start;
        of.seen_end = std::max(of.seen_end, end);
      });
    }
  }

  void one_step() {
    const auto choice = random_.below(100);
    if (topics().empty() || (choice < 3 && topics().size() < 5)) {
      create();
    } else if (choice < 70) {
      send();
    } else if (choice < 80) {
      look();
    } else if (choice < 86) {
      move_start();
    } else if (choice < 90) {
      test_.log->run_retention([] {});
    } else if (choice < 91 && topics().size() > 2) {
      remove();
    } else if (choice < 94) {
      test_.queue.run_for(static_cast<Millis>(1 + random_.below(100)));
    } else if (choice < 96) {
      change_flush();
    }
  }

  std::vector<int> topics() const {
    std::vector<int> all;
    for (const auto& known : test_.known) {
      all.push_back(static_cast<int>(known.key.topic_id.bytes[15]) +
                    256 * static_cast<int>(known.key.topic_id.bytes[14]));
    }
    return all;
  }
  int any_topic() {
    const auto all = topics();
    return all[random_.below(all.size())];
  }

  void create() {
    const auto topic = held().topics_made + 1;
    PartitionRules rules;
    rules.flush = random_.chance(3) ? FlushMode::async : FlushMode::sync;
    rules.flush_ms = any_flush_ms();
    rules.retention_ms = -1;
    rules.retention_bytes = random_.chance(3) ? 300'000 : -1;
    add([topic, rules](Held& now) {
      now.topics[topic].rules = rules;
      now.topics_made = topic;
    });
    producers_[topic].is_idempotent = topic % 2 == 0;
    test_.create(topic, 0, rules);
  }

  void remove() {
    const auto topic = any_topic();
    const PartitionKey key{topic_number(topic), 0};
    std::erase_if(test_.known, [&](const auto& known) { return known.key == key; });
    add([topic](Held& now) { now.topics.erase(topic); });
    test_.log->remove(key);
  }

  Millis any_flush_ms() { return random_.chance(2) ? static_cast<Millis>(random_.below(150)) : kNoFlushMs; }

  PartitionRules& rules_of(int topic) {
    const PartitionKey key{topic_number(topic), 0};
    return std::ranges::find(test_.known, key, &KnownPartition::key)->rules;
  }

  // The metadata are durable before the log hears of it.
  void change_flush() {
    settle();
    if (recording.died()) {
      return;
    }
    const auto topic = any_topic();
    auto& rules = rules_of(topic);
    rules.flush = rules.flush == FlushMode::async ? FlushMode::sync : FlushMode::async;
    rules.flush_ms = any_flush_ms();
    add([topic, rules](Held& now) { now.topics[topic].rules = rules; });
    test_.log->set_rules({topic_number(topic), 0}, rules);
    is_settling_.insert(topic);
    if (random_.chance(2)) {
      settle();
      if (rules.flush == FlushMode::sync && !recording.died()) {
        show(topic);
      }
    }
  }

  // All that can be read of it stays.
  void show(int topic) {
    const auto partition = test_.find(topic, 0);
    const auto read = test_.read_all(*partition);
    WEIR_CHECK(read.has_value());
    add([topic, records = *read, end = partition->high_watermark().value](Held& now) {
      auto& of = now.topics[topic];
      for (const auto& record : records) {
        of.records[record.offset.value] = record.value;
      }
      of.seen_end = std::max(of.seen_end, end);
    });
  }

  void send() {
    const auto topic = any_topic();
    auto& producer = producers_[topic];
    Sent sent{
        .topic = topic, .rules = rules_of(topic), .batch = {.values = {}}, .acks = Acks::all, .reply = {}, .number = 0};
    for (auto count = 1 + random_.below(3); count > 0; --count) {
      auto value = std::to_string(topic) + ":" + std::to_string(producer.next_value++) + ":";
      value.resize(value.size() + (random_.chance(4) ? random_.below(90'000) : random_.below(600)),
                   static_cast<char>('a' + random_.below(26)));
      sent.batch.values.push_back(std::move(value));
    }
    if (producer.is_idempotent) {
      sent.batch.producer_id = 1000 + topic;
      sent.batch.producer_epoch = producer.epoch;
      sent.batch.base_sequence = producer.sequence;
      producer.sequence += static_cast<std::int32_t>(sent.batch.values.size());
      sent.number = ++producer.sent;
      add([topic, epoch = producer.epoch, number = sent.number](Held& now) {
        auto& of = now.topics[topic];
        if (of.producer_epoch != epoch) {
          of.last_sequenced.reset();
        }
        of.producer_epoch = epoch;
        of.sent = number;
      });
    }
    constexpr std::array kAcks{Acks::all, Acks::all, Acks::leader, Acks::internal};
    sent.acks = kAcks[random_.below(kAcks.size())];
    sent.reply = test_.append(test_.find(topic, 0), sent.batch, sent.acks);
    sent_.push_back(std::move(sent));
  }

  void hear_answers() {
    std::erase_if(sent_, [&](const Sent& sent) {
      if (!sent.reply->has_value()) {
        return false;
      }
      const auto& outcome = **sent.reply;
      const bool is_async = sent.rules.flush == FlushMode::async;
      const bool is_synced = sent.acks == Acks::internal || (sent.acks == Acks::all && !is_async);
      if (!outcome.error && (is_synced || (is_async && sent.rules.flush_ms != kNoFlushMs))) {
        Promises::Change promise = [topic = sent.topic, batch = sent.batch, base = outcome.base_offset.value,
                                    number = sent.number](Held& now) {
          const auto found = now.topics.find(topic);
          if (found == now.topics.end()) {
            return;
          }
          for (std::size_t i = 0; i < batch.values.size(); ++i) {
            found->second.records[base + static_cast<std::int64_t>(i)] = batch.values[i];
          }
          if (batch.producer_id >= 0) {
            found->second.last_sequenced_number = number;
            found->second.last_sequenced = batch;
            found->second.last_sequenced_at = base;
          }
        };
        if (is_synced) {
          add(std::move(promise));
        } else {
          later_.emplace_back(test_.queue.clock().monotonic_ms() + sent.rules.flush_ms, std::move(promise));
        }
      }
      return true;
    });
    std::erase_if(later_, [&](auto& one) {
      const bool is_time = test_.queue.clock().monotonic_ms() > one.first && !recording.died();
      if (is_time) {
        add(std::move(one.second));
      }
      return is_time;
    });
  }

  void look() {
    const auto topic = any_topic();
    const auto partition = test_.find(topic, 0);
    if (rules_of(topic).flush == FlushMode::sync && !is_settling_.contains(topic)) {
      add([topic, end = partition->high_watermark().value](Held& now) {
        auto& of = now.topics[topic];
        of.seen_end = std::max(of.seen_end, end);
      });
    }
  }

  void move_start() {
    const auto topic = any_topic();
    const auto partition = test_.find(topic, 0);
    const auto range = static_cast<std::uint64_t>(partition->high_watermark() - partition->log_start());
    const auto target = partition->log_start() + static_cast<std::int64_t>(random_.below(range + 1));
    add([topic, target](Held& now) {
      auto& of = now.topics[topic];
      of.start_asked = std::max(of.start_asked, target.value);
    });
    test_.log->move_start(partition, target, *test_.runtime->io.front(), [this, topic](const Result<Offset>& moved) {
      if (moved) {
        add([topic, start = *moved](Held& now) {
          if (const auto found = now.topics.find(topic); found != now.topics.end()) {
            found->second.start = std::max(found->second.start, start.value);
          }
        });
      }
    });
  }

  void end_life() {
    if (!recording.died() && random_.chance(3)) {
      bool stopped = false;
      std::optional<LogPosition> clean_end;
      test_.log->stop([&](std::optional<LogPosition> end) {
        stopped = true;
        clean_end = end;
      });
      settle();
      WEIR_CHECK(stopped);
      add([clean_end](Held& now) { now.clean_end = clean_end; });
    } else if (random_.chance(3)) {
      settle();
    }
    test_.kill();
    sent_.clear();
    later_.clear();
    is_settling_.clear();
  }

  Random random_;
  TestLog test_;
  std::map<int, Producer> producers_;
  std::deque<Sent> sent_;
  std::deque<std::pair<Millis, Promises::Change>> later_;  // true once the time has passed: flush.ms
  std::set<int> is_settling_;                              // topics that were async until a sync that is under way
};

// What a cut behind `events` events leaves, started and judged. The image and its judge's own recording come back.
struct Cut {
  std::string why;
  std::unique_ptr<Recorded> next;
};
Cut cut(const Recorded& run, const sim::Replay& replay, std::size_t events, std::uint64_t seed) {
  const auto held = run.held_at(events);
  Cut result;
  result.next = std::make_unique<Recorded>(seed, replay.power_cut(seed), held);
  result.why = result.next->start(held);
  return result;
}

std::vector<std::size_t> sorted_cuts(Random& random, std::size_t events, std::size_t count) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 0; i < count; ++i) {
    cuts.push_back(random.below(events + 1));
  }
  std::ranges::sort(cuts);
  return cuts;
}

std::unique_ptr<Recorded> first_run(std::uint64_t seed) {
  auto run = std::make_unique<Recorded>(seed, nullptr, Held{});
  EXPECT_EQ(run->start({}), "") << "seed " << seed;
  run->work(1 + seed % 3);
  return run;
}

// A block that holds synced bytes is written once: no tear of a later write can touch them. Zeros written ahead are not
// bytes of the log.
std::string first_block_written_again(std::span<const sim::DiskEvent> events) {
  struct Blocks {
    std::set<std::int64_t> dirty, synced;
  };
  std::map<std::string, Blocks> files;
  for (const auto& event : events) {
    if (!event.path.ends_with(".log") || event.operation == sim::DiskOperation::open) {
      continue;
    }
    if (event.operation == sim::DiskOperation::rename || event.operation == sim::DiskOperation::remove) {
      files.erase(event.path);
      files.erase(event.to);
      continue;
    }
    auto& [dirty, synced] = files[event.path];
    if (event.operation == sim::DiskOperation::sync) {
      synced.merge(dirty);
      dirty.clear();
    } else if (event.operation == sim::DiskOperation::write &&
               std::ranges::any_of(event.bytes, [](auto byte) { return byte != std::byte{0}; })) {
      for (auto block = event.position / 4096; block * 4096 < event.position + std::ssize(event.bytes); ++block) {
        if (synced.contains(block)) {
          return event.path + " at " + std::to_string(event.position);
        }
        dirty.insert(block);
      }
    }
  }
  return "";
}

TEST(PowerCut, BehindAnyEventOfTheDiskLeavesEveryPromiseTrueAndSoDoesTheNextOne) {
  std::size_t images = 0;
  for (const auto seed : sim::seeds(sim::seed_count(20))) {
    const auto run = first_run(seed);
    ASSERT_EQ(first_block_written_again(run->recording.events()), "") << "seed " << seed;
    Random random{seed};
    sim::Replay replay{run->base(), run->recording.events()};
    for (const auto events : sorted_cuts(random, run->recording.size(), 6)) {
      replay.advance_to(events);
      auto image = cut(*run, replay, events, random.next());
      ASSERT_EQ(image.why, "") << "seed " << seed << ", cut behind event " << events;
      ++images;
      if (random.chance(2)) {
        image.next->settle();
      }
      if (random.chance(3)) {
        image.next->work(1);
      }
      sim::Replay again{image.next->base(), image.next->recording.events()};
      const auto second = random.chance(2) ? image.next->recording.size() : random.below(image.next->recording.size());
      again.advance_to(second);
      ASSERT_EQ(cut(*image.next, again, second, random.next()).why, "")
          << "seed " << seed << ", cut behind event " << events << ", and again behind " << second;
      ++images;
      ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
    }
  }
  std::printf("%zu images\n", images);
}

// Where the log syncs though no promise hangs on it.
const std::map<std::string, std::string> kNeedless{
    {"IndexDeltaWriter::append sync", "a delta that is lost costs a longer scan, a torn one has a CRC"},
    {"IndexFileWriter::finish folder", "without its name the index is made again from the segment, which is sealed"},
    {"Manifest::rewrite sync", "a torn manifest is made again from headers and sealed index files"},
    {"Manifest::rewrite folder", "and so is one that is gone; of a start: the last test below"},
    {"SegmentFiles::create sync", "the size alone; a shorter file is read as far as it goes"},
    {"SegmentFiles::open folder", "the manifest's first rewrite, soon behind it, syncs the same folder"},
};

constexpr std::uint64_t kSeedsOfNeedless = 3;  // this many look whether they are needless still

// Cuts soon behind the places' syncs, which are now missing.
std::optional<std::string> broken_without(const Recorded& run, const std::string& place, Random& random,
                                          std::size_t cuts_max) {
  const auto& events = run.recording.events();
  std::vector<std::size_t> synced;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].place == place) {
      synced.push_back(i);
    }
  }
  std::vector<std::size_t> cuts;
  while (cuts.size() < cuts_max) {
    const auto behind = synced[random.below(synced.size())] + 1;
    cuts.push_back(std::min(events.size(), behind + random.below(1U << random.below(8))));
  }
  std::ranges::sort(cuts);
  sim::Replay replay{run.base(), events, place};
  sim::Replay whole{run.base(), events};
  for (const auto at : cuts) {
    replay.advance_to(at);
    const auto seed = random.next();
    const auto image = cut(run, replay, at, seed);
    if (!image.why.empty()) {
      whole.advance_to(at);
      EXPECT_EQ(cut(run, whole, at, seed).why, "") << "with all syncs, behind event " << at;
      return image.why;
    }
  }
  return std::nullopt;
}

TEST(PowerCut, WithoutTheSyncsOfAnyOnePlaceAPromiseIsBrokenWithinAHundredSeeds) {
  std::map<std::string, std::string> noticed;
  std::set<std::string> places;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::vector<std::unique_ptr<Recorded>> runs;
    runs.push_back(first_run(seed));
    Random random{seed};
    sim::Replay replay{runs[0]->base(), runs[0]->recording.events()};
    replay.advance_to(runs[0]->recording.size());
    auto image = cut(*runs[0], replay, runs[0]->recording.size(), random.next());
    ASSERT_EQ(image.why, "") << "seed " << seed;
    image.next->work(1);
    runs.push_back(std::move(image.next));
    for (const auto& run : runs) {
      for (const auto& [place, count] : sim::places_of(run->recording.events())) {
        places.insert(place);
        if (noticed.contains(place) || (kNeedless.contains(place) && seed > kSeedsOfNeedless)) {
          continue;
        }
        if (const auto why = broken_without(*run, place, random, 6)) {
          noticed.emplace(place, "seed " + std::to_string(seed) + ": " + *why);
          std::printf("%s: %s\n", place.c_str(), noticed[place].c_str());
          std::fflush(stdout);
        }
      }
    }
    if (std::ranges::all_of(places,
                            [&](const auto& place) { return noticed.contains(place) || kNeedless.contains(place); }) &&
        seed >= kSeedsOfNeedless) {
      break;
    }
  }
  for (const auto& place : places) {
    EXPECT_TRUE(noticed.contains(place) || kNeedless.contains(place))
        << "nothing notices that this is missing: " << place;
    EXPECT_FALSE(noticed.contains(place) && kNeedless.contains(place)) << "is needed after all: " << place;
  }
}

// A death between an edit and its sync: the next start acts on what it reads, so it must not be lost by the cut.
TEST(PowerCut, ARemovalThatAStartReadInTheManifestIsDurableBeforeTheFileGoes) {
  sim::SimDisk disk{1};
  WEIR_CHECK(disk.make_directories("data").has_value());
  WEIR_CHECK(disk.sync_directory(".").has_value());
  const auto base = disk.clone(1);
  sim::RecordingDisk recording{disk};
  TestLog test{1};
  test.on = &recording;
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  while (test.log->statistics().segments < 3) {
    test.append_now(test.find(1, 0), {.values = {std::string(90'000, 'x')}});
  }
  test.log->move_start(test.find(1, 0), test.find(1, 0)->high_watermark(), *test.runtime->io.front(),
                       [](const Result<Offset>&) {});
  test.queue.run_until_idle();
  recording.die_at_sync("Manifest::append sync");
  test.log->run_retention([] {});
  test.queue.run_until_idle();
  ASSERT_TRUE(recording.died());
  test.kill();
  recording.revive();
  ASSERT_TRUE(test.start());
  test.kill();
  const auto& events = recording.events();
  const auto gone = std::ranges::find_if(events, [](const auto& event) {
    return event.operation == sim::DiskOperation::remove && event.path.ends_with(".log");
  });
  ASSERT_TRUE(gone != events.end());
  const auto damaged_of_64 = [&](const std::string& without) {
    sim::Replay replay{base.get(), events, without};
    replay.advance_to(static_cast<std::size_t>(gone - events.begin()) + 1);
    int damaged = 0;
    for (std::uint64_t seed = 1; seed <= 64; ++seed) {
      TestLog after{seed};
      const auto image = replay.power_cut(seed);
      after.on = image.get();
      after.known = test.known;
      EXPECT_TRUE(after.start());
      damaged += after.log->statistics().recovery_damaged_ranges > 0 ? 1 : 0;
    }
    return damaged;
  };
  EXPECT_EQ(damaged_of_64(""), 0);
  EXPECT_GT(damaged_of_64("Manifest::rewrite folder"), 0);
}

}  // namespace
}  // namespace weir::log
