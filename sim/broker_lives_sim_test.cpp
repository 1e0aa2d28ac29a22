// Lives of the whole broker on one disk: each begins with other configs (mq.log.io among them), has clients that
// produce, read, commit, make, change and delete topics and delete records over the network, and ends by an orderly
// stop, a death or a power cut, also inside a stop or a start. Faults as log/lives_sim_test draws them: every errno at
// every operation, no descriptors, a full disk, for a while or to the end, also through the stop; clocks that jump by
// up to a year. The clean-shutdown file is the broker's own. Judged at each start by LivesJudge, and:
// - Every request is answered or its connection closed, and every stop answered, within a minute.
// - The broker starts once all is well; what clients ask for is then done, unless the disk is not to be trusted.
// - The log is read-only only after something that is a verdict about the disk.
// - The folder is not marked clean after a failed sync of the log, and a sync that failed is not asked for again.
// WEIR_SEED=N repeats a seed and tells its steps, WEIR_SEEDS=N runs more.
#include <gtest/gtest.h>

#include <cstdlib>

#include "log/allow_writes.hpp"
#include "log/manifest.hpp"
#include "log/test_lives_faults.hpp"
#include "sim/seams/seeds.hpp"
#include "sim/test_lives_judge.hpp"
#include "sim/test_lives_traffic.hpp"

namespace weir::sim {
namespace {

using log::DrawnFault;
using log::Left;
using log::pick;

constexpr Millis kPatienceMs = 60'000;
constexpr std::int64_t kVolume = 256 * log::kMiB;
const std::string kMark = "data/clean-shutdown";

class BrokerLives {
 public:
  explicit BrokerLives(std::uint64_t seed)
      : random_(seed * 6271),
        world_(seed, {.config = small_broker_config()}),
        tells_(std::getenv("WEIR_SEED") != nullptr) {
    world_.disk().set_capacity(kVolume);
  }

  [[nodiscard]] const std::map<std::string, int>& counts() const { return known_.counts; }
  // "" or the first promise that was broken.
  std::string go() {
    for (auto lives = 3 + random_.below(4); lives > 0 && is_well(); --lives) {
      begin();
      live();
      end();
    }
    if (is_well()) {
      all_is_well_again();
    }
    return known_.why;
  }

 private:
  [[nodiscard]] bool is_well() const { return known_.why.empty(); }
  void broken(const std::string& why) {
    known_.broken(why + " [" + *world_.config().value("mq.log.io") + ", " + doing_ + "]");
  }
  void tell(const std::string& what) {
    doing_ = what;
    if (tells_) {
      std::printf("%lld: %s\n", static_cast<long long>(now()), what.c_str());
    }
  }
  void happens(const std::string& what, const std::string& more = "") {
    ++known_.counts[what];
    tell(what + more);
  }
  Millis now() { return world_.queue().clock().monotonic_ms(); }
  Millis wall() { return world_.queue().clock().wall_ms(); }
  void note_time() { latest_wall_ms_ = std::max(latest_wall_ms_, wall()); }
  [[nodiscard]] bool goes_on() { return is_well() && !world_.disk().crashed(); }

  // Faults.
  void look_at_faults() {
    if (const auto why = faults_.look(); !why.empty()) {
      broken(why);
    }
  }
  void begin_fault() {
    static const std::array<std::string, 10> kPaths{
        "", "", ".log", ".log", ".index", "manifest", "pool/", "commitlog", "metadata", "data/clean-shutdown"};
    faults_stand_ = true;
    const auto drawn = log::draw_fault(random_, kPaths);
    switch (drawn.kind) {
      case DrawnFault::Kind::errnos:
        tell(log::to_text(drawn.fault));
        world_.disk().fail(drawn.fault);
        break;
      case DrawnFault::Kind::descriptors:
        tell("descriptors left: " + std::to_string(drawn.descriptors_left));
        world_.disk().limit_open_files(world_.disk().open_files() + drawn.descriptors_left);
        break;
      case DrawnFault::Kind::full: fill_disk(); break;
    }
  }
  void fill_disk() {
    faults_stand_ = true;
    const auto room = static_cast<std::int64_t>(random_.chance(2) ? 0 : random_.below(2 * log::kMiB));
    tell("the disk has room for " + std::to_string(room));
    world_.disk().set_capacity(world_.disk().used_bytes() + room);
  }
  void heal() {
    if (faults_stand_) {
      tell("all is well");
    }
    look_at_faults();
    world_.disk().heal();
    world_.disk().limit_open_files(1U << 20U);
    world_.disk().set_capacity(kVolume);
    faults_stand_ = false;
  }
  // Does the manifest say that a sync has failed? If not, a start of the same boot cannot know.
  [[nodiscard]] bool is_noted() {
    const auto copy = world_.disk().clone(1);
    const auto manifest = log::Manifest::open(*copy, "data/manifest", 1);
    return manifest && (*manifest)->state().refuses_writes();
  }
  void judge_read_only() {
    look_at_faults();
    if (world_.running() && is_read_only() && !faults_.has_verdict && !faults_.metadata_met) {
      broken("read-only without a verdict about the disk");
    }
  }
  [[nodiscard]] bool is_read_only() { return world_.broker().services().log.statistics().read_only; }

