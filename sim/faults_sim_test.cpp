// The whole broker on a bad disk and under a jumping clock: failing reads, writes and syncs, a disk that is full for a
// while, one that is slow, and a crash at every single operation of a short life. A failing seed is repeated with
// WEIR_SEED=N; WEIR_SEEDS=N runs more of them.
//
// Which check holds which rule of the log:
// - Order, no duplicate, no offset given to other records: Oracle::judge at every start, with what readers saw.
// - The synced position is a prefix across segments: log/power_cut_test (cuts at any event, gaps; segments of 1 MiB).
// - A cut tail never comes back: Oracle::seen, after each start what is there stays as it is.
// - After a failed write or sync nothing is acknowledged: after_failure(), error 56, the count stands, reads go on.
// - A topic that was answered stays, whatever a failed sync of the metadata has left in the page cache: judge().
// - A full disk loses nothing and passes: after_failure() for `full`, error 0 when there is room.
#include <gtest/gtest.h>

#include <cerrno>

#include "log/allow_writes.hpp"
#include "protocol/gen/produce.hpp"
#include "protocol/record.hpp"
#include "sim/seams/seeds.hpp"
#include "sim/sim_producer.hpp"

namespace weir::sim {
namespace {

constexpr std::int16_t kStorageError = 56;
constexpr std::int64_t kVolume = 64LL << 20;
const SimTopic kTopic{"orders", 3};
const SimTopic kProbe{"probe", 1};

enum class Fault : std::uint8_t { none, write_fails, sync_fails, read_fails, full, slow, clock, metadata_sync_fails };
constexpr std::uint64_t kFaults = 8;

std::string_view to_string(Fault fault) {
  constexpr std::array<std::string_view, kFaults> kNames{"none", "write", "sync",  "read",
                                                         "full", "slow",  "clock", "metadata"};
  return kNames[static_cast<std::size_t>(fault)];
}

// One record with acks=all to the probe topic; the error code, or nothing when no answer came.
std::optional<std::int16_t> probe(World& world) {
  const auto connection = world.connect();
  if (!connection) {
    return std::nullopt;
  }
  protocol::RecordBatchBuilder builder{{}};
  builder.append({.value = as_bytes(std::string_view{"probe"}), .timestamp = world.queue().clock().wall_ms()});
  protocol::ProduceRequest request;
  request.acks = -1;
  request.timeout_ms = 30'000;
  auto& topic = request.topic_data.emplace_back();
  topic.name = kProbe.name;
  topic.partition_data.push_back({.index = 0, .records = BufferChain{SharedBytes::adopt(std::move(*builder.build()))}});
  auto code = std::make_shared<std::optional<std::int16_t>>();
  auto ended = std::make_shared<bool>(false);
  (*connection)
      ->call_version<protocol::ProduceRequest, protocol::ProduceResponse>(
          request, 12, [code, ended](const Result<client::Answered<protocol::ProduceResponse>>& answer) {
            *ended = true;
            if (answer) {
              *code = answer->response.responses.front().partition_responses.front().error_code;
            }
          });
  world.run_until([&] { return *ended; }, World::kPatienceMs);
  (*connection)->close();
  return *code;
}

std::map<Fault, int> faults_that_fired;

class Lives {
 public:
  explicit Lives(std::uint64_t seed) : world_(seed, options_of(seed)) {
    for (std::int32_t i = 0; i < 3; ++i) {
      producers_.push_back(std::make_unique<SimProducer>(
          world_, oracle_, kTopic,
          SimProducer::Options{.number = i, .idempotent = i != 2, .window = i != 2 ? 3U : 1U}));
    }  // without idempotence a refused batch would let the next one pass it
    world_.disk().set_capacity(kVolume);
  }

  // "" or the first promise that was broken.
  std::string go(std::size_t rounds) {
    for (std::size_t round = 0; round <= rounds; ++round) {
      world_.config().mq_log_io = world_.random().chance(2) ? "direct" : "buffered";
      if (!world_.start_broker()) {
        return "the broker does not start: " + world_.why();
      }
      if (!create_topic(world_, kTopic, {{"retention.ms", "-1"}}) || !create_topic(world_, kProbe)) {
        return "no topic";
      }
      if (auto why = judge(); !why.empty() || round == rounds) {
        return why;
      }
      const auto fault = static_cast<Fault>(world_.random().below(kFaults));
      if (fault == Fault::read_fails) {
        arm(fault);
        auto why = judge_reads();
        world_.disk().set_fault_hook({});
        if (!why.empty()) {
          return why;
        }
      }
      auto why = one_life(fault);
      world_.disk().set_fault_hook({});
      world_.disk().set_capacity(kVolume);
      if (!why.empty()) {
        return std::string{to_string(fault)} + ": " + why;
      }
      // A process that dies between a failed sync and the note of it leaves a page cache that nobody doubts
      // (docs/DURABILITY.md, "What cannot be told apart").
      const bool is_noted = !log_has_failed(fault) || !world_.disk().crashed();
      world_.crash(is_noted && world_.random().chance(2) ? CrashMode::process_death : CrashMode::power_cut);
      static_cast<void>(log::allow_writes(world_.disk(), "data"));  // the operator trusts the disk again
    }
    return "";
  }

