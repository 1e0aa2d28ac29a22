#include "base/io_thread.hpp"

#include <gtest/gtest.h>

#include <future>

#include "base/real_clock.hpp"
#include "base/thread_executor.hpp"

namespace weir {
namespace {

TEST(IoThread, TasksOfManyThreadsRunOneAtATimeAndThoseOfOneThreadInOrder) {
  const RealClock clock;
  IoThread loop{"loop", clock};
  constexpr int kThreads = 4;
  constexpr int kTasks = 5000;
  std::array<int, kThreads> last{};
  bool ordered = true;
  {
    PoolExecutor posters{"poster", kThreads};
    for (int thread = 0; thread < kThreads; ++thread) {
      posters.post([&, thread] {
        for (int i = 1; i <= kTasks; ++i) {
          loop.post([&, thread, i] {
            auto& mine = last[static_cast<std::size_t>(thread)];
            ordered = ordered && mine == i - 1;
            mine = i;
          });
        }
      });
    }
  }
  loop.stop();
  EXPECT_TRUE(ordered);
  EXPECT_EQ(last, (std::array{kTasks, kTasks, kTasks, kTasks}));
}

TEST(IoThread, APostIsNeverRunInsidePostAndStopRunsWhatTasksPost) {
  const RealClock clock;
  IoThread loop{"loop", clock};
  std::vector<int> order;
  loop.post([&] {
    EXPECT_TRUE(loop.is_current());
    loop.post([&] {
      order.push_back(2);
      loop.post([&] { order.push_back(3); });
    });
    order.push_back(1);
  });
  loop.stop();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
  loop.post([] { FAIL() << "stopped"; });
}

TEST(IoThread, ATimerFiresAtItsDeadlineAndNotBefore) {
  const RealClock clock;
  IoThread loop{"loop", clock};
  std::promise<Millis> fired;
  const auto deadline_ms = clock.monotonic_ms() + 20;
  loop.post([&] {
    loop.timers().schedule(deadline_ms + 100'000, [] { FAIL() << "much later"; });
    loop.timers().schedule(deadline_ms, [&] { fired.set_value(clock.monotonic_ms()); });
  });
  EXPECT_GE(fired.get_future().get(), deadline_ms);
}

TEST(IoThread, ASleepingLoopWakesForAPost) {
  const RealClock clock;
  IoThread loop{"loop", clock};
  for (int i = 0; i < 200; ++i) {  // each finds the loop asleep or about to be
    std::promise<void> ran;
    loop.post([&] { ran.set_value(); });
    ran.get_future().get();
  }
}

TEST(PoolExecutor, TasksOverlapAndStopRunsAll) {
  PoolExecutor pool{"pool", 2};
  std::promise<void> first_runs;
  std::promise<void> second_ran;
  std::atomic<int> ran = 0;
  pool.post([&] {
    first_runs.set_value();
    second_ran.get_future().get();  // would never come if the tasks did not overlap
    pool.post([&] { ++ran; });
    ++ran;
  });
  first_runs.get_future().get();
  pool.post([&] {
    ++ran;
    second_ran.set_value();
  });
  pool.stop();
  EXPECT_EQ(ran, 3);
}

TEST(ThreadExecutor, RunsInOrder) {
  std::vector<int> order;
  {
    ThreadExecutor thread{"one"};
    for (int i = 0; i < 1000; ++i) {
      thread.post([&, i] { order.push_back(i); });
    }
  }
  ASSERT_EQ(order.size(), 1000U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

}  // namespace
}  // namespace weir