  // A life begins.
  void draw_config() {
    world_.set_io_loops(1 + random_.below(2));
    world_.config() = small_broker_config({{"mq.log.io", random_.chance(2) ? "direct" : "buffered"},
                                           {"mq.segment.bytes", random_.chance(4) ? "2097152" : "1048576"},
                                           {"mq.image.bytes", random_.chance(2) ? "8388608" : "4194304"},
                                           {"mq.scrub.bytes.per.second", random_.chance(4) ? "4194304" : "0"},
                                           {"log.retention.check.interval.ms", random_.chance(2) ? "1000" : "300000"},
                                           {"auto.create.topics.enable", "false"},
                                           {"offsets.retention.minutes", "2147483647"}});
  }
  void begin() {
    draw_config();
    const bool bad_start = random_.chance(6);
    const auto fullness = random_.below(12);
    if (bad_start) {
      const auto one_in = 5 + random_.below(60);
      tell("the start meets faults, one in " + std::to_string(one_in));
      random_.chance(4) ? world_.disk().limit_open_files(random_.below(8)) : world_.disk().fail({.one_in = one_in});
    } else if (fullness == 0) {
      fill_disk();
    } else if (fullness < 3) {
      world_.disk().crash_at_operation(1 + random_.below(20));
    }
    start(bad_start);
    if (bad_start) {
      heal();
    }
    if (goes_on()) {
      judge();
    }
  }
  void start(bool may_fail) {
    faults_.begin_process();
    happens(world_.disk().exists(kMark) ? "start clean" : "start unclean", ", " + *world_.config().value("mq.log.io"));
    bool started = world_.start_broker();
    look_at_faults();
    if (!started && (may_fail || faults_stand_ || world_.disk().crashed())) {
      happens("it does not start", ": " + world_.why());
      heal();
      crash();
      faults_.begin_process();
      tell("start again");
      started = world_.start_broker();
    }
    if (!started) {
      broken("the broker does not start: " + world_.why());
    }
  }
  void judge() {
    note_time();
    LivesJudge{world_, known_, left_, latest_wall_ms_}.go();
    note_time();
    if (!is_well() && world_.disk().crashed()) {  // it was to die, and did
      known_.why.clear();
      return;
    }
    if (!is_well()) {
      known_.why += " [" + *world_.config().value("mq.log.io") + ", at the start]";
      return;
    }
    left_ = Left::all;
    judge_read_only();
    world_.network().set_faults(network_);
  }

