// Two threads at one partition: the one that moves its high watermark, and the one that waits for that.
#include "log/log_partition.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace weir::log {
namespace {

// Brings two threads to the same instruction at the same time, again and again.
class Meeting {
 public:
  void meet() {
    const auto round = round_.load();
    if (here_.fetch_add(1) == 1) {
      here_.store(0);
      round_.store(round + 1);
      return;
    }
    for (int spins = 0; round_.load() == round; ++spins) {
      if (spins > 1'000) {
        std::this_thread::yield();
      }
    }
  }

 private:
  std::atomic<int> here_{0};
  std::atomic<std::int64_t> round_{0};
};

// Many partitions a meeting, and each thread begins a little earlier or later: the two are at the same one for a few
// nanoseconds only.
TEST(LogPartitionThreads, WhoWaitsSeesTheHighWatermarkMovedOrIsSeenWaiting) {
  constexpr std::int64_t kRounds = 8'000;
  constexpr std::size_t kPartitions = 64;
  std::vector<std::unique_ptr<LogPartition>> partitions;
  for (std::size_t i = 0; i < kPartitions; ++i) {
    partitions.push_back(std::make_unique<LogPartition>(PartitionKey{}, LocalPartition{1}, PartitionRules{}));
  }
  Meeting meeting;
  std::array<bool, kPartitions> was_seen{};  // the mover's, between the meetings
  std::array<bool, kPartitions> saw{};
  const auto linger = [](std::int64_t round, std::int64_t each) {
    for (std::atomic<std::int64_t> left{round * each % 400}; left.load(std::memory_order_relaxed) > 0; --left) {
    }
  };
  std::int64_t missed = 0;
  std::thread mover([&] {
    for (std::int64_t round = 1; round <= kRounds; ++round) {
      meeting.meet();
      linger(round, 7);
      for (std::size_t i = 0; i < kPartitions; ++i) {
        partitions[i]->set_durable(Offset{round});
        static_cast<void>(partitions[i]->follow_high_watermark());
        was_seen[i] = partitions[i]->waiters.load() > 0;
      }
      meeting.meet();
    }
  });
  for (std::int64_t round = 1; round <= kRounds; ++round) {
    meeting.meet();
    linger(round, 13);
    for (std::size_t i = 0; i < kPartitions; ++i) {
      partitions[i]->waiters.fetch_add(1);
      saw[i] = partitions[i]->high_watermark().value == round;
    }
    meeting.meet();
    for (std::size_t i = 0; i < kPartitions; ++i) {
      missed += saw[i] || was_seen[i] ? 0 : 1;
      partitions[i]->waiters.fetch_sub(1);
    }
  }
  mover.join();
  EXPECT_EQ(missed, 0) << "of " << kRounds * static_cast<std::int64_t>(kPartitions);
}

}  // namespace
}  // namespace weir::log
