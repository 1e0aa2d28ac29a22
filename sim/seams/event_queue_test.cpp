#include "sim/seams/event_queue.hpp"

#include <gtest/gtest.h>

#include <set>

#include "sim/seams/seeds.hpp"

namespace weir::sim {
namespace {

std::string order_of(std::uint64_t seed) {
  EventQueue queue{seed};
  SimExecutor a{queue};
  SimExecutor b{queue};
  std::string order;
  for (const char letter : {'1', '2', '3', '4'}) {
    a.post([&order, letter] { order.push_back(letter); });
    b.post([&order, letter] { order.push_back(static_cast<char>(letter - '1' + 'a')); });
  }
  queue.run_until_idle();
  return order;
}

TEST(EventQueue, ASeedDecidesTheOrderBetweenExecutorsAndNeverInsideOne) {
  std::set<std::string> orders;
  for (const auto seed : seeds(50)) {
    const auto order = order_of(seed);
    EXPECT_EQ(order, order_of(seed)) << "seed " << seed;
    orders.insert(order);
    std::string digits;
    std::string letters;
    for (const char c : order) {
      (c < 'a' ? digits : letters).push_back(c);
    }
    EXPECT_EQ(digits, "1234") << "seed " << seed;
    EXPECT_EQ(letters, "abcd") << "seed " << seed;
  }
  EXPECT_GT(orders.size(), 10U);
}

TEST(EventQueue, TasksOfAPoolMayOvertakeEachOther) {
  std::set<std::vector<int>> orders;
  for (const auto seed : seeds(20)) {
    EventQueue queue{seed};
    SimExecutor pool{queue, SimExecutor::Kind::pool};
    std::vector<int> order;
    for (int i = 0; i < 4; ++i) {
      pool.post([&order, i] { order.push_back(i); });
    }
    queue.run_until_idle();
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 5U);
}

TEST(EventQueue, TheClockJumpsToTheNextDeadlineOnlyWhenNothingIsReady) {
  EventQueue queue{1};
  SimLoop loop{queue};
  std::vector<Millis> fired;
  loop.timers().schedule(1000, [&] { fired.push_back(queue.clock().monotonic_ms()); });
  loop.timers().schedule(5000, [&] { fired.push_back(queue.clock().monotonic_ms()); });
  loop.post([&] { fired.push_back(queue.clock().monotonic_ms()); });
  queue.run_until_idle();
  EXPECT_EQ(fired, (std::vector<Millis>{0}));
  EXPECT_TRUE(queue.step());
  EXPECT_EQ(fired, (std::vector<Millis>{0, 1000}));
  queue.run_for(3999);
  EXPECT_EQ(fired.size(), 2U);
  queue.run_for(1);
  EXPECT_EQ(fired, (std::vector<Millis>{0, 1000, 5000}));
  EXPECT_FALSE(queue.step());
}

TEST(EventQueue, RunUntilStopsAtThePredicateOrBeforeThePassingOfTheDeadline) {
  EventQueue queue{1};
  SimLoop loop{queue};
  int count = 0;
  UniqueFunction<void()> tick = [&] {
    ++count;
    loop.timers().schedule(queue.clock().monotonic_ms() + 10, [&] { tick(); });
  };
  loop.post([&] { tick(); });
  EXPECT_TRUE(queue.run_until([&] { return count == 3; }, 100));
  EXPECT_EQ(queue.clock().monotonic_ms(), 20);
  EXPECT_FALSE(queue.run_until([&] { return count == 1000; }, 100));
  EXPECT_EQ(queue.clock().monotonic_ms(), 100);
}

TEST(EventQueue, AKilledExecutorRunsNothingMoreAndDropsLaterPosts) {
  EventQueue queue{1};
  SimLoop loop{queue};
  int ran = 0;
  loop.post([&] { ++ran; });
  loop.timers().schedule(5, [&] { ++ran; });
  loop.kill();
  loop.post([&] { ++ran; });
  EXPECT_FALSE(queue.step());
  EXPECT_EQ(ran, 0);
}

TEST(SimClock, WallTimeMayJumpAndMonotonicTimeDoesNot) {
  SimClock clock;
  clock.advance_to(100);
  clock.skew_wall(-5000);
  EXPECT_EQ(clock.monotonic_ms(), 100);
  EXPECT_EQ(clock.wall_ms(), SimClock::kStartWallMs + 100 - 5000);
}

}  // namespace
}  // namespace weir::sim
