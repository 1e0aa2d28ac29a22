// Fetches of two io loops that wait, beside a log that moves on: who waits is woken, however the two meet.
#include <gtest/gtest.h>

#include <condition_variable>
#include <thread>

#include "base/real_runtime.hpp"
#include "broker/waiters.hpp"
#include "log/log_partition.hpp"

namespace weir::broker {
namespace {

constexpr std::int64_t kLast = 4'000;
constexpr int kPartitions = 3;
constexpr std::chrono::seconds kPatience{60};

std::shared_ptr<log::LogPartition> partition(std::int32_t index) {
  return std::make_shared<log::LogPartition>(
      log::PartitionKey{{}, index}, LocalPartition{static_cast<std::uint32_t>(index + 1)}, log::PartitionRules{});
}

// Reads on as a fetch does: registers, looks, and waits only if there is nothing new. Its tasks run on one loop.
class Follower : public std::enable_shared_from_this<Follower> {
 public:
  Follower(IoLoop& loop, FetchWaiters& waiters, std::shared_ptr<log::Partition> partition, Task done)
      : loop_(loop), waiters_(waiters), partition_(std::move(partition)), done_(std::move(done)) {}

  void run() {
    const auto id = waiters_.wait({partition_}, [self = shared_from_this()] { self->run(); });
    const auto end = partition_->high_watermark().value;
    if (end == seen_) {
      return;
    }
    waiters_.cancel(id);
    seen_ = end;
    if (seen_ == kLast) {
      return done_();
    }
    loop_.post([self = shared_from_this()] { self->run(); });
  }

 private:
  IoLoop& loop_;
  FetchWaiters& waiters_;
  std::shared_ptr<log::Partition> partition_;
  Task done_;
  std::int64_t seen_ = 0;
};

TEST(WaiterHubThreads, FollowersOfTwoLoopsReachTheEndOfALogThatMovesOneByOne) {
  RealRuntime real{2};
  auto runtime = real.runtime();
  WaiterHub hub{runtime.io};
  std::vector<std::shared_ptr<log::LogPartition>> partitions;
  for (int i = 0; i < kPartitions; ++i) {
    partitions.push_back(partition(i));
  }
  std::mutex mutex;
  std::condition_variable arrived;
  std::size_t left = runtime.io.size() * partitions.size();
  for (auto* loop : runtime.io) {
    for (const auto& one : partitions) {
      const auto follower = std::make_shared<Follower>(*loop, hub.of(*loop), one, [&] {
        const std::scoped_lock lock(mutex);
        --left;
        arrived.notify_all();
      });
      loop->post([follower] { follower->run(); });
    }
  }
  std::thread log([&] {
    for (std::int64_t end = 1; end <= kLast; ++end) {
      for (const auto& one : partitions) {
        one->set_durable(Offset{end});
        static_cast<void>(one->follow_high_watermark());
        const std::array<std::shared_ptr<log::Partition>, 1> moved{one};
        hub.advanced(moved);
      }
      if (end % 7 == 0) {
        std::this_thread::yield();
      }
    }
  });
  {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(arrived.wait_for(lock, kPatience, [&] { return left == 0; })) << left << " followers sleep for ever";
  }
  log.join();
  real.stop();
  for (const auto& one : partitions) {
    EXPECT_EQ(one->waiters.load(), 0);
  }
}

}  // namespace
}  // namespace weir::broker