 private:
  static WorldOptions options_of(std::uint64_t seed) {
    WorldOptions options{.config = small_broker_config()};
    options.io_loops = 1 + seed % 2;
    return options;
  }

  std::string judge() {
    for (const auto& topic : made_) {
      if (std::string why; !read_all(world_, topic, 0, why)) {
        return "topic " + topic.name + " was answered or seen: " + why;
      }
    }
    if (std::string why; read_all(world_, next_made(), 0, why)) {
      made_.push_back(next_made());  // its answer did not come, but it is seen now
    }
    for (std::int32_t p = 0; p < kTopic.partitions; ++p) {
      std::string why;
      const auto records = read_all(world_, kTopic, p, why);
      if (!records) {
        return why;
      }
      if (auto verdict = oracle_.judge(p, *records, false); !verdict.empty()) {
        return verdict;
      }
      for (const auto& record : *records) {
        oracle_.seen(p, record);
      }
    }
    return "";
  }

  // With reads that fail: whatever is given out must be right all the same.
  std::string judge_reads() {
    for (std::int32_t p = 0; p < kTopic.partitions; ++p) {
      std::string why;
      if (const auto records = read_all(world_, kTopic, p, why)) {
        if (auto verdict = oracle_.judge(p, *records, false); !verdict.empty()) {
          return verdict;
        }
      }
    }
    return "";
  }

  // A name that was refused is asked for again.
  [[nodiscard]] SimTopic next_made() const { return {"made-" + std::to_string(made_.size()), 1}; }

