#include "broker/gathered_appends.hpp"

#include <gtest/gtest.h>

#include "log/test_log.hpp"

namespace weir::broker {
namespace {
using log::AppendOutcome;

class GatheredAppendsTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  GatheredAppendsTest() {
    test.options.metrics = &metrics;
    WEIR_CHECK(test.start().has_value());
    partition = test.create(1, 0);
    test.queue.run_until_idle();
    gathered.emplace(*test.log, test.runtime->io);
  }

  log::Reply append(const std::string& value) {
    auto reply = std::make_shared<std::optional<AppendOutcome>>();
    std::vector<log::Append> one;
    one.push_back(test.request(partition, {.values = {value}}, log::Acks::all, reply));
    gathered->append(*test.runtime->io.front(), one);
    return reply;
  }

  Metrics metrics;
  log::TestLog test{GetParam()};
  std::shared_ptr<log::Partition> partition;
  std::optional<GatheredAppends> gathered;
};

TEST_P(GatheredAppendsTest, WhatOneTurnAppendsIsOneGroupInTheOrderOfTheCalls) {
  const auto writes_before = metrics.log_writes.value();
  std::vector<log::Reply> replies;
  for (int i = 0; i < 20; ++i) {
    replies.push_back(append(std::to_string(i)));
  }
  test.queue.run_until_idle();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(replies[static_cast<std::size_t>(i)]->has_value()) << i;
    EXPECT_EQ((*replies[static_cast<std::size_t>(i)])->base_offset.value, i);
  }
  EXPECT_EQ(metrics.log_writes.value() - writes_before, 1U);
}

TEST_P(GatheredAppendsTest, MuchAtOnceDoesNotWaitForTheEndOfTheTurnAndStaysInOrder) {
  const auto first = append("small");
  const auto large = append(std::string(100'000, 'x'));
  EXPECT_EQ(partition->log_end().value, 2) << "in the log before any other task runs";
  const auto last = append("small again");
  EXPECT_EQ(partition->log_end().value, 2);
  test.queue.run_until_idle();
  EXPECT_EQ((*first)->base_offset.value, 0);
  EXPECT_EQ((*large)->base_offset.value, 1);
  EXPECT_EQ((*last)->base_offset.value, 2);
}

TEST_P(GatheredAppendsTest, TheNextTurnGathersAnew) {
  for (int turn = 0; turn < 5; ++turn) {
    const auto reply = append("one");
    test.queue.run_until_idle();
    ASSERT_TRUE(reply->has_value());
    EXPECT_EQ((*reply)->base_offset.value, turn);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, GatheredAppendsTest, testing::Range<std::uint64_t>(1, 21));

}  // namespace
}  // namespace weir::broker
