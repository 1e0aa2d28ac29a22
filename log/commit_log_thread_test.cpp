// The log on real threads and real files: many appenders, readers, rolls and removals at once. Run it under tsan.
#include <gtest/gtest.h>

#include <condition_variable>
#include <thread>

#include "base/real_runtime.hpp"
#include "base/temporary_folder.hpp"
#include "log/commit_log.hpp"
#include "log/test_batch.hpp"

namespace weir::log {
namespace {

class CountsAdvances final : public VisibilityObserver {
 public:
  void advanced(std::span<const std::shared_ptr<Partition>> partitions) override {
    count.fetch_add(partitions.size(), std::memory_order_relaxed);
  }
  std::atomic<std::size_t> count{0};
};

// Counts down from several threads; wait() returns at zero.
class Latch {
 public:
  explicit Latch(std::size_t count) : left_(count) {}
  void count_down() {
    const std::scoped_lock lock(mutex_);
    if (--left_ == 0) {
      zero_.notify_all();
    }
  }
  void wait() {
    std::unique_lock lock(mutex_);
    zero_.wait(lock, [&] { return left_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable zero_;
  std::size_t left_;
};

PartitionKey key_of(int number) {
  Uuid id;
  id.bytes[0] = std::byte{7};
  id.bytes[15] = static_cast<std::byte>(number);
  return {id, 0};
}

Append request_of(const std::shared_ptr<Partition>& partition, std::size_t size, Acks acks, Executor& on,
                  std::function<void(const AppendOutcome&)> done) {
  Append append;
  append.partition = partition;
  append.batch = make_valid_batch({.values = {std::string(size, 'x'), "second"}});
  append.acks = acks;
  append.reply_on = &on;
  append.done = [done = std::move(done)](const AppendOutcome& outcome) { done(outcome); };
  return append;
}

// All that is visible, checked for order and checksum; from files too when sendfile could not serve them.
std::int64_t read_visible(const CommitLog& log, const Partition& partition, Offset from) {
  const auto bound = partition.high_watermark();
  auto at = std::max(from, partition.log_start());
  while (at < bound) {
    const auto outcome = log.read(partition, at, {64 << 10, true, bound}, ReadFrom::may_block);
    if (!outcome || outcome->batches.empty()) {
      ADD_FAILURE() << "no batch at " << at.value << " below " << bound.value;
      return -1;
    }
    const auto bytes = outcome->batches.flatten();
    protocol::BatchChain chain{bytes};
    for (;;) {
      const auto batch = chain.next();
      if (!batch || !*batch) {
        break;
      }
      EXPECT_LE((*batch)->base_offset(), std::max(at.value, (*batch)->base_offset()));
      EXPECT_TRUE((*batch)->crc_ok());
      at = Offset{(*batch)->last_offset() + 1};
    }
  }
  return at.value;
}

class CommitLogThreads : public testing::TestWithParam<IoMode> {};

TEST_P(CommitLogThreads, AppendersReadersRollsAndRemovalsAtOnceKeepEveryAcknowledgedRecord) {
  constexpr int kPartitions = 4;
  constexpr int kAppenders = 3;
  constexpr int kEach = 1500;
  TemporaryFolder folder;
  RealRuntime real{2};
  auto runtime = real.runtime();
  CountsAdvances observer;
  CommitLogOptions options;
  options.folder = folder.path();
  options.io = GetParam();
  options.zero_ahead_ms = 1;
  options.segment_bytes = 1 << 20;
  options.image_bytes = 4 << 20;
  options.delta_bytes = 256 << 10;
  options.boot_id = key_of(99).topic_id;
  std::vector<KnownPartition> known;
  std::array<std::atomic<std::int64_t>, kPartitions> acknowledged{};
  {
    auto opened = CommitLog::open(options, runtime, known, observer);
    ASSERT_TRUE(opened) << to_string(opened.error());
    auto& log = **opened;
    std::vector<std::shared_ptr<Partition>> partitions;
    for (int i = 0; i < kPartitions; ++i) {
      PartitionRules rules;
      rules.flush = i % 2 == 0 ? FlushMode::sync : FlushMode::async;
      rules.retention_ms = -1;  // the stamps of the test batches are old
      partitions.push_back(log.create(key_of(i), rules, LeaderEpoch{0}));
      known.push_back({key_of(i), rules, LeaderEpoch{0}});
    }
    Latch answers{kAppenders * kEach};
    std::atomic<bool> reading{true};
    std::vector<std::thread> threads;
    for (int t = 0; t < kAppenders; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          const auto number = static_cast<std::size_t>((t + i) % kPartitions);
          const auto size = static_cast<std::size_t>(i % 50 == 0 ? 9'000 : 700);
          log.append(request_of(
              partitions[number], size, i % 3 == 0 ? Acks::leader : Acks::all,
              *runtime.io[static_cast<std::size_t>(t) % runtime.io.size()], [&, number](const AppendOutcome& outcome) {
                EXPECT_FALSE(outcome.error);
                auto& most = acknowledged[number];
                for (auto seen = most.load(); seen < outcome.base_offset.value + 2 &&
                                              !most.compare_exchange_weak(seen, outcome.base_offset.value + 2);) {
                }
                answers.count_down();
              }));
          if (i % 100 == 0) {
            std::this_thread::yield();
          }
        }
      });
    }
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&, t] {
        std::array<std::int64_t, kPartitions> ends{};
        for (std::size_t i = static_cast<std::size_t>(t); reading.load(); ++i) {
          const auto number = i % kPartitions;
          const auto from = i % 7 == 0 ? Offset{0} : Offset{ends[number]};
          ends[number] = std::max(ends[number], read_visible(log, *partitions[number], from));
          static_cast<void>(log.find_by_time(*partitions[number], 0, partitions[number]->high_watermark()));
          static_cast<void>(log.size_bytes(*partitions[number]));
        }
      });
    }
    threads.emplace_back([&] {
      for (int i = 0; i < 30; ++i) {  // topics that come and go, as the controller does it
        const auto passing = log.create(key_of(100 + i), {}, LeaderEpoch{0});
        Latch answered{1};
        log.append(
            request_of(passing, 100, Acks::all, *runtime.io[0], [&](const AppendOutcome&) { answered.count_down(); }));
        answered.wait();
        log.remove(passing->key());
        Latch passed{1};
        log.run_retention([&] { passed.count_down(); });
        passed.wait();
        static_cast<void>(log.statistics());
      }
    });
    answers.wait();
    reading.store(false);
    for (auto& thread : threads) {
      thread.join();
    }
    for (std::size_t i = 0; i < kPartitions; ++i) {
      EXPECT_EQ(partitions[i]->log_end().value, acknowledged[i].load());
    }
    EXPECT_GT(log.statistics().segments, 3);
    EXPECT_GT(observer.count.load(), 0U);
    Latch stopped{1};
    log.stop([&](std::optional<LogPosition> end) {
      options.clean_end = end;
      stopped.count_down();
    });
    stopped.wait();
  }
  ASSERT_TRUE(options.clean_end);
  auto opened = CommitLog::open(options, runtime, known, observer);
  ASSERT_TRUE(opened) << to_string(opened.error());
  for (int i = 0; i < kPartitions; ++i) {
    const auto partition = (*opened)->find(key_of(i));
    ASSERT_NE(partition, nullptr);
    EXPECT_EQ(partition->high_watermark().value, acknowledged[static_cast<std::size_t>(i)].load());
    EXPECT_EQ(read_visible(**opened, *partition, Offset{0}), partition->high_watermark().value);
  }
  Latch stopped{1};
  (*opened)->stop([&](auto) { stopped.count_down(); });
  stopped.wait();
  opened->reset();
  real.stop();
}

