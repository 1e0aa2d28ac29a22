#include "broker/fetch_session.hpp"

#include <gtest/gtest.h>

namespace weir::broker {
namespace {
using protocol::ErrorCode;

FetchTarget target(std::int32_t partition, std::int64_t offset = 0) {
  return {.key = {.topic = "t", .partition = partition}, .fetch_offset = offset, .bytes_max = 1000};
}

std::vector<std::int32_t> partitions(const FetchSessions::Opened& opened) {
  std::vector<std::int32_t> all;
  for (const auto& one : opened.targets) {
    all.push_back(one.key.partition);
  }
  return all;
}

TEST(FetchSessions, AFullFetchOpensOneAndLaterOnesSendChangesOnly) {
  FetchSessions sessions{10, Random{1}};
  const auto first = sessions.open(0, kEpochInitial, false, {target(0), target(1)}, {}, 0);
  ASSERT_NE(first.session_id, kSessionNone);
  EXPECT_FALSE(first.incremental);
  const auto second = sessions.open(first.session_id, 1, false, {target(1, 5), target(2)}, {{.topic = "t"}}, 0);
  EXPECT_EQ(second.error, ErrorCode::none);
  EXPECT_TRUE(second.incremental);
  EXPECT_EQ(partitions(second), (std::vector{1, 2}));
  EXPECT_EQ(second.targets[0].fetch_offset, 5);
}

TEST(FetchSessions, AWrongEpochAnUnknownIdAndAChangeOfKeyingAreRefused) {
  FetchSessions sessions{10, Random{1}};
  const auto id = sessions.open(0, kEpochInitial, false, {target(0)}, {}, 0).session_id;
  EXPECT_EQ(sessions.open(id, 2, false, {}, {}, 0).error, ErrorCode::invalid_fetch_session_epoch);
  EXPECT_EQ(sessions.open(id + 1, 1, false, {}, {}, 0).error, ErrorCode::fetch_session_id_not_found);
  EXPECT_EQ(sessions.open(id, 1, true, {}, {}, 0).error, ErrorCode::fetch_session_topic_id_error);
  EXPECT_EQ(sessions.open(id, 1, false, {}, {}, 0).error, ErrorCode::none) << "refusals leave the session as it was";
}

TEST(FetchSessions, AFullFetchOfNothingOpensASessionThatTheNextOneFillsOrEnds) {
  FetchSessions sessions{10, Random{1}};
  const auto filled = sessions.open(0, kEpochInitial, false, {}, {}, 0);
  ASSERT_NE(filled.session_id, kSessionNone);
  EXPECT_TRUE(filled.targets.empty());
  const auto next = sessions.open(filled.session_id, 1, false, {target(0)}, {}, 0);
  EXPECT_EQ(next.session_id, filled.session_id);
  EXPECT_EQ(partitions(next), std::vector{0});
  const auto left = sessions.open(0, kEpochInitial, false, {}, {}, 0);
  const auto ended = sessions.open(left.session_id, 1, false, {}, {}, 0);
  EXPECT_EQ(ended.error, ErrorCode::none);
  EXPECT_EQ(ended.session_id, kSessionNone);
  EXPECT_EQ(sessions.open(left.session_id, 2, false, {}, {}, 0).error, ErrorCode::fetch_session_id_not_found);
}

TEST(FetchSessions, ASessionThatBecomesEmptyOrIsClosedEnds) {
  FetchSessions sessions{10, Random{1}};
  const auto id = sessions.open(0, kEpochInitial, false, {target(0)}, {}, 0).session_id;
  EXPECT_EQ(sessions.open(id, 1, false, {}, {{.topic = "t"}}, 0).session_id, kSessionNone);
  EXPECT_EQ(sessions.size(), 0U);
  const auto third = sessions.open(0, kEpochInitial, false, {target(0)}, {}, 0).session_id;
  const auto emptied = sessions.open(third, 1, false, {target(0, 5)}, {{.topic = "t"}}, 0);
  EXPECT_EQ(emptied.session_id, kSessionNone);
  EXPECT_FALSE(emptied.incremental);
  EXPECT_EQ(partitions(emptied), std::vector{0}) << "what was asked for and forgotten at once is served in full";
  EXPECT_EQ(sessions.size(), 0U);
  const auto other = sessions.open(0, kEpochInitial, false, {target(0)}, {}, 0).session_id;
  const auto closing = sessions.open(other, kEpochFinal, false, {target(0)}, {}, 0);
  EXPECT_EQ(closing.session_id, kSessionNone);
  EXPECT_EQ(partitions(closing), std::vector{0}) << "the closing fetch itself is served in full";
  EXPECT_EQ(sessions.size(), 0U);
}

TEST(FetchSessions, TheFullAnswerLeavesTheOrderThatWasAskedFor) {
  FetchSessions sessions{10, Random{1}};
  const auto first = sessions.open(0, kEpochInitial, false, {target(0), target(1)}, {}, 0);
  const FetchedFacts records{.high_watermark = 5, .log_start = 0, .has_records = true};
  const FetchedFacts full{.high_watermark = 5, .log_start = 0};
  sessions.must_send(first.session_id, first.targets, {records, full});
  const auto second = sessions.open(first.session_id, 1, false, {}, {}, 0);
  EXPECT_EQ(partitions(second), (std::vector{0, 1}));
  sessions.must_send(second.session_id, second.targets, {records, full});
  EXPECT_EQ(partitions(sessions.open(first.session_id, 2, false, {}, {}, 0)), (std::vector{1, 0}));
}

TEST(FetchSessions, AnIncrementalAnswerCarriesDataErrorsAndChangesAndRotatesWhatHadRecords) {
  FetchSessions sessions{10, Random{1}};
  const auto first = sessions.open(0, kEpochInitial, false, {target(0), target(1), target(2)}, {}, 0);
  const FetchedFacts idle{.high_watermark = 5, .log_start = 0};
  sessions.must_send(first.session_id, first.targets, {idle, idle, idle});
  const auto second = sessions.open(first.session_id, 1, false, {}, {}, 0);
  const FetchedFacts records{.high_watermark = 5, .log_start = 0, .has_records = true};
  const FetchedFacts failed{.error = ErrorCode::offset_out_of_range};
  EXPECT_EQ(sessions.must_send(second.session_id, second.targets, {records, failed, idle}),
            (std::vector{true, true, false}));
  const auto third = sessions.open(first.session_id, 2, false, {}, {}, 0);
  EXPECT_EQ(partitions(third), (std::vector{1, 2, 0}));
  EXPECT_EQ(sessions.must_send(third.session_id, third.targets, {idle, idle, idle}), (std::vector{true, false, false}))
      << "the good answer after an error is sent";
}

TEST(FetchSessions, AFullCacheGivesWayOnlyToTheLongIdle) {
  FetchSessions sessions{1, Random{1}};
  const auto id = sessions.open(0, kEpochInitial, false, {target(0)}, {}, 0).session_id;
  const auto second = sessions.open(0, kEpochInitial, false, {target(0)}, {}, FetchSessions::kEvictAfterIdleMs - 1);
  EXPECT_EQ(second.session_id, kSessionNone) << "served without a session";
  EXPECT_EQ(second.targets.size(), 1U);
  EXPECT_NE(sessions.open(0, kEpochInitial, false, {target(0)}, {}, FetchSessions::kEvictAfterIdleMs).session_id, id);
  EXPECT_EQ(sessions.size(), 1U);
}

}  // namespace
}  // namespace weir::broker
