#include "broker/waiters.hpp"

#include <gtest/gtest.h>

namespace weir::broker {
namespace {

std::shared_ptr<log::Partition> partition(std::int32_t index) {
  return std::make_shared<log::Partition>(log::PartitionKey{{}, index},
                                          LocalPartition{static_cast<std::uint32_t>(index)});
}

TEST(FetchWaiters, WakesOnceForAnyOfItsPartitionsAndCountsWhoWaits) {
  FetchWaiters waiters;
  const auto a = partition(0);
  const auto b = partition(1);
  int woken = 0;
  waiters.wait({a, b}, [&] { ++woken; });
  EXPECT_EQ(a->waiters.load(), 1);
  waiters.advanced(std::vector{partition(2)});
  EXPECT_EQ(woken, 0);
  waiters.advanced(std::vector{a, b});
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(a->waiters.load() + b->waiters.load(), 0);
  EXPECT_EQ(waiters.size(), 0U);
}

TEST(FetchWaiters, ACancelledWaitIsNotWokenAndLeavesNoCount) {
  FetchWaiters waiters;
  const auto a = partition(0);
  int woken = 0;
  waiters.cancel(waiters.wait({a}, [&] { ++woken; }));
  waiters.advanced(std::vector{a});
  EXPECT_EQ(woken, 0);
  EXPECT_EQ(a->waiters.load(), 0);
}

TEST(FetchWaiters, AWokenFetchMayWaitAgainForTheNextRound) {
  FetchWaiters waiters;
  const auto a = partition(0);
  int woken = 0;
  waiters.wait({a}, [&] { waiters.wait({a}, [&] { ++woken; }); });
  waiters.advanced(std::vector{a});
  EXPECT_EQ(woken, 0);
  waiters.advanced(std::vector{a});
  EXPECT_EQ(woken, 1);
}

}  // namespace
}  // namespace weir::broker
