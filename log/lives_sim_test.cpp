// Lives of one log on one disk, each with another way to begin and to end: clean or not, as the stop before it said and
// the broker marks it; direct or buffered; topics made, changed and deleted, also while it stops; disks that fail with
// any errno at any operation, are full, or have no descriptors left, for a while or to the end; clocks that jump; stops
// with all of that standing; deaths and power cuts, also inside a stop or a start. Judged by log/test_lives.hpp, and:
// - Every stop and every append of a producer is answered within a minute, whatever the disk does. A coordinator's may
//   wait for as long as the disk has no room; then the coordinator answers in the log's stead (offsets_test).
// - Read-only is a log only after something that is a verdict about the disk; else writes come back when all is well.
// - A sync that failed is not asked for again by the same process.
// WEIR_SEED=N repeats a seed and tells its steps, WEIR_SEEDS=N runs more.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>

#include "log/allow_writes.hpp"
#include "log/manifest.hpp"
#include "log/test_lives.hpp"
#include "log/test_lives_faults.hpp"
#include "sim/seams/seeds.hpp"

namespace weir::log {
namespace {

constexpr Millis kPatienceMs = 60'000;
constexpr std::int64_t kVolume = 256 * kMiB;
constexpr std::size_t kTopicsMax = 12;
constexpr std::int64_t kOverhead = 100;  // of a batch, at most

class Lives {
 public:
  explicit Lives(std::uint64_t seed) : random_(seed * 7919), test_(seed), tells_(std::getenv("WEIR_SEED") != nullptr) {
    test_.disk.set_capacity(kVolume);
    test_.options.raise_epochs = [this](std::span<KnownPartition* const> partitions) {
      for (auto* one : partitions) {
        one->leader_epoch = LeaderEpoch{one->leader_epoch.value + 1};
        for (auto& known : test_.known) {
          known.leader_epoch = known.key == one->key ? one->leader_epoch : known.leader_epoch;
        }
        for (auto& topic : topics_) {
          topic.epoch_was_raised = topic.epoch_was_raised || topic_number(topic.number) == one->key.topic_id;
        }
      }
      return Result<void>{};
    };
  }

  // "" or the first promise that was broken.
  std::string go() {
    for (auto lives = 3 + random_.below(4); lives > 0 && why_.empty(); --lives) {
      begin();
      live();
      end();
    }
    if (why_.empty()) {
      all_is_well_again();
    }
    return why_;
  }

 private:
  void broken(const std::string& why) {
    if (why_.empty()) {
      why_ = why + " [" + (test_.options.io == IoMode::direct ? "direct" : "buffered") + ", " + doing_ + "]";
    }
  }
  void tell(const std::string& what) {
    doing_ = what;
    if (tells_) {
      std::printf("%lld: %s\n", static_cast<long long>(test_.queue.clock().monotonic_ms()), what.c_str());
    }
  }
  [[nodiscard]] bool goes_on() const { return why_.empty() && !test_.disk.crashed(); }
  Millis wall() { return test_.queue.clock().wall_ms(); }
  void note_time() { latest_wall_ms_ = std::max(latest_wall_ms_, wall()); }

  // Faults.
  void look_at_faults() {
    if (const auto why = faults_.look(); !why.empty()) {
      broken(why);
    }
  }
  void begin_fault() {
    static const std::array<std::string, 8> kPaths{"", "", ".log", ".log", ".index", "manifest", "pool/", "commitlog"};
    faults_stand_ = true;
    const auto drawn = draw_fault(random_, kPaths);
    switch (drawn.kind) {
      case DrawnFault::Kind::errnos:
        tell(to_text(drawn.fault));
        test_.disk.fail(drawn.fault);
        break;
      case DrawnFault::Kind::descriptors:
        tell("descriptors left: " + std::to_string(drawn.descriptors_left));
        test_.disk.limit_open_files(test_.disk.open_files() + drawn.descriptors_left);
        break;
      case DrawnFault::Kind::full: fill_disk(); break;
    }
  }
  void fill_disk() {
    faults_stand_ = true;
    const auto room = static_cast<std::int64_t>(random_.chance(2) ? 0 : random_.below(2 * kMiB));
    tell("the disk has room for " + std::to_string(room));
    test_.disk.set_capacity(test_.disk.used_bytes() + room);
  }
  void heal() {
    if (faults_stand_) {
      tell("all is well");
    }
    look_at_faults();
    test_.disk.heal();
    test_.disk.limit_open_files(1U << 20U);
    test_.disk.set_capacity(kVolume);
    faults_stand_ = false;
  }
  // Does the manifest say that a sync has failed? If not, a start of the same boot cannot know.
  [[nodiscard]] bool is_noted() const {
    const auto copy = test_.disk.clone(1);
    const auto manifest = Manifest::open(*copy, "data/manifest", 1);
    return manifest && (*manifest)->state().refuses_writes();
  }

