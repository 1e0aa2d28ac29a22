#include "base/timer_queue.hpp"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(TimerQueue, FiresWhatIsDueInOrderOfDeadlineThenOfScheduling) {
  TimerQueue timers;
  std::vector<int> fired;
  timers.schedule(20, [&] { fired.push_back(3); });
  timers.schedule(10, [&] { fired.push_back(1); });
  timers.schedule(10, [&] { fired.push_back(2); });
  timers.schedule(21, [&] { fired.push_back(4); });
  timers.advance(20);
  EXPECT_EQ(fired, (std::vector{1, 2, 3}));
  EXPECT_EQ(timers.next_deadline(), 21);
}

TEST(TimerQueue, ACancelledTimerNeverFiresAndAFiredOneCannotBeCancelled) {
  TimerQueue timers;
  int fired = 0;
  const auto kept = timers.schedule(1, [&] { ++fired; });
  const auto cancelled = timers.schedule(1, [&] { fired += 100; });
  EXPECT_TRUE(timers.cancel(cancelled));
  timers.advance(5);
  EXPECT_EQ(fired, 1);
  EXPECT_FALSE(timers.cancel(kept));
  EXPECT_EQ(timers.size(), 0U);
}

TEST(TimerQueue, ATaskMayScheduleTheNextOneInTheSameTurn) {
  TimerQueue timers;
  int fired = 0;
  timers.schedule(1, [&] { timers.schedule(2, [&] { ++fired; }); });
  timers.advance(2);
  EXPECT_EQ(fired, 1);
}

}  // namespace
}  // namespace weir