// What goes on beside appends in a broker: the scrub without a bound, removals, moved starts, readers of old records
// through a cache of few blocks; and a stop in the middle of it, which some appends are behind.
TEST_P(CommitLogThreads, ScrubRemovalsMovedStartsAndAStopBesideAppendersKeepWhatWasAcknowledged) {
  constexpr int kPartitions = 3;
  constexpr int kAppenders = 2;
  constexpr std::int64_t kSegmentsBeforeTheStop = 12;
  TemporaryFolder folder;
  RealRuntime real{2};
  auto runtime = real.runtime();
  CountsAdvances observer;
  CommitLogOptions options;
  options.folder = folder.path();
  options.io = GetParam();
  options.segment_bytes = 1 << 20;
  options.image_bytes = 4 << 20;
  options.read_cache_bytes = 256 << 10;
  options.delta_bytes = 256 << 10;
  options.retention_check_ms = 5;
  options.scrub_bytes_per_second = 1 << 30;
  options.boot_id = key_of(99).topic_id;
  std::vector<KnownPartition> known;
  std::array<std::atomic<std::int64_t>, kPartitions> acknowledged{};
  {
    auto opened = CommitLog::open(options, runtime, known, observer);
    ASSERT_TRUE(opened) << to_string(opened.error());
    auto& log = **opened;
    std::vector<std::shared_ptr<Partition>> partitions;
    for (int i = 0; i < kPartitions; ++i) {
      PartitionRules rules;
      rules.retention_ms = -1;
      rules.retention_bytes = i == 0 ? -1 : 700'000;
      partitions.push_back(log.create(key_of(i), rules, LeaderEpoch{0}));
      known.push_back({key_of(i), rules, LeaderEpoch{0}});
    }
    std::atomic<bool> goes_on{true};
    std::atomic<std::int64_t> under_way{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kAppenders; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; goes_on.load(); ++i) {
          const auto number = static_cast<std::size_t>((t + i) % kPartitions);
          under_way.fetch_add(1);
          log.append(request_of(
              partitions[number], i % 10 == 0 ? 9'000 : 2'000, Acks::all,
              *runtime.io[static_cast<std::size_t>(t) % runtime.io.size()], [&, number](const AppendOutcome& outcome) {
                if (!outcome.error) {
                  auto& most = acknowledged[number];
                  const auto end = outcome.base_offset.value + 2;
                  for (auto seen = most.load(); seen < end && !most.compare_exchange_weak(seen, end);) {
                  }
                } else {
                  EXPECT_EQ(outcome.error->code, Errc::closed);
                }
                under_way.fetch_sub(1);
              }));
          while (under_way.load() > 200) {
            std::this_thread::yield();
          }
        }
      });
    }
    threads.emplace_back([&] {
      for (std::size_t i = 0; goes_on.load(); ++i) {
        const auto& partition = *partitions[i % kPartitions];
        // Removals may take what it is about to read: then it finds nothing, or that this is out of range.
        static_cast<void>(log.read(partition, partition.log_start(), {64 << 10, true, partition.high_watermark()},
                                   ReadFrom::may_block));
        static_cast<void>(log.find_by_time(partition, 0, partition.high_watermark()));
      }
    });
    threads.emplace_back([&] {
      while (goes_on.load()) {
        Latch moved{1};
        const auto start = partitions[0]->high_watermark();
        log.move_start(partitions[0], start, *runtime.io[0], [&](const Result<Offset>&) { moved.count_down(); });
        moved.wait();
        Latch passed{1};
        log.run_retention([&] { passed.count_down(); });
        passed.wait();
        static_cast<void>(log.statistics());
      }
    });
    while (log.statistics().appended.value < kSegmentsBeforeTheStop << 20) {
      std::this_thread::yield();
    }
    Latch stopped{1};
    log.stop([&](std::optional<LogPosition> end) {
      options.clean_end = end;
      stopped.count_down();
    });
    stopped.wait();
    goes_on.store(false);
    for (auto& thread : threads) {
      thread.join();
    }
    while (under_way.load() > 0) {
      std::this_thread::yield();
    }
  }
  options.retention_check_ms = 0;  // what is read below stays
  EXPECT_TRUE(options.clean_end);
  auto opened = CommitLog::open(options, runtime, known, observer);
  ASSERT_TRUE(opened) << to_string(opened.error());
  for (int i = 0; i < kPartitions; ++i) {
    const auto partition = (*opened)->find(key_of(i));
    ASSERT_NE(partition, nullptr);
    EXPECT_GE(partition->high_watermark().value, acknowledged[static_cast<std::size_t>(i)].load());
    EXPECT_EQ(read_visible(**opened, *partition, Offset{0}), partition->high_watermark().value);
  }
  Latch stopped{1};
  (*opened)->stop([&](auto) { stopped.count_down(); });
  stopped.wait();
  opened->reset();
  real.stop();
}

INSTANTIATE_TEST_SUITE_P(BothModes, CommitLogThreads, testing::Values(IoMode::buffered, IoMode::direct));

}  // namespace
}  // namespace weir::log