  // A life begins.
  void begin() {
    draw_options(test_.options, random_);
    const bool bad_start = random_.chance(6);
    const auto fullness = random_.below(12);
    if (bad_start) {
      const auto one_in = 5 + random_.below(60);
      tell("the start meets faults, one in " + std::to_string(one_in));
      random_.chance(4) ? test_.disk.limit_open_files(random_.below(8)) : test_.disk.fail({.one_in = one_in});
    } else if (fullness == 0) {
      fill_disk();
    }
    begin_process();
    const bool clean = std::exchange(is_marked_clean_, false);
    tell(std::string{"start "} + (clean ? "clean" : "unclean") +
         (test_.options.io == IoMode::direct ? ", direct" : ", buffered"));
    auto started = test_.start(clean);
    look_at_faults();
    if (!started && (bad_start || faults_stand_ || test_.disk.crashed())) {
      tell("it does not start: " + to_string(started.error()));
      heal();
      crash();
      begin_process();
      tell("start again");
      started = test_.start(false);
    }
    if (!started) {
      broken("the log does not start: " + to_string(started.error()));
      return;
    }
    if (bad_start) {
      heal();
    }
    judge();
  }
  void begin_process() {
    faults_.begin_process();
    sent_.clear();
  }
  void judge() {
    note_time();
    for (auto& topic : topics_) {
      if (!topic.is_deleted) {
        if (const auto why = judge_start(test_, topic, left_, latest_wall_ms_); !why.empty()) {
          broken("topic " + std::to_string(topic.number) + ": " + why);
        }
      }
    }
    left_ = Left::all;
    for (const auto& partition : test_.log->partitions()) {
      if (std::ranges::none_of(test_.known, [&](const auto& one) { return one.key == partition->key(); })) {
        broken("a deleted topic is back");
      }
    }
    judge_read_only();
  }
  void judge_read_only() {
    look_at_faults();
    if (test_.log->statistics().read_only && !faults_.has_verdict) {
      broken("read-only without a verdict about the disk");
    }
  }

