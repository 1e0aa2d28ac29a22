// What two io loops append at once reaches a real log whole, and each loop's in the order of its calls.
#include <gtest/gtest.h>

#include <condition_variable>

#include "base/real_runtime.hpp"
#include "base/temporary_folder.hpp"
#include "broker/gathered_appends.hpp"
#include "broker/waiters.hpp"
#include "log/test_batch.hpp"
#include "protocol/record_batch.hpp"

namespace weir::broker {
namespace {

constexpr int kPartitions = 3;
constexpr int kTurns = 300;
constexpr int kEachTurn = 5;

// One loop's requests: a turn posts the next one. Touched by tasks of its loop only, where answers come back too.
struct Sender {
  IoLoop& loop;
  GatheredAppends& appends;
  std::vector<std::shared_ptr<log::Partition>> partitions;
  std::function<void()> answered;
  std::array<std::int64_t, kPartitions> last{-1, -1, -1};
  int turns = 0;

  void turn() {
    for (int i = 0; i < kEachTurn; ++i) {
      const auto number = static_cast<std::size_t>(i % kPartitions);
      auto batch = log::make_valid_batch({.values = {std::string(i == 0 && turns % 50 == 0 ? 80'000 : 100, 'x')}});
      std::vector<log::Append> one(1);
      one[0].partition = partitions[number];
      one[0].batch = std::move(batch);
      one[0].acks = i % 2 == 0 ? log::Acks::all : log::Acks::leader;
      one[0].reply_on = &loop;
      // Answers of one kind come in order; of both kinds an earlier one may wait for the sync.
      one[0].done = [this, number, is_all = i % 2 == 0](const log::AppendOutcome& outcome) {
        EXPECT_FALSE(outcome.error);
        if (is_all) {
          EXPECT_GT(outcome.base_offset.value, last[number]);
          last[number] = outcome.base_offset.value;
        }
        answered();
      };
      appends.append(loop, one);
    }
    if (++turns < kTurns) {
      loop.post([this] { turn(); });
    }
  }
};

TEST(GatheredAppendsThreads, LoopsThatAppendAtOnceLoseNothingAndKeepTheirOrder) {
  TemporaryFolder folder;
  RealRuntime real{2};
  auto runtime = real.runtime();
  WaiterHub hub{runtime.io};
  log::CommitLogOptions options;
  options.folder = folder.path();
  options.segment_bytes = 1 << 20;
  options.image_bytes = 4 << 20;
  auto opened = log::CommitLog::open(options, runtime, {}, hub);
  ASSERT_TRUE(opened) << to_string(opened.error());
  GatheredAppends appends{**opened, runtime.io};
  std::vector<std::shared_ptr<log::Partition>> partitions;
  for (int i = 0; i < kPartitions; ++i) {
    partitions.push_back((*opened)->create({{}, i}, {}, LeaderEpoch{0}));
  }
  std::mutex mutex;
  std::condition_variable moved;
  const auto await = [&](auto&& is_so) {
    std::unique_lock lock(mutex);
    moved.wait(lock, is_so);
  };
  std::size_t left = runtime.io.size() * kTurns * kEachTurn;
  const auto answered = [&] {
    const std::scoped_lock lock(mutex);
    --left;
    moved.notify_all();
  };
  std::vector<std::unique_ptr<Sender>> senders;
  for (auto* loop : runtime.io) {
    senders.push_back(std::make_unique<Sender>(Sender{*loop, appends, partitions, answered}));
    loop->post([sender = senders.back().get()] { sender->turn(); });
  }
  await([&] { return left == 0; });
  std::int64_t all = 0;
  for (const auto& partition : partitions) {
    EXPECT_EQ(partition->high_watermark(), partition->log_end());
    all += partition->log_end().value;
  }
  EXPECT_EQ(all, static_cast<std::int64_t>(runtime.io.size()) * kTurns * kEachTurn);
  bool stopped = false;
  (*opened)->stop([&](auto) {
    const std::scoped_lock lock(mutex);
    stopped = true;
    moved.notify_all();
  });
  await([&] { return stopped; });
  real.stop();
}

}  // namespace
}  // namespace weir::broker
