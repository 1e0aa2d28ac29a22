// Memory topics on real threads: appenders that run out of offsets and of memory, readers, topics that come and go. Run
// it under tsan.
#include <gtest/gtest.h>

#include <condition_variable>
#include <set>
#include <thread>

#include "base/logging.hpp"
#include "base/real_runtime.hpp"
#include "base/temporary_folder.hpp"
#include "log/commit_log.hpp"
#include "log/test_batch.hpp"

namespace weir::log {
namespace {

class Nobody final : public VisibilityObserver {
 public:
  void advanced(std::span<const std::shared_ptr<Partition>> partitions) override { count += partitions.size(); }
  std::atomic<std::size_t> count{0};
};

class Given {
 public:
  void take(std::size_t partition, const AppendOutcome& outcome) {
    const std::scoped_lock lock(mutex_);
    EXPECT_FALSE(outcome.error);
    EXPECT_TRUE(given_.emplace(partition, outcome.base_offset.value).second) << "an offset was given twice";
    came_.notify_all();
  }
  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return given_.size() >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::set<std::pair<std::size_t, std::int64_t>> given_;
};

PartitionKey key_of(std::size_t number) {
  Uuid id;
  id.bytes[0] = std::byte{9};
  id.bytes[15] = static_cast<std::byte>(number);
  return {id, 0};
}

Append request_of(const std::shared_ptr<Partition>& partition, std::size_t size, Executor& on,
                  UniqueFunction<void(const AppendOutcome&)> done) {
  Append append;
  append.partition = partition;
  append.batch = make_valid_batch({.values = {std::string(size, 'x'), "second"}});
  append.reply_on = &on;
  append.done = std::move(done);
  return append;
}

// From `from` on as far as batches are there; they may be dropped meanwhile.
Offset read_on(const CommitLog& log, const Partition& partition, Offset from) {
  const auto bound = partition.high_watermark();
  const auto outcome = log.read(partition, from, {64 << 10, true, bound}, ReadFrom::memory_only);
  if (!outcome) {
    EXPECT_EQ(outcome.error().code, Errc::out_of_range);
    return partition.log_start();
  }
  const auto bytes = outcome->batches.flatten();
  protocol::BatchChain chain{bytes};
  while (const auto batch = chain.next()) {
    if (!*batch) {
      break;
    }
    EXPECT_EQ((*batch)->base_offset(), from.value) << "no gap";
    EXPECT_TRUE((*batch)->crc_ok());
    from = Offset{(*batch)->last_offset() + 1};
  }
  return from;
}

TEST(MemoryTopicsThreads, EveryAppendIsAnsweredWithAnOffsetOfItsOwnAndMemoryStaysWithinItsBudget) {
  constexpr std::size_t kPartitions = 3;
  constexpr std::size_t kAppenders = 3;
  constexpr std::size_t kEach = 2000;
  const LogCapture lines;
  TemporaryFolder folder;
  RealRuntime real{2};
  auto runtime = real.runtime();
  Nobody observer;
  CommitLogOptions options;
  options.folder = folder.path();
  options.segment_bytes = 1 << 20;
  options.memory_bytes = 100'000;
  options.memory_offsets_block = 64;
  Given answers;  // outlives the log
  auto opened = CommitLog::open(options, runtime, {}, observer);
  ASSERT_TRUE(opened) << to_string(opened.error());
  auto& log = **opened;
  std::vector<std::shared_ptr<Partition>> partitions;
  for (std::size_t i = 0; i < kPartitions; ++i) {
    partitions.push_back(log.create(key_of(i), {.retention_ms = -1, .memory = true}, LeaderEpoch{0}));
  }
  std::atomic<bool> reading{true};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kAppenders; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kEach; ++i) {
        const auto number = (t + i) % kPartitions;
        log.append(request_of(partitions[number], i % 20 == 0 ? 9'000 : 700, *runtime.io[t % runtime.io.size()],
                              [&, number](const AppendOutcome& outcome) { answers.take(number, outcome); }));
      }
    });
  }
  threads.emplace_back([&] {
    std::array<Offset, kPartitions> at{};
    for (std::size_t i = 0; reading.load(); ++i) {
      const auto number = i % kPartitions;
      at[number] = read_on(log, *partitions[number], at[number]);
      static_cast<void>(log.find_max_timestamp(*partitions[number], partitions[number]->high_watermark()));
      EXPECT_LE(log.statistics().memory_topic_bytes_used, options.memory_bytes + 10'000 * 4);
    }
  });
  threads.emplace_back([&] {
    for (std::size_t i = 0; i < 30; ++i) {
      const auto passing = log.create(key_of(100 + i), {.memory = true}, LeaderEpoch{0});
      log.append(request_of(passing, 100, *runtime.io[0], [](const AppendOutcome&) {}));
      log.run_retention([] {});
      log.remove(passing->key());
    }
  });
  answers.wait_for(kAppenders * kEach);
  reading.store(false);
  for (auto& thread : threads) {
    thread.join();
  }
  std::int64_t given = 0;
  for (const auto& partition : partitions) {
    given += partition->log_end().value;
    EXPECT_EQ(partition->high_watermark(), partition->log_end());
  }
  EXPECT_EQ(given, static_cast<std::int64_t>(2 * kAppenders * kEach));
  EXPECT_LE(log.statistics().memory_topic_bytes_used, options.memory_bytes);
  std::atomic<bool> stopped{false};
  log.stop([&](auto) {
    stopped.store(true);
    stopped.notify_all();
  });
  stopped.wait(false);
  opened->reset();
  real.stop();
}

}  // namespace
}  // namespace weir::log
