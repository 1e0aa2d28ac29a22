#include <gtest/gtest.h>

#include "coordinator/group_testing.hpp"

namespace weir::group {
namespace {

constexpr Millis kPause = 3'000;

struct TwoMembers {
  JoinAnswer leader;
  JoinAnswer follower;
};

// Two members in generation 1, which waits for its assignments.
TwoMembers two_joined(ShardUnderTest& test) {
  auto request = join_request("g");
  request.member_id_required = false;
  const auto a = test.join_async(request);
  const auto b = test.join_async(request);
  test.advance(2 * kPause);
  TwoMembers two{test.get<JoinAnswer>(a), test.get<JoinAnswer>(b)};
  if (two.follower.member_id == two.follower.leader) {
    std::swap(two.leader, two.follower);
  }
  return two;
}

SyncRequest assignments(const TwoMembers& two) {
  return sync_request("g", two.leader.member_id, 1,
                      {{two.leader.member_id, blob("L")}, {two.follower.member_id, blob("F")}});
}

TEST(GroupSync, EveryMemberGetsItsAssignmentWhenTheRecordIsDurableAndNotBefore) {
  ShardUnderTest test;
  const auto two = two_joined(test);
  test.hold = true;
  const auto follower = test.sync_async(sync_request("g", two.follower.member_id, 1));
  const auto leader = test.sync_async(assignments(two));
  EXPECT_FALSE(test.answered(follower) || test.answered(leader));
  EXPECT_EQ(test.shard().describe("g").state, GroupState::completing_rebalance);
  test.release();
  EXPECT_EQ(text_of(test.get<SyncAnswer>(leader).assignment), "L");
  EXPECT_EQ(text_of(test.get<SyncAnswer>(follower).assignment), "F");
  EXPECT_EQ(test.get<SyncAnswer>(follower).protocol_type, "consumer");
  EXPECT_EQ(test.get<SyncAnswer>(follower).protocol_name, "range");
  EXPECT_EQ(test.shard().describe("g").state, GroupState::stable);
  EXPECT_EQ(text_of(test.sync(sync_request("g", two.follower.member_id, 1)).assignment), "F") << "asked again";
}

TEST(GroupSync, WhomTheLeaderForgetsGetsAnEmptyAssignmentAndStrangersAreIgnored) {
  ShardUnderTest test;
  const auto two = two_joined(test);
  EXPECT_EQ(text_of(test.sync(sync_request("g", two.leader.member_id, 1, {{"stranger", blob("S")}})).assignment), "");
  EXPECT_EQ(test.sync(sync_request("g", two.follower.member_id, 1)).error, ErrorCode::none);
  EXPECT_EQ(test.shard().describe("g").members.size(), 2U);
}

TEST(GroupSync, RefusesWhatKafkaRefuses) {
  ShardUnderTest test;
  const auto two = two_joined(test);
  EXPECT_EQ(test.heartbeat("g", two.leader.member_id, 1), ErrorCode::none) << "while the group waits for SyncGroup";
  auto request = sync_request("g", two.leader.member_id, 1);
  request.protocol_type = "foo";
  EXPECT_EQ(test.sync(request).error, ErrorCode::inconsistent_group_protocol);
  request = sync_request("g", two.leader.member_id, 1);
  request.protocol_name = "foo";
  EXPECT_EQ(test.sync(request).error, ErrorCode::inconsistent_group_protocol);
  EXPECT_EQ(test.sync(sync_request("g", two.leader.member_id, 2)).error, ErrorCode::illegal_generation);
  EXPECT_EQ(test.sync(sync_request("g", "zzz", 1)).error, ErrorCode::unknown_member_id);
  EXPECT_EQ(test.sync(sync_request("nogroup", "zzz", 1)).error, ErrorCode::unknown_member_id);
  EXPECT_EQ(test.sync(sync_request("", "zzz", 1)).error, ErrorCode::invalid_group_id);
  EXPECT_EQ(test.heartbeat("g", two.leader.member_id, 2), ErrorCode::illegal_generation);
  EXPECT_EQ(test.heartbeat("g", "zzz", 1), ErrorCode::unknown_member_id);
  EXPECT_EQ(test.heartbeat("nogroup", "zzz", 1), ErrorCode::unknown_member_id);
  EXPECT_EQ(test.heartbeat("", "zzz", 1), ErrorCode::invalid_group_id);
}

TEST(GroupSync, ARefusedRecordIsToldToAllWhoWaitAndTheGroupRebalances) {
  ShardUnderTest test;
  const auto two = two_joined(test);
  const auto follower = test.sync_async(sync_request("g", two.follower.member_id, 1));
  test.refuse_appends = Errc::disk_failed;
  EXPECT_EQ(test.sync(assignments(two)).error, ErrorCode::not_coordinator);
  EXPECT_EQ(test.get<SyncAnswer>(follower).error, ErrorCode::not_coordinator);
  EXPECT_EQ(test.shard().describe("g").state, GroupState::preparing_rebalance);
  EXPECT_EQ(test.sync(sync_request("g", two.follower.member_id, 1)).error, ErrorCode::rebalance_in_progress);
}

// As from a Kafka node, by offsets.commit.timeout.ms.
TEST(GroupSync, MembersDoNotWaitForARecordOfWhichTheLogSaysNothingAndTheGroupRebalances) {
  ShardUnderTest test;
  const auto two = two_joined(test);
  test.hold = true;
  const auto follower = test.sync_async(sync_request("g", two.follower.member_id, 1));
  const auto leader = test.sync_async(assignments(two));
  test.advance(test.config.write_timeout_ms - 1);
  EXPECT_FALSE(test.answered(follower) || test.answered(leader));
  test.advance(1);
  EXPECT_EQ(test.get<SyncAnswer>(follower).error, ErrorCode::coordinator_not_available);
  EXPECT_EQ(test.get<SyncAnswer>(leader).error, ErrorCode::coordinator_not_available);
  EXPECT_EQ(test.shard().describe("g").state, GroupState::preparing_rebalance);
  test.release();
  EXPECT_EQ(test.shard().describe("g").state, GroupState::preparing_rebalance) << "the rebalance has already begun";
  test.hold = false;
  const auto a = test.join_async(join_request("g", two.leader.member_id));
  const auto b = test.join_async(join_request("g", two.follower.member_id));
  test.advance(2 * kPause);
  EXPECT_EQ(test.get<JoinAnswer>(a).generation, 2);
  EXPECT_EQ(test.get<JoinAnswer>(b).generation, 2);
  EXPECT_EQ(test.sync(sync_request("g", two.leader.member_id, 2, {{two.leader.member_id, blob("again")}})).error,
            ErrorCode::none);
  EXPECT_EQ(test.shard().describe("g").state, GroupState::stable);
}

TEST(GroupSync, ARebalanceThatBeginsWhileTheRecordIsUnderWayWins) {
  ShardUnderTest test;
  const auto two = two_joined(test);
  test.hold = true;
  const auto leader = test.sync_async(assignments(two));
  auto changed = join_request("g", two.follower.member_id);
  changed.protocols[0].metadata = subscription({"other"});
  test.join_async(changed);
  EXPECT_EQ(test.get<SyncAnswer>(leader).error, ErrorCode::rebalance_in_progress);
  test.release();
  EXPECT_EQ(test.shard().describe("g").state, GroupState::preparing_rebalance);
}

TEST(GroupSync, MembersThatNeverSyncAreRemovedAfterTheRebalanceTimeout) {
  ShardUnderTest test;
  const auto two = two_joined(test);
  EXPECT_EQ(test.sync(assignments(two)).error, ErrorCode::none);
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(test.heartbeat("g", two.leader.member_id, 1), ErrorCode::none);
    EXPECT_EQ(test.heartbeat("g", two.follower.member_id, 1), ErrorCode::none);
    test.advance(5'000);
  }
  EXPECT_EQ(test.heartbeat("g", two.follower.member_id, 1), ErrorCode::unknown_member_id);
  EXPECT_EQ(test.heartbeat("g", two.leader.member_id, 1), ErrorCode::rebalance_in_progress);
}

TEST(GroupSync, AMemberThatStopsItsHeartbeatIsOutAfterItsSessionTimeout) {
  ShardUnderTest test;
  const auto two = two_joined(test);
  EXPECT_EQ(test.sync(assignments(two)).error, ErrorCode::none);
  EXPECT_EQ(test.sync(sync_request("g", two.follower.member_id, 1)).error, ErrorCode::none);
  test.advance(9'999);
  EXPECT_EQ(test.heartbeat("g", two.leader.member_id, 1), ErrorCode::none);
  test.advance(1);
  EXPECT_EQ(test.heartbeat("g", two.follower.member_id, 1), ErrorCode::unknown_member_id);
  const auto again = test.join(join_request("g", two.leader.member_id));
  EXPECT_EQ(again.generation, 2);
  EXPECT_EQ(again.members.size(), 1U);
}

TEST(GroupSync, AGroupThatLosesItsLastMemberIsEmptyInTheNextGenerationAndSaysSoInTheLog) {
  ShardUnderTest test;
  const auto two = two_joined(test);
  EXPECT_EQ(test.sync(assignments(two)).error, ErrorCode::none);
  test.advance(60'000);
  EXPECT_EQ(test.shard().describe("g").state, GroupState::empty);
  EXPECT_EQ(test.shard().describe("g").protocol_type, "consumer");
  const auto& last = test.log.rbegin()->second;
  const auto parsed = parse_record(last.key, Bytes{*last.value});
  const auto& value = *std::get<GroupRecord>(*parsed).value;
  EXPECT_TRUE(value.members.empty());
  EXPECT_GE(value.generation, 2);
  EXPECT_FALSE(value.protocol.has_value());
  EXPECT_FALSE(value.leader.has_value());
  EXPECT_EQ(value.protocol_type, "consumer");
}

TEST(GroupLeave, ListsEachMemberWithItsOwnError) {
  ShardUnderTest test;
  const auto two = two_joined(test);
  const auto left =
      test.leave({"g", {{two.follower.member_id, {}, "bye"}, {"zzz", {}, ""}, {"", "i9", ""}, {"", {}, ""}}});
  EXPECT_EQ(left.error, ErrorCode::none);
  ASSERT_EQ(left.members.size(), 4U);
  EXPECT_EQ(left.members[0].error, ErrorCode::none);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(left.members[i].error, ErrorCode::unknown_member_id);
  }
  EXPECT_EQ(test.heartbeat("g", two.leader.member_id, 1), ErrorCode::rebalance_in_progress);
  EXPECT_EQ(test.leave({"", {}}).error, ErrorCode::invalid_group_id);
  EXPECT_EQ(test.leave({"nogroup", {{"a", {}, ""}}}).members.at(0).error, ErrorCode::unknown_member_id);
}

TEST(GroupLeave, TheLastOneToLeaveIsAnsweredWhenTheEmptyGenerationIsDurable) {
  ShardUnderTest test;
  const auto two = two_joined(test);
  EXPECT_EQ(test.leave({"g", {{two.follower.member_id, {}, ""}}}).error, ErrorCode::none);
  test.hold = true;
  const auto ticket = test.leave_async({"g", {{two.leader.member_id, {}, ""}}});
  EXPECT_FALSE(test.answered(ticket));
  test.release();
  EXPECT_EQ(test.get<LeaveAnswer>(ticket).members.at(0).error, ErrorCode::none);
  EXPECT_EQ(test.shard().describe("g").state, GroupState::empty);
}

TEST(GroupLeave, AnAdminMayNameTheInstanceOnly) {
  ShardUnderTest test;
  auto request = join_request("g");
  request.instance_id = "i1";
  const auto ticket = test.join_async(request);
  test.advance(kPause);
  EXPECT_EQ(test.get<JoinAnswer>(ticket).error, ErrorCode::none);
  EXPECT_EQ(test.leave({"g", {{"wrong", "i1", ""}}}).members.at(0).error, ErrorCode::fenced_instance_id);
  const auto left = test.leave({"g", {{"", "i1", "r"}, {"x", {}, ""}}});
  EXPECT_EQ(left.members[0].error, ErrorCode::none);
  EXPECT_EQ(left.members[0].member_id, "");
  EXPECT_EQ(left.members[0].instance_id, "i1");
  EXPECT_EQ(left.members[1].error, ErrorCode::unknown_member_id);
  EXPECT_EQ(test.shard().describe("g").state, GroupState::empty);
}

TEST(GroupLeave, AMemberThatWaitsInJoinOrSyncIsAnsweredWhenItLeaves) {
  ShardUnderTest test;
  const auto two = two_joined(test);
  const auto sync = test.sync_async(sync_request("g", two.follower.member_id, 1));
  test.leave_async({"g", {{two.follower.member_id, {}, ""}}});
  EXPECT_EQ(test.get<SyncAnswer>(sync).error, ErrorCode::unknown_member_id);
  const auto id = test.join(join_request("g")).member_id;
  const auto join = test.join_async(join_request("g", id));
  test.leave_async({"g", {{id, {}, ""}}});
  EXPECT_EQ(test.get<JoinAnswer>(join).error, ErrorCode::unknown_member_id);
}

TEST(GroupReplay, AStableGroupComesBackWithItsMembersAssignmentsAndSessions) {
  ShardUnderTest test;
  const auto two = two_joined(test);
  EXPECT_EQ(test.sync(assignments(two)).error, ErrorCode::none);
  test.restart();
  const auto facts = test.shard().describe("g");
  EXPECT_EQ(facts.state, GroupState::stable);
  EXPECT_EQ(facts.protocol_name, "range");
  ASSERT_EQ(facts.members.size(), 2U);
  EXPECT_EQ(facts.members[0].client_host, "/127.0.0.1");
  EXPECT_EQ(text_of(facts.members[0].metadata), text_of(subscription({"t"})));
  EXPECT_EQ(test.heartbeat("g", two.leader.member_id, 1), ErrorCode::none);
  EXPECT_EQ(text_of(test.sync(sync_request("g", two.follower.member_id, 1)).assignment), "F");
  test.advance(20'001);
  EXPECT_EQ(test.shard().describe("g").state, GroupState::empty) << "and its members must heartbeat as before";
}

TEST(GroupDescribe, ShowsMetadataOnlyOfAStableGroupAndNothingOfAnUnknownOne) {
  ShardUnderTest test;
  EXPECT_FALSE(test.shard().describe("g").found);
  const auto two = two_joined(test);
  auto facts = test.shard().describe("g");
  EXPECT_EQ(to_string(facts.state), "CompletingRebalance");
  EXPECT_EQ(facts.protocol_name, "");
  EXPECT_TRUE(facts.members.at(0).metadata.empty());
  EXPECT_EQ(test.sync(assignments(two)).error, ErrorCode::none);
  facts = test.shard().describe("g");
  EXPECT_EQ(facts.protocol_name, "range");
  EXPECT_FALSE(facts.members.at(0).metadata.empty());
  EXPECT_EQ(test.shard().list().at(0).group_id, "g");
}

}  // namespace
}  // namespace weir::group