  void arm(Fault fault) {
    fired_ = false;
    // There are few reads: most is served from memory.
    auto wait = std::make_shared<std::uint64_t>(1 + world_.random().below(fault == Fault::read_fails ? 3 : 20));
    const auto is_hit = [fault](DiskOperation operation, const std::string& path) {
      const bool is_log = path.find("commitlog/") != std::string::npos || path.ends_with("/manifest");
      switch (fault) {
        case Fault::write_fails: return is_log && operation == DiskOperation::write;
        case Fault::sync_fails: return is_log && operation == DiskOperation::sync;
        case Fault::read_fails: return is_log && (operation == DiskOperation::read || operation == DiskOperation::map);
        case Fault::metadata_sync_fails:
          return path.find("metadata/") != std::string::npos && operation == DiskOperation::sync;
        case Fault::slow: return operation == DiskOperation::write || operation == DiskOperation::sync;
        case Fault::none:
        case Fault::full:
        case Fault::clock: return false;
      }
      return false;
    };
    world_.disk().set_fault_hook(
        [this, wait, is_hit, fault](DiskOperation operation, const std::string& path) -> std::optional<Error> {
          if (!is_hit(operation, path) || (*wait > 0 && --*wait > 0)) {
            return std::nullopt;
          }
          fired_ = true;
          ++faults_that_fired[fault];
          if (fault == Fault::slow) {
            world_.process().stall_disk(static_cast<Millis>(world_.random().below(2'000)));
            *wait = 1 + world_.random().below(8);
            return std::nullopt;
          }
          return Error{Errc::disk_failed, EIO};
        });
  }

  void disturb(Fault fault) {
    if (fault == Fault::full && world_.random().chance(8)) {
      ++faults_that_fired[fault];
      const auto room = static_cast<std::int64_t>(world_.random().below(3'000'000));
      world_.disk().set_capacity(world_.random().chance(3) ? kVolume
                                                           : std::min(kVolume, world_.disk().used_bytes() + room));
    }
    if (fault == Fault::metadata_sync_fails && world_.random().chance(8) && create_topic(world_, next_made())) {
      made_.push_back(next_made());
    }
    if (fault == Fault::clock && world_.random().chance(8)) {
      ++faults_that_fired[fault];
      constexpr Millis kHour = 3'600'000;
      const auto hours = static_cast<Millis>(world_.random().below(24));
      world_.queue().clock().skew_wall(world_.random().chance(2) ? kHour * hours / 12 : -kHour * hours);
    }
  }

  std::string one_life(Fault fault) {
    if (world_.random().chance(3)) {
      world_.disk().crash_at_operation(1 + world_.random().below(120));
    }
    for (auto& producer : producers_) {
      producer->connect();
    }
    arm(fault);
    const auto work = 10 + world_.random().below(50);
    for (std::uint64_t i = 0; i < work && !world_.disk().crashed(); ++i) {
      disturb(fault);
      auto& producer = producers_[world_.random().below(producers_.size())];
      if (producer->broken() && (log_has_failed(fault) || !producer->connect())) {
        continue;
      }
      producer->produce_one();
      for (auto steps = world_.random().below(60); steps > 0; --steps) {
        world_.queue().step();
      }
    }
    return world_.disk().crashed() ? "" : after_failure(fault);
  }

  [[nodiscard]] bool log_has_failed(Fault fault) const {
    return fired_ && (fault == Fault::write_fails || fault == Fault::sync_fails);
  }

  std::string after_failure(Fault fault) {
    if (log_has_failed(fault)) {
      world_.queue().run_for(5'000);  // what was answered before has arrived by now
      const auto acknowledged = oracle_.acknowledged_count();
      if (const auto code = probe(world_); code != kStorageError && !world_.disk().crashed()) {
        return "after the failure a producer heard " + (code ? std::to_string(*code) : "nothing");
      }
      world_.queue().run_for(5'000);
      if (oracle_.acknowledged_count() != acknowledged) {
        return "acknowledged after the failure";
      }
    }
    world_.disk().set_fault_hook({});
    if (fault == Fault::full || fault == Fault::slow) {
      world_.disk().set_capacity(kVolume);
      world_.queue().run_for(30'000);
      if (const auto code = probe(world_); code != 0 && !world_.disk().crashed()) {
        return "a producer heard " + (code ? std::to_string(*code) : "nothing") + " though all is well again";
      }
    }
    auto why = judge();  // reads go on
    return world_.disk().crashed() ? "" : why;
  }

  Oracle oracle_;
  World world_;
  std::vector<std::unique_ptr<SimProducer>> producers_;
  std::vector<SimTopic> made_;  // that were answered or seen
  bool fired_ = false;
};

TEST(FaultsSim, NoDiskFaultNoFullDiskAndNoClockJumpBreaksAPromise) {
  for (const auto seed : seeds(seed_count(250))) {
    Lives run{seed};
    ASSERT_EQ(run.go(3), "") << "repeat with WEIR_SEED=" << seed;
  }
  for (const auto& [fault, times] : faults_that_fired) {
    std::printf("%s: %d\n", std::string{to_string(fault)}.c_str(), times);
  }
}

// A short life, told step by step; "" when it came to its end before the armed crash, else where it ended.
std::string short_life(World& world, SimProducer& producer) {
  if (!world.start_broker()) {
    return "start: " + world.why();
  }
  if (!create_topic(world, kTopic)) {
    return "topic";
  }
  for (int tries = 0; !producer.connect(); ++tries) {
    if (tries == 10 || world.disk().crashed()) {
      return "connection of the producer";
    }
  }
  for (int i = 0; i < 4; ++i) {
    producer.produce_one();
    for (int tries = 0; tries < 100 && !producer.idle(); ++tries) {
      if (producer.broken() && !producer.connect()) {
        return "connection";
      }
      world.run_until([&] { return producer.idle() || producer.broken(); }, 5'000);
    }
  }
  if (!producer.idle()) {
    return "no answer";
  }
  if (!world.stop_broker()) {
    return "stop";
  }
  return world.start_broker() ? "" : "second start: " + world.why();
}

TEST(FaultsSim, ACrashAtAnyOperationOfAShortLifeLosesNothingAnswered) {
  for (const auto& [io, mode] :
       std::initializer_list<std::pair<const char*, CrashMode>>{{"buffered", CrashMode::process_death},
                                                                {"buffered", CrashMode::power_cut},
                                                                {"direct", CrashMode::power_cut}}) {
    bool came_to_its_end = false;
    std::uint64_t number = 0;
    while (!came_to_its_end) {
      ++number;
      ASSERT_LT(number, 2'000U);
      WorldOptions options{.config = small_broker_config()};
      options.config.mq_log_io = io;
      World world{number, std::move(options)};
      Oracle oracle;
      SimProducer producer{world, oracle, kTopic, {.number = 0, .idempotent = true}};
      world.disk().crash_at_operation(number);
      const auto ended = short_life(world, producer);
      came_to_its_end = ended.empty();
      ASSERT_TRUE(came_to_its_end || world.disk().crashed()) << io << " operation " << number << ": " << ended;
      world.crash(mode);
      ASSERT_TRUE(world.start_broker()) << io << " operation " << number << ": " << world.why();
      ASSERT_TRUE(create_topic(world, kTopic));
      for (std::int32_t p = 0; p < kTopic.partitions; ++p) {
        std::string why;
        const auto records = read_all(world, kTopic, p, why);
        ASSERT_TRUE(records) << why << ", " << io << " operation " << number;
        ASSERT_EQ(oracle.judge(p, *records, true), "") << io << " operation " << number;
      }
    }
    std::printf("%s: %llu crash points\n", io, static_cast<unsigned long long>(number - 1));
  }
}

}  // namespace
}  // namespace weir::sim