  // What happens in a life.
  void make_topic() {
    LivesTopic topic;
    topic.number = static_cast<int>(topics_.size()) + 1;
    topic.stamps = random_.chance(2) ? Stamps::now : static_cast<Stamps>(random_.below(kStampKinds));
    topic.set_rules(draw_rules(random_));
    tell("topic " + std::to_string(topic.number) + " " + to_text(topic.rules));
    test_.create(topic.number, 0, topic.rules);
    topics_.push_back(std::move(topic));
  }
  std::size_t some_topic() {
    const auto newest = topics_.size() - 1 - random_.below(std::min<std::uint64_t>(3, topics_.size()));
    return random_.chance(3) ? newest : random_.below(topics_.size());
  }
  std::shared_ptr<Partition> partition(std::size_t topic) const { return test_.find(topics_[topic].number, 0); }
  void delete_topic(std::size_t number) {
    auto& topic = topics_[number];
    tell("delete topic " + std::to_string(topic.number));
    topic.is_deleted = true;
    const PartitionKey key{topic_number(topic.number), 0};
    std::erase_if(test_.known, [&](const auto& one) { return one.key == key; });
    test_.log->remove(key);
  }
  void change_rules(std::size_t number) {
    auto& topic = topics_[number];
    topic.set_rules(draw_rules(random_));
    tell("topic " + std::to_string(topic.number) + " becomes " + to_text(topic.rules));
    const PartitionKey key{topic_number(topic.number), 0};
    for (auto& known : test_.known) {
      known.rules = known.key == key ? topic.rules : known.rules;
    }
    test_.log->set_rules(key, topic.rules);
  }
  void send(std::size_t number, std::size_t size_max) {
    auto& topic = topics_[number];
    const auto of = partition(number);
    if (topic.is_deleted || !of) {
      return;
    }
    Sent sent{.topic = number,
              .values = {},
              .acks = pick(random_, std::array{Acks::all, Acks::all, Acks::leader, Acks::internal, Acks::none}),
              .is_safe = topic.rules.flush == FlushMode::sync,
              .rules_changes = topic.rules_changes,
              .reply = nullptr};
    TestBatch batch;
    batch.timestamp = draw_stamp(topic.stamps, wall(), random_);
    for (auto count = 1 + random_.below(3); count > 0; --count) {
      auto value = std::to_string(topic.number) + ":" + std::to_string(topic.next_value++) + ":";
      value.resize(value.size() + random_.below(size_max), static_cast<char>('a' + random_.below(26)));
      topic.facts[value] = {batch.timestamp, wall(), std::ssize(value) + kOverhead};
      sent.values.push_back(std::move(value));
    }
    batch.values = sent.values;
    sent.reply = test_.append(of, batch, sent.acks);
    sent_.push_back(std::move(sent));
  }
  void hear_answers() {
    note_time();
    std::erase_if(sent_, [&](const Sent& sent) {
      if (!sent.reply->has_value()) {
        return false;
      }
      auto& topic = topics_[sent.topic];
      const auto& outcome = **sent.reply;
      if (outcome.error) {
        if (outcome.error->code != Errc::disk_failed) {  // of such one nobody knows
          topic.refused.insert(sent.values.begin(), sent.values.end());
        }
        return true;
      }
      const bool is_promised = sent.acks == Acks::internal ||
                               (sent.acks == Acks::all && sent.is_safe && sent.rules_changes == topic.rules_changes);
      for (std::size_t i = 0; i < sent.values.size(); ++i) {
        const auto offset = outcome.base_offset.value + static_cast<std::int64_t>(i);
        learn(topic, offset, sent.values[i]);
        topic.answered[offset] = sent.values[i];
        if (is_promised) {
          topic.promised[offset] = sent.values[i];
        }
      }
      return true;
    });
  }
  void learn(LivesTopic& topic, std::int64_t offset, const std::string& value) {
    const auto [known, added] = topic.known.emplace(offset, value);
    if (known->second != value) {
      broken("topic " + std::to_string(topic.number) + ": offset " + std::to_string(offset) + " was given to two");
    }
  }
  void read_some(std::size_t number) {
    auto& topic = topics_[number];
    const auto of = partition(number);
    if (topic.is_deleted || !of) {
      return;
    }
    const auto start = of->log_start().value;
    const auto end = of->high_watermark().value;
    if (start > end || end > of->log_end().value || end < topic.seen_end) {
      broken("start, high watermark and end of topic " + std::to_string(topic.number));
      return;
    }
    const Offset at{start + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(end - start) + 1))};
    const auto records = test_.read_all(*of, at, ReadFrom::may_block, 1 + random_.below(200'000));
    look_at_faults();
    if (!records) {
      if (!faults_stand_ && faults_.met_in_life == 0 && goes_on()) {
        broken("a read fails: " + to_string(records.error()));
      }
      return;
    }
    topic.seen_end = end;
    for (const auto& record : *records) {
      learn(topic, record.offset.value, record.value);
    }
  }
  void move_start(std::size_t number) {
    const auto of = partition(number);
    if (topics_[number].is_deleted || !of) {
      return;
    }
    const auto range = static_cast<std::uint64_t>(of->high_watermark() - of->log_start());
    const auto target = of->log_start() + static_cast<std::int64_t>(random_.below(range / 4 + 1));
    tell("topic " + std::to_string(topics_[number].number) + " shall start at " + std::to_string(target.value));
    topics_[number].start_asked = std::max(topics_[number].start_asked, target.value);
    test_.log->move_start(of, target, *test_.runtime->io.front(), [this, number, target](const Result<Offset>& moved) {
      if (moved) {
        topics_[number].start = std::max(topics_[number].start, target.value);
      }
    });
  }
  void jump_clock() {
    constexpr std::array kJumps{kHour, kDay, 8 * kDay, 365 * kDay};
    const auto by = pick(random_, kJumps) * (random_.chance(3) ? -1 : 1);
    tell("the clock jumps by " + std::to_string(by));
    test_.queue.clock().skew_wall(by);
    note_time();
    for (auto& topic : topics_) {  // the newest append of a run bounds its time
      for (auto& [value, facts] : topic.facts) {
        facts.append_ms = std::min(facts.append_ms, wall());
      }
    }
  }
  void one_step() {
    if (topics_.empty()) {
      make_topic();
    }
    const auto choice = random_.below(40);
    if (choice < 20) {
      const auto topic = some_topic();
      const auto size_max = pick(random_, std::array<std::size_t, 4>{100, 1'000, 10'000, 60'000});
      for (auto count = 1 + random_.below(4); count > 0; --count) {
        send(topic, size_max);
      }
    } else if (choice < 26) {
      read_some(some_topic());
    } else if (choice == 26) {
      move_start(some_topic());
    } else if (choice == 27) {
      test_.log->run_retention([] {});
    } else if (choice == 28 && topics_.size() < kTopicsMax) {
      make_topic();
    } else if (choice == 29 && random_.chance(3)) {
      const auto number = random_.below(topics_.size());
      if (!topics_[number].is_deleted) {
        delete_topic(number);
      }
    } else if (choice == 30) {
      const auto number = some_topic();
      if (!topics_[number].is_deleted) {
        change_rules(number);
      }
    } else if (choice == 31 && random_.chance(6)) {
      jump_clock();
    } else if (choice == 32) {
      test_.queue.run_for(static_cast<Millis>(random_.below(3'000)));
    }
  }
  void let_run(std::uint64_t turns) {
    for (; turns > 0 && test_.queue.ready() > 0; --turns) {
      test_.queue.step();
    }
    hear_answers();
    look_at_faults();
  }
  // Topics that came while the log stopped are not heard of until the others have written more than a delta.
  void late_topics_write_late() {
    tell("late topics write late");
    is_short_life_ = true;
    const auto is_late = [&](std::size_t topic) { return late_topics_.contains(topics_[topic].number); };
    for (int batches = 0; batches < 8 && goes_on(); ++batches) {
      for (std::size_t topic = 0; topic < topics_.size(); ++topic) {
        if (!is_late(topic)) {
          send(topic, 30'000);
        }
      }
      test_.queue.run_until_idle();
      hear_answers();
    }
    for (std::size_t topic = 0; topic < topics_.size() && goes_on(); ++topic) {
      if (is_late(topic)) {
        send(topic, 100);
      }
    }
    test_.queue.run_until_idle();
    hear_answers();
    late_topics_.clear();
  }
  void live() {
    if (!late_topics_.empty() && random_.chance(2)) {
      late_topics_write_late();
      return;
    }
    late_topics_.clear();
    const auto steps = 30 + random_.below(120);
    const bool has_fault = random_.chance(2);
    const auto fault_from = random_.below(steps);
    const auto fault_to = fault_from + random_.below(steps);
    if (random_.chance(5)) {
      test_.disk.crash_at_operation(1 + random_.below(200));
    }
    for (std::uint64_t step = 0; step < steps && goes_on(); ++step) {
      if (has_fault && step == fault_from) {
        begin_fault();
      }
      if (has_fault && step == fault_to) {
        heal();
      }
      one_step();
      let_run(random_.below(12));
    }
  }

  // How it ends.
  enum class Who : std::uint8_t { all, those_whom_a_full_disk_does_not_hold };
  [[nodiscard]] const Sent* unanswered(Who who) const {
    const bool coordinators_may_wait = who != Who::all && test_.log->statistics().short_of_space;
    const auto found = std::ranges::find_if(sent_, [&](const Sent& sent) {
      const bool may_wait = sent.acks == Acks::none || (sent.acks == Acks::internal && coordinators_may_wait);
      return !may_wait && !sent.reply->has_value();
    });
    return found == sent_.end() ? nullptr : &*found;
  }
  void be_patient() {
    if (random_.chance(2)) {
      heal();
    }
    tell(faults_stand_ ? "wait for answers while faults stand" : "wait for answers");
    const auto until = test_.queue.clock().monotonic_ms() + kPatienceMs;
    const auto late = [this] { return unanswered(Who::those_whom_a_full_disk_does_not_hold); };
    if (!test_.queue.run_until([&] { return test_.disk.crashed() || late() == nullptr; }, until)) {
      broken("an append is not answered within a minute: topic " + std::to_string(topics_[late()->topic].number) +
             ", acks " + std::to_string(static_cast<int>(late()->acks)));
    }
    hear_answers();
    if (goes_on()) {
      judge_read_only();
    }
    if (goes_on() && !faults_stand_) {
      write_after_healing();
    }
  }
  // Writes come back by themselves, unless the disk is not to be trusted.
  void write_after_healing() {
    test_.queue.run_for(5'000);
    hear_answers();
    if (!goes_on()) {
      return;
    }
    if (test_.log->statistics().read_only) {
      judge_read_only();
      return;
    }
    for (std::size_t number = 0; number < topics_.size(); ++number) {
      const auto of = partition(number);
      if (topics_[number].is_deleted || !of) {
        continue;
      }
      auto& topic = topics_[number];
      auto value = std::to_string(topic.number) + ":" + std::to_string(topic.next_value++) + ":probe";
      topic.facts[value] = {wall(), wall(), std::ssize(value) + kOverhead};
      TestBatch batch{.values = {value}, .timestamp = wall()};
      auto reply = test_.append(of, batch, Acks::all);
      const auto until = test_.queue.clock().monotonic_ms() + kPatienceMs;
      test_.queue.run_until([&] { return test_.disk.crashed() || reply->has_value(); }, until);
      if (goes_on() && (!reply->has_value() || (*reply)->error)) {
        look_at_faults();
        broken("a producer hears " + (reply->has_value() ? to_string(*(*reply)->error) : "nothing") +
               " though all is well");
      }
      sent_.push_back({.topic = number,
                       .values = {value},
                       .acks = Acks::all,
                       .is_safe = topic.rules.flush == FlushMode::sync,
                       .rules_changes = topic.rules_changes,
                       .reply = reply});
      hear_answers();
      return;
    }
  }
  void traffic_around_a_stop() {
    for (auto count = random_.below(6); count > 0; --count) {
      const auto topic = some_topic();
      switch (random_.below(7)) {
        case 0:
        case 1:
          if (topics_.size() < kTopicsMax) {
            make_topic();
            late_topics_.insert(topics_.back().number);
          }
          break;
        case 2:
          if (random_.chance(3) && !topics_[topic].is_deleted) {
            delete_topic(topic);
          }
          break;
        case 3: send(topic, 20'000); break;
        case 4: move_start(topic); break;
        case 5:
          if (!topics_[topic].is_deleted) {
            change_rules(topic);
          }
          break;
        default:
          if (random_.chance(4)) {
            fill_disk();
          }
      }
    }
  }
  void end() {
    if (!why_.empty()) {
      return;
    }
    if (goes_on() && random_.chance(2) && !is_short_life_) {
      be_patient();
    }
    if (goes_on() && random_.chance(2) && !is_short_life_) {
      stop();
    } else if (why_.empty()) {
      crash();
    }
    is_short_life_ = false;
    if (why_.empty()) {
      heal();
      allow_writes_or_not();
    }
  }
  void stop() {
    if (random_.chance(2)) {
      traffic_around_a_stop();
    }
    tell("stop");
    auto stopped = std::make_shared<std::optional<bool>>();
    ask_to_stop(*test_.log, [stopped](bool is_clean) { *stopped = is_clean; });
    let_run(random_.below(8));
    if (random_.chance(2)) {
      traffic_around_a_stop();
    }
    if (random_.chance(8)) {
      let_run(random_.below(40));
      tell("a death inside the stop");
      crash();
      return;
    }
    const auto until = test_.queue.clock().monotonic_ms() + kPatienceMs;
    test_.queue.run_until([&] { return test_.disk.crashed() || stopped->has_value(); }, until);
    if (test_.disk.crashed()) {
      crash();
      return;
    }
    if (!stopped->has_value()) {
      broken("a stop is not answered within a minute");
      return;
    }
    test_.queue.run_until_idle();
    hear_answers();
    look_at_faults();
    if (unanswered(Who::all) != nullptr) {
      broken("the log has stopped and an append is not answered");
      return;
    }
    is_marked_clean_ = **stopped;
    tell(is_marked_clean_ ? "stopped clean" : "stopped, not clean");
    left_ = faults_.log_sync_failed ? Left::promised : Left::all;
    after_process();
    if (random_.chance(3) || (faults_.has_failed_sync && !is_noted())) {
      const auto left = is_marked_clean_ ? left_ : Left::promised;
      cut_power();
      left_ = left;
    }
  }
  void after_process() {
    test_.kill();
    sent_.clear();
  }
  void crash() {
    hear_answers();
    look_at_faults();
    const bool is_power_cut = random_.chance(2) || (faults_.has_failed_sync && !is_noted());
    tell(is_power_cut ? "power cut" : "the process dies");
    left_ =
        is_power_cut || faults_.log_sync_failed ? Left::promised : left_;  // one that did not start has not been judged
    if (is_power_cut) {
      cut_power();
    } else {
      test_.crash(sim::CrashMode::process_death);
    }
    sent_.clear();
  }
  void cut_power() {
    left_ = Left::promised;
    test_.crash(sim::CrashMode::power_cut);
  }
  void allow_writes_or_not() {
    if (!random_.chance(4)) {
      const auto cause = allow_writes(test_.disk, "data");
      if (cause && *cause != 0) {
        tell("writes are allowed again");
      }
      faults_.has_verdict = faults_.has_verdict && !cause;  // a crash may be armed still
    }
  }
  // The last life of all: every topic can be written, a clean stop ends it, and what is old goes.
  void all_is_well_again() {
    test_.disk.crash(1, sim::CrashMode::process_death);  // nothing is armed any more
    static_cast<void>(allow_writes(test_.disk, "data"));
    faults_.has_verdict = false;
    for (int life = 0; life < 2 && why_.empty(); ++life) {
      begin_process();
      const bool clean = std::exchange(is_marked_clean_, false);
      tell(clean ? "last start, clean" : "last start");
      const auto started = test_.start(clean);
      if (!started) {
        broken("the log does not start: " + to_string(started.error()));
        return;
      }
      judge();
      if (!why_.empty()) {
        return;
      }
      write_after_healing();
      if (!why_.empty()) {
        return;
      }
      auto stopped = std::make_shared<std::optional<bool>>();
      ask_to_stop(*test_.log, [stopped](bool is_clean) { *stopped = is_clean; });
      test_.queue.run_until([&] { return stopped->has_value(); }, test_.queue.clock().monotonic_ms() + kPatienceMs);
      if (!stopped->value_or(false)) {
        broken("a stop on a sound disk is not clean");
      }
      is_marked_clean_ = true;
      after_process();
    }
  }

  Random random_;
  TestLog test_;
  const bool tells_;
  std::string why_;
  std::string doing_;
  std::deque<LivesTopic> topics_;
  std::vector<Sent> sent_;
  Millis latest_wall_ms_ = 0;
  Left left_ = Left::all;
  std::set<int> late_topics_;     // made while the log stopped
  bool is_short_life_ = false;    // it ends at once
  bool is_marked_clean_ = false;  // the file that the broker writes after a stop
  FaultWatch faults_{test_.disk, tells_};
  bool faults_stand_ = false;
};

TEST(LivesSim, NoFaultNoStopAndNoDeathBreaksAPromiseOrLeavesAnybodyWithoutAnAnswer) {
  for (const auto seed : sim::seeds(sim::seed_count(60))) {
    Lives lives{seed};
    ASSERT_EQ(lives.go(), "") << "repeat with WEIR_SEED=" << seed;
  }
}

}  // namespace
}  // namespace weir::log
