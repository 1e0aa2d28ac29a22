// A CommitLog on a simulated machine, for the tests of this folder: one queue, one seed, a disk that forgets.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "log/commit_log.hpp"
#include "log/test_batch.hpp"
#include "protocol/record_batch.hpp"
#include "sim/seams/sim_runtime.hpp"

namespace weir::log {

inline Uuid topic_number(int number) {
  Uuid id;
  id.bytes[15] = static_cast<std::byte>(number & 0xff);
  id.bytes[14] = static_cast<std::byte>(number >> 8);
  id.bytes[0] = std::byte{1};
  return id;
}

class SeenAdvances final : public VisibilityObserver {
 public:
  void advanced(std::span<const std::shared_ptr<Partition>> partitions) override {
    for (const auto& partition : partitions) {
      seen.push_back({partition->key(), partition->high_watermark()});
    }
  }
  std::vector<std::pair<PartitionKey, Offset>> seen;
};

using Reply = std::shared_ptr<std::optional<AppendOutcome>>;

class TestLog {
 public:
  explicit TestLog(std::uint64_t seed) : queue(seed), disk(seed + 1), network(queue, seed + 2), seed_(seed) {
    options.folder = "data";
    options.segment_bytes = 1 << 20;
    options.image_bytes = 4 << 20;
    options.retention_check_ms = 0;
    options.boot_id = topic_number(4242);
    WEIR_CHECK(disk.make_directories("data").has_value());
    WEIR_CHECK(disk.sync_directory(".").has_value());
  }
  ~TestLog() { kill(); }

  // A new process on the same disk; clean: it has what the last stop told.
  Result<void> start(bool clean = false) {
    ++seed_;
    process = std::make_unique<sim::SimRuntime>(queue, on != nullptr ? *on : disk, network, seed_);
    runtime.emplace(process->runtime());
    options.clean_end = clean ? clean_end : std::nullopt;
    clean_end.reset();
    observer = std::make_unique<SeenAdvances>();
    auto opened = CommitLog::open(options, *runtime, known, *observer);
    if (!opened) {
      kill();
      return opened.error();
    }
    log = std::move(*opened);
    return {};
  }
  // kill -9: nothing of the process runs any more.
  void kill() {
    if (process) {
      process->kill();
    }
    log.reset();
    runtime.reset();
    process.reset();
  }
  void crash(sim::CrashMode mode) {
    kill();
    disk.crash(++seed_, mode);
    if (mode == sim::CrashMode::power_cut) {
      options.boot_id = topic_number(static_cast<int>(++seed_ & 0x7fff));
    }
  }
  // True if the log said that it has stopped. What it told about a clean end is for start(true).
  bool stop() {
    bool stopped = false;
    log->stop([&](std::optional<LogPosition> end) {
      stopped = true;
      clean_end = end;
    });
    queue.run_until_idle();
    kill();
    return stopped;
  }

  std::shared_ptr<Partition> create(int topic, std::int32_t index, PartitionRules rules = {}) {
    const PartitionKey key{topic_number(topic), index};
    known.push_back({key, rules, LeaderEpoch{0}});
    return log->create(key, rules, LeaderEpoch{0});
  }
  std::shared_ptr<Partition> find(int topic, std::int32_t index) const {
    return log->find({topic_number(topic), index});
  }

  Append request(std::shared_ptr<Partition> partition, const TestBatch& batch, Acks acks, Reply reply) {
    return request(std::move(partition), make_valid_batch(batch), acks, std::move(reply));
  }
  Append request(std::shared_ptr<Partition> partition, protocol::ValidBatch batch, Acks acks, Reply reply) {
    Append append;
    append.partition = std::move(partition);
    append.batch = std::move(batch);
    append.acks = acks;
    append.reply_on = acks == Acks::none ? nullptr : runtime->io.front();
    append.done = [reply](const AppendOutcome& outcome) { *reply = outcome; };
    return append;
  }
  Reply append(std::shared_ptr<Partition> partition, const TestBatch& batch, Acks acks = Acks::all) {
    auto reply = std::make_shared<std::optional<AppendOutcome>>();
    log->append(request(std::move(partition), batch, acks, reply));
    return reply;
  }
  AppendOutcome append_now(const std::shared_ptr<Partition>& partition, const TestBatch& batch, Acks acks = Acks::all) {
    auto reply = append(partition, batch, acks);
    queue.run_until_idle();
    WEIR_CHECK(reply->has_value());
    return **reply;
  }

  struct Record {
    Offset offset;
    std::string value;
    friend bool operator==(const Record&, const Record&) = default;
  };
  // All records from `from` to the high watermark; nullopt if a read fails.
  Result<std::vector<Record>> read_all(const Partition& partition, std::optional<Offset> from = std::nullopt,
                                       ReadFrom mode = ReadFrom::may_block, std::size_t bytes_max = 64 << 10) const;

  sim::EventQueue queue;
  sim::SimDisk disk;
  Disk* on = nullptr;  // where the log lies, if not on `disk`
  sim::SimNetwork network;
  CommitLogOptions options;
  std::vector<KnownPartition> known;
  std::optional<LogPosition> clean_end;
  std::unique_ptr<sim::SimRuntime> process;
  std::optional<Runtime> runtime;
  std::unique_ptr<SeenAdvances> observer;
  std::unique_ptr<CommitLog> log;

 private:
  std::uint64_t seed_;
};

}  // namespace weir::log