  // What happens in a life.
  void jump_clock() {
    constexpr std::array kJumps{log::kHour, log::kDay, 8 * log::kDay, 365 * log::kDay};
    const auto by = pick(random_, kJumps) * (random_.chance(2) ? -1 : 1);
    tell("the clock jumps by " + std::to_string(by));
    world_.queue().clock().skew_wall(by);
    note_time();
    traffic_.clock_jumped();
    for (auto& topic : known_.topics) {
      for (auto& part : topic.parts) {
        for (auto& [value, facts] : part.facts) {  // the newest append of a run bounds its time
          facts.append_ms = std::min(facts.append_ms, wall());
        }
      }
    }
  }
  void hear() {
    note_time();
    look_at_faults();
    if (const auto why = traffic_.forgotten(); !why.empty()) {
      broken(why);
    }
  }
  void let_run(std::uint64_t turns) {
    for (; turns > 0 && world_.queue().ready() > 0; --turns) {
      world_.queue().step();
    }
    hear();
  }
  void live() {
    const auto steps = 30 + random_.below(120);
    const bool has_fault = random_.chance(2);
    const auto fault_from = random_.below(steps);
    const auto fault_to = fault_from + random_.below(steps);
    if (goes_on() && random_.chance(5)) {
      world_.disk().crash_at_operation(1 + random_.below(200));
    }
    for (std::uint64_t step = 0; step < steps && goes_on(); ++step) {
      if (has_fault && step == fault_from) {
        begin_fault();
      }
      if (has_fault && step == fault_to) {
        heal();
      }
      const auto choice = random_.below(120);
      if (choice == 0) {
        jump_clock();
      } else if (choice < 6) {
        world_.queue().run_for(static_cast<Millis>(random_.below(3'000)));
      } else {
        traffic_.one_step();
      }
      let_run(random_.below(40));
    }
  }

  // How it ends.
  void be_patient() {
    if (random_.chance(2)) {
      heal();
    }
    tell(faults_stand_ ? "wait for answers while faults stand" : "wait for answers");
    world_.run_until([&] { return traffic_.unanswered() == 0; }, kPatienceMs + 1);
    hear();
    if (goes_on()) {
      judge_read_only();
    }
    if (goes_on() && !faults_stand_) {
      ask_after_healing();
    }
  }
  // Everything is done again by itself, unless the disk is not to be trusted.
  void ask_after_healing() {
    world_.network().set_faults({});
    world_.queue().run_for(5'000);
    hear();
    if (!goes_on()) {
      return;
    }
    if (!faults_.metadata_met && !create_topic(world_, {"probe", 1})) {
      if (goes_on()) {
        broken("no topic can be made though all is well");
      }
      return;
    }
    if (const auto code = goes_on() && !is_read_only() ? probe() : std::int16_t{0}; code != 0 && goes_on()) {
      broken("a producer hears " + std::to_string(code) + " though all is well");
    }
    if (goes_on()) {
      judge_read_only();
    }
  }
  // The error of a record with acks=all; -1: no answer.
  std::int16_t probe() {
    const auto topic = traffic_.some_topic();
    const auto connection = world_.connect();
    if (!topic || !connection) {
      return topic && goes_on() ? std::int16_t{-1} : std::int16_t{0};
    }
    const auto part = traffic_.some_part(*topic);
    auto& of = known_.part(*topic, part);
    const auto value = known_.part_name(*topic, part) + "/probe:" + std::to_string(of.next_value++) + ":";
    of.facts[value] = {wall(), wall(), std::ssize(value) + 100};
    protocol::RecordBatchBuilder builder{{}};
    builder.append({.value = as_bytes(value), .timestamp = wall()});
    protocol::ProduceRequest request{.acks = -1, .timeout_ms = 30'000};
    auto& asked = request.topic_data.emplace_back();
    asked.topic_id = known_.topics[*topic].id;
    asked.partition_data.push_back(
        {.index = part, .records = BufferChain{SharedBytes::adopt(std::move(*builder.build()))}});
    const auto answer = world_.call<protocol::ProduceRequest, protocol::ProduceResponse>(**connection, request);
    (*connection)->close();
    if (!answer) {
      return -1;
    }
    const auto& said = answer->response.responses.at(0).partition_responses.at(0);
    if (said.error_code == 0) {
      known_.learn(*topic, part, said.base_offset, value);
      of.answered[said.base_offset] = value;
    }
    return said.error_code;
  }
  void end() {
    if (!is_well()) {
      return;
    }
    if (goes_on() && random_.chance(2)) {
      be_patient();
    }
    if (goes_on() && !random_.chance(3)) {
      stop();
    } else if (is_well()) {
      crash();
    }
    if (is_well()) {
      heal();
      allow_writes_or_not();
    }
  }
  void stop() {
    if (random_.chance(2)) {
      traffic_.burst();
      let_run(random_.below(60));
    }
    if (random_.chance(6)) {
      begin_fault();
    }
    if (!goes_on()) {
      return is_well() ? crash() : void();
    }
    tell("stop");
    const auto stopped = world_.begin_stop();
    let_run(random_.below(8));
    if (random_.chance(2)) {
      traffic_.burst();
    }
    if (random_.chance(8)) {
      let_run(random_.below(100));
      happens("a death inside the stop");
      crash();
      return;
    }
    if (random_.chance(8)) {
      world_.disk().crash_at_operation(1 + random_.below(12));
    }
    world_.run_until([&] { return *stopped; }, kPatienceMs);
    if (world_.disk().crashed()) {
      crash();
      return;
    }
    if (!*stopped) {
      broken("a stop is not answered within a minute");
      return;
    }
    has_stopped();
  }
  void has_stopped() {
    world_.queue().run_for(100);  // what is on its way arrives
    hear();
    if (traffic_.unanswered() > 0) {
      broken("the broker has stopped, and a request is neither answered nor its connection closed");
      return;
    }
    const bool is_clean = world_.disk().exists(kMark);
    happens(is_clean ? "stopped clean" : "stopped, not clean");
    if (is_clean && faults_.log_sync_failed) {
      broken("marked clean after a failed sync of the log");
      return;
    }
    left_ = faults_.log_sync_failed ? Left::promised : Left::all;
    traffic_.process_ended();
    world_.end_process();
    if (random_.chance(3) || (faults_.has_failed_sync && !is_noted())) {
      happens("the power fails after the stop");
      left_ = is_clean ? left_ : Left::promised;
      world_.crash(CrashMode::power_cut);
    } else {
      world_.disk().crash(random_.next(), CrashMode::process_death);  // nothing is armed any more
    }
  }
  void crash() {
    hear();
    const bool is_power_cut = random_.chance(2) || (faults_.has_failed_sync && !is_noted());
    happens(is_power_cut ? "power cut" : "the process dies");
    left_ = is_power_cut || faults_.log_sync_failed ? Left::promised : left_;
    traffic_.process_ended();
    world_.crash(is_power_cut ? CrashMode::power_cut : CrashMode::process_death);
  }
  void allow_writes_or_not() {
    if (!random_.chance(4)) {
      if (const auto cause = log::allow_writes(world_.disk(), "data"); cause && *cause != 0) {
        happens("writes are allowed again");
      }
      faults_.has_verdict = false;
    }
  }
  // The last lives of all: everything can be done, and a clean stop ends them.
  void all_is_well_again() {
    world_.disk().crash(1, CrashMode::process_death);  // nothing is armed any more
    static_cast<void>(log::allow_writes(world_.disk(), "data"));
    faults_.has_verdict = false;
    for (int life = 0; life < 2 && is_well(); ++life) {
      start(false);
      if (is_well()) {
        judge();
      }
      if (is_well()) {
        ask_after_healing();
      }
      if (is_well() && !world_.stop_broker()) {
        broken("a stop on a sound disk is not answered within a minute");
      }
      if (is_well() && !world_.disk().exists(kMark)) {
        broken("a stop on a sound disk is not clean");
      }
      traffic_.process_ended();
    }
  }

  Random random_;
  World world_;
  const bool tells_;
  Known known_;
  std::string doing_;
  Millis latest_wall_ms_ = 0;
  Left left_ = Left::all;
  bool faults_stand_ = false;
  NetworkFaults network_{.delay_ms_max = static_cast<Millis>(random_.below(6)),
                         .partial_reads = random_.chance(2),
                         .reset_one_in = random_.chance(2) ? 400U : 0U};
  log::FaultWatch faults_{world_.disk(), tells_};
  LivesTraffic traffic_{world_, known_, random_, [this](const std::string& what) { tell(what); }};
};

TEST(BrokerLivesSim, NoFaultNoStopAndNoDeathBreaksAPromiseOrLeavesAnybodyWithoutAnAnswer) {
  const auto all = seeds(seed_count(30));
  std::map<std::string, int> counts;
  for (const auto seed : all) {
    BrokerLives lives{seed};
    ASSERT_EQ(lives.go(), "") << "repeat with WEIR_SEED=" << seed;
    for (const auto& [what, times] : lives.counts()) {
      counts[what] += times;
    }
  }
  for (const auto& [what, times] : counts) {
    std::printf("%s: %d\n", what.c_str(), times);
  }
  if (all.size() >= 30) {
    const auto count = static_cast<int>(all.size());
    for (const auto* what : {"start clean", "start unclean", "stopped clean", "power cut", "the process dies"}) {
      EXPECT_GT(counts[what], count) << what;
    }
    for (const auto* what : {"stopped, not clean", "a death inside the stop", "the power fails after the stop"}) {
      EXPECT_GT(counts[what], count / 10) << what;
    }
    EXPECT_GT(counts["batches answered"], 10 * count);
    EXPECT_GT(counts["commits answered"], 5 * count);
  }
}

}  // namespace
}  // namespace weir::sim
