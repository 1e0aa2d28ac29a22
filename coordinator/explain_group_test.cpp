#include "coordinator/explain_group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/group_testing.hpp"

namespace weir::group {
namespace {
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const Now kNow{.monotonic_ms = 10'000'000, .wall_ms = 1'700'000'000'000};
constexpr Millis kSecond = 1000;

MemberFacts member(std::string id, Millis heard_ago_ms = 1 * kSecond) {
  MemberFacts one;
  one.member_id = std::move(id);
  one.client_id = "c";
  one.client_host = "/127.0.0.1";
  one.heard_ms = kNow.monotonic_ms - heard_ago_ms;
  one.session_timeout_ms = 30'000;
  one.session_end_ms = one.heard_ms + one.session_timeout_ms;
  return one;
}

GroupStanding standing(GroupState state, std::vector<MemberFacts> members = {}) {
  GroupStanding group;
  group.group_id = "g";
  group.facts.found = true;
  group.facts.state = state;
  group.facts.protocol_type = "consumer";
  group.facts.generation = 7;
  group.facts.state_since_ms = kNow.wall_ms - 300 * kSecond;
  group.facts.members = std::move(members);
  return group;
}

// Everything of [100, 1000) is there, read up to 1000.
PartitionStanding partition(std::int32_t index, std::int64_t committed, std::int32_t of_member = 0) {
  PartitionStanding part;
  part.partition = index;
  part.log_start = 100;
  part.high_watermark = 1000;
  part.committed = committed;
  part.member = of_member;
  if (committed < 0) {
    part.lag = LagState::no_commit;
  } else if (committed <= part.high_watermark) {
    part.lag = LagState::number;
    part.behind = part.high_watermark - std::max(committed, part.log_start);
  }
  if (committed >= 0) {
    part.commit_age_ms = part.still_ms = 2 * kSecond;
  }
  return part;
}

GroupStanding reading(std::vector<PartitionStanding> partitions) {
  auto group = standing(GroupState::stable, {member("X")});
  group.topics = {{"t", true, true, std::move(partitions)}};
  return group;
}

std::vector<std::string> explain(const GroupStanding& group) {
  return explain_group(group, kNow);
}

// --- states ---

TEST(ExplainGroup, AGroupThatIsNotThere) {
  EXPECT_THAT(explain(standing(GroupState::dead)), ElementsAre("There is no such group."));
}

TEST(ExplainGroup, AGroupThatOnlyStoresOffsets) {
  auto group = standing(GroupState::empty);
  group.facts.protocol_type = "";
  EXPECT_THAT(explain(group), ElementsAre("Nobody ever joined: this group only stores offsets."));
}

TEST(ExplainGroup, AnEmptyGroupSaysWhoLeftLastAndWhyOrSinceWhen) {
  auto group = standing(GroupState::empty);
  EXPECT_THAT(explain(group), ElementsAre("No member: nobody reads since 5 min."));
  group.facts.state_since_ms = -1;
  EXPECT_THAT(explain(group), ElementsAre("No member: nobody reads."));
  group.facts.last_departure = {kNow.monotonic_ms - 3 * 3600 * kSecond, "X",
                                "it did not heartbeat in its session timeout"};
  EXPECT_THAT(explain(group),
              ElementsAre("No member: nobody reads. The last one, X, left 3 h ago: it did not heartbeat "
                          "in its session timeout."));
  group.facts.pending_members = 1;
  EXPECT_EQ(explain(group).back(), "1 client was given a member id and did not come back with it yet.");
}

TEST(ExplainGroup, ANewGroupWaitsForOthers) {
  auto group = standing(GroupState::preparing_rebalance, {member("X")});
  group.facts.members[0].waits_in_join = true;
  group.facts.in_initial_delay = true;
  group.facts.deadline_ms = kNow.monotonic_ms + 3 * kSecond;
  EXPECT_THAT(explain(group), ElementsAre("The group is new: it waits 3 s more for others before its first rebalance "
                                          "(group.initial.rebalance.delay.ms); 1 member is here."));
}

TEST(ExplainGroup, AMemberThatDoesNotJoinAgainIsNamedWithWhatIsKnownOfIt) {
  auto group = standing(GroupState::preparing_rebalance, {member("X", 22 * kSecond), member("Y"), member("Z")});
  group.facts.members[1].waits_in_join = group.facts.members[2].waits_in_join = true;
  group.facts.deadline_ms = kNow.monotonic_ms + 48 * kSecond;
  group.facts.rebalances = {{kNow.monotonic_ms - 12 * kSecond, "new member Z"}};
  EXPECT_THAT(
      explain(group),
      ElementsAre("The group waits for 1 of 3 members to join again (member X, client c at /127.0.0.1, last heard "
                  "of 22 s ago); it goes on without it in 48 s at the latest.",
                  "Nothing has come from member X since the rebalance began 12 s ago: it hangs, is stopped, or "
                  "cannot reach this broker; its session ends in 8 s.",
                  "It last rebalanced 12 s ago: new member Z."));
  group.facts.members[0].heard_ms = kNow.monotonic_ms - 2 * kSecond;
  EXPECT_EQ(
      explain(group)[1],
      "Member X has heartbeat since the rebalance began and does not join: its application is busy with records and "
      "does not poll.");
  group.facts.members[0].heard_ms = -1;
  EXPECT_THAT(explain(group)[0], HasSubstr("not heard of since the broker started"));
  group.facts.members[0].instance_id = "I";
  EXPECT_THAT(explain(group)[0],
              AllOf(HasSubstr("member X (static I)"),
                    HasSubstr("it goes on and keeps the places of static members in 48 s at the latest")));
}

TEST(ExplainGroup, OfManyMissingMembersThreeAreNamed) {
  auto group =
      standing(GroupState::preparing_rebalance, {member("A"), member("B"), member("C"), member("D"), member("E")});
  group.facts.deadline_ms = kNow.monotonic_ms + kSecond;
  const auto told = explain(group);
  EXPECT_THAT(told[0], AllOf(StartsWith("The group waits for 5 of 5 members"), HasSubstr("member C,"),
                             Not(HasSubstr("member D,")),
                             HasSubstr("; and 2 more); it goes on without them in 1 s at the latest.")));
  EXPECT_EQ(told.size(), 4U);
}

TEST(ExplainGroup, AllAreBackButAClientThatWasGivenAnIdIsAwaited) {
  auto group = standing(GroupState::preparing_rebalance, {member("X")});
  group.facts.members[0].waits_in_join = true;
  group.facts.pending_members = 2;
  group.facts.deadline_ms = kNow.monotonic_ms + 5 * kSecond;
  EXPECT_THAT(
      explain(group),
      ElementsAre("The group rebalances since 5 min: all its members have joined again, and it waits for a new one; "
                  "it goes on in 5 s.",
                  "2 clients were given a member id and did not come back with it yet."));
}

TEST(ExplainGroup, ALeaderThatDoesNotSendItsAssignments) {
  auto group = standing(GroupState::completing_rebalance, {member("X", 40 * kSecond), member("Y")});
  group.facts.leader = "X";
  group.facts.deadline_ms = kNow.monotonic_ms + 20 * kSecond;
  EXPECT_THAT(
      explain(group),
      ElementsAre("The group waits since 5 min for the assignments of its leader (member X, client c at "
                  "/127.0.0.1, last heard of 40 s ago); without them it rebalances again in 20 s at the latest."));
  group.facts.writes_assignments = true;
  EXPECT_THAT(explain(group),
              ElementsAre("The group rebalances: the assignments of its leader X are being written to the log."));
}

TEST(ExplainGroup, AStableGroupWithASilentMemberAndOneWithoutPartitions) {
  auto group = reading({partition(0, 1000)});
  group.facts.members.push_back(member("Y", 20 * kSecond));
  EXPECT_THAT(explain(group), ElementsAre("The group is stable since 5 min, generation 7, with 2 members.",
                                          "Member Y was last heard of 20 s ago; its session ends in 10 s.",
                                          "1 of 2 members has no partition.", "Everything is read."));
}

TEST(ExplainGroup, AGroupOfAnotherProtocolKeepsItsAssignmentsToItself) {
  auto group = standing(GroupState::stable, {member("X")});
  group.facts.protocol_type = "connect";
  group.topics = {{"t", true, false, {partition(0, 400, -1)}}};
  EXPECT_THAT(explain(group), ElementsAre("The group is stable since 5 min, generation 7, with 1 member.",
                                          "Its protocol is 'connect': who reads which partition is not known here.",
                                          "600 records wait in 1 partition."));
}

// --- partitions ---

TEST(ExplainGroup, APartitionMovesAsLongAsItsOffsetChanges) {
  const auto told = explain(reading({partition(3, 400)}));
  EXPECT_THAT(told, Contains("Partition t-3 moves: its offset changed 2 s ago; 600 records wait."));
  EXPECT_EQ(told.back(), "600 records wait in 1 partition.");
}

TEST(ExplainGroup, AMemberThatHeartbeatsAndDoesNotCommit) {
  auto part = partition(3, 400);
  part.commit_age_ms = part.still_ms = 300 * kSecond;
  auto group = reading({part});
  EXPECT_THAT(explain(group), Contains("Partition t-3 does not move: its member X heartbeats, but the last commit is "
                                       "5 min old while 600 records wait."));
  group.facts.members[0].heard_ms = -1;
  EXPECT_THAT(explain(group), Contains(HasSubstr("its member X is in the group, but the last commit")));
}

TEST(ExplainGroup, AMemberThatCommitsTheSameOffsetAgainAndAgain) {
  auto part = partition(3, 400);
  part.still_ms = 300 * kSecond;
  EXPECT_THAT(
      explain(reading({part})),
      Contains("Partition t-3 does not move: its member X commits, but offset 400 has been the same for 5 min while "
               "600 records wait; it is paused, or stuck at one record."));
}

TEST(ExplainGroup, ACommitBelowTheLogStart) {
  EXPECT_THAT(
      explain(reading({partition(0, 50)})),
      Contains("The committed offset 50 of t-0 lies below the log start 100: those records are gone; a consumer goes "
               "on where auto.offset.reset says."));
  EXPECT_THAT(explain(reading({partition(0, 100)})), Not(Contains(HasSubstr("log start")))) << "at the start";
}

TEST(ExplainGroup, ACommitBeyondTheEnd) {
  const auto told = explain(reading({partition(0, 1001)}));
  EXPECT_THAT(told,
              Contains("The committed offset 1001 of t-0 lies beyond the end 1000 of the partition, so what it has "
                       "read is unknown; a consumer goes on where auto.offset.reset says."));
  EXPECT_THAT(told, Not(Contains("Everything is read.")));
}

TEST(ExplainGroup, APartitionWithoutACommit) {
  const auto told = explain(reading({partition(0, -1)}));
  EXPECT_THAT(told,
              Contains("Partition t-0 has no commit: its member X has not committed; whoever starts there begins where "
                       "auto.offset.reset says."));
  EXPECT_THAT(told, Not(Contains("Everything is read.")));
  auto idle = standing(GroupState::empty);
  idle.topics = {{"t", true, false, {partition(0, -1, -1)}}};
  EXPECT_THAT(explain(idle), Contains(StartsWith("Partition t-0 has no commit: nobody committed;")));
  auto bare = partition(0, -1);
  bare.high_watermark = bare.log_start;
  EXPECT_THAT(explain(reading({bare})), Contains("Everything is read.")) << "there is nothing to read";
}

TEST(ExplainGroup, APartitionThatIsAssignedToNobody) {
  EXPECT_THAT(explain(reading({partition(0, 1000), partition(1, 400, -1)})),
              AllOf(Contains("Partition t-1 is assigned to nobody."), Contains("600 records wait in 1 partition.")));
  auto group = standing(GroupState::preparing_rebalance, {member("X")});
  group.facts.members[0].waits_in_join = true;
  group.topics = {{"t", true, true, {partition(1, 400, -1)}}};
  EXPECT_THAT(explain(group), Not(Contains(HasSubstr("nobody")))) << "it is being assigned";
}

TEST(ExplainGroup, TopicsThatAreNotThereAndTopicsThatNobodyWants) {
  auto group = reading({partition(0, 1000)});
  group.topics.push_back({"gone", false, false, {{.partition = 0, .committed = 5}}});
  group.topics.push_back({"missing", false, true, {}});
  group.topics.push_back({"unwanted", true, false, {partition(0, 400, -1)}});
  group.topics[0].partitions.push_back({.partition = 9, .committed = 5});
  EXPECT_THAT(
      explain(group),
      ElementsAre("The group is stable since 5 min, generation 7, with 1 member.",
                  "Topic gone does not exist any more: what was committed for it says nothing.",
                  "Topic missing is subscribed but does not exist.", "Partition t-9 does not exist.",
                  "Topic unwanted has commits, but no member subscribes to it.", "600 records wait in 1 partition."));
}

TEST(ExplainGroup, OfManyPartitionsWithOneCauseTheWorstAreToldAndTheOthersNamed) {
  std::vector<PartitionStanding> partitions;
  for (std::int32_t i = 0; i < 12; ++i) {
    partitions.push_back(partition(i, 900 - i));
  }
  const auto told = explain(reading(partitions));
  EXPECT_THAT(told, ElementsAre(StartsWith("The group is stable"), StartsWith("Partition t-11 moves"),
                                StartsWith("Partition t-10 moves"), StartsWith("Partition t-9 moves"),
                                "The same holds for 9 more partitions: t-8, t-7, t-6, t-5, t-4 and so on.",
                                "1,266 records wait in 12 partitions."));
}

// --- rebalances ---

TEST(ExplainGroup, RebalancesOfTheLastMinutesAreCounted) {
  auto group = reading({partition(0, 1000)});
  group.facts.rebalances = {{kNow.monotonic_ms - 301 * kSecond, "a"},
                            {kNow.monotonic_ms - 200 * kSecond, "b"},
                            {kNow.monotonic_ms - 100 * kSecond, "left: X"}};
  EXPECT_THAT(explain(group), Contains("It last rebalanced 100 s ago: left: X."));
  group.facts.rebalances.push_back({kNow.monotonic_ms - 10 * kSecond, "new member Y"});
  EXPECT_THAT(explain(group), Contains("It has rebalanced 3 times in 5 min; the last time 10 s ago: new member Y."));
  group.facts.rebalances.assign(kRebalancesKept, {kNow.monotonic_ms, "again"});
  EXPECT_THAT(explain(group), Contains(StartsWith("It has rebalanced at least 16 times in 5 min;")));
}

// --- words ---

TEST(ExplainGroup, WhatAClientCallsItselfFitsOneLine) {
  auto group = standing(GroupState::completing_rebalance, {member("X")});
  group.facts.leader = "X";
  group.facts.members[0].client_id = "evil\n\x1b[2J" + std::string(119, 'x') + "é" + std::string(5000, 'y');
  group.facts.members[0].client_host = std::string(118, 'h') + "ééé";
  const auto told = explain(group).front();
  EXPECT_THAT(told, HasSubstr("client evil??[2J"));
  EXPECT_LT(told.size(), 600U);
  EXPECT_THAT(told, HasSubstr("hhé..., last heard")) << "not cut inside a character";
}

TEST(ExplainGroup, DurationsAndCountsAreEasyToRead) {
  EXPECT_EQ(duration_text(-5), "0 s");
  EXPECT_EQ(duration_text(1'499), "1 s");
  EXPECT_EQ(duration_text(119'499), "119 s");
  EXPECT_EQ(duration_text(120'000), "2 min");
  EXPECT_EQ(duration_text(7'199'999), "119 min");
  EXPECT_EQ(duration_text(7'200'000), "2 h");
  EXPECT_EQ(duration_text(48LL * 3'600'000), "2 days");
  EXPECT_EQ(grouped_digits(0), "0");
  EXPECT_EQ(grouped_digits(999), "999");
  EXPECT_EQ(grouped_digits(1'000), "1,000");
  EXPECT_EQ(grouped_digits(-123'456), "-123,456");
  EXPECT_EQ(grouped_digits(INT64_MAX), "9,223,372,036,854,775,807");
}

// --- the facts themselves, as a shard tells them ---

TEST(InspectedGroup, TellsWhoIsMissingInARebalanceAndWhoWasHeardOf) {
  ShardUnderTest test;
  auto request = join_request("g");
  request.member_id_required = false;
  const auto first = test.join_async(request);
  EXPECT_TRUE(test.shard().inspect("g").facts.in_initial_delay);
  EXPECT_EQ(test.shard().inspect("g").facts.deadline_ms, test.now.monotonic_ms + 3000);
  test.advance(3000);
  const auto joined = test.get<JoinAnswer>(first);
  auto facts = test.shard().inspect("g").facts;
  EXPECT_EQ(facts.state, GroupState::completing_rebalance);
  EXPECT_FALSE(facts.in_initial_delay);
  EXPECT_EQ(facts.leader, joined.member_id);
  EXPECT_EQ(facts.deadline_ms, test.now.monotonic_ms + 60'000);
  EXPECT_FALSE(facts.writes_assignments);
  EXPECT_EQ(facts.members.at(0).heard_ms, test.now.monotonic_ms - 3000);
  test.hold = true;
  const auto synced = test.sync_async(sync_request("g", joined.member_id, 1, {{joined.member_id, blob("a")}}));
  EXPECT_TRUE(test.shard().inspect("g").facts.writes_assignments);
  EXPECT_TRUE(test.shard().inspect("g").facts.members.at(0).waits_in_sync);
  test.hold = false;
  test.release();
  ASSERT_TRUE(test.answered(synced));
  test.advance(4000);
  EXPECT_EQ(test.heartbeat("g", joined.member_id, 1), ErrorCode::none);
  test.advance(1000);
  const auto second = test.join_async(request);
  facts = test.shard().inspect("g").facts;
  EXPECT_EQ(facts.state, GroupState::preparing_rebalance);
  EXPECT_FALSE(facts.in_initial_delay);
  EXPECT_EQ(facts.deadline_ms, test.now.monotonic_ms + 60'000);
  ASSERT_EQ(facts.members.size(), 2U);
  for (const auto& one : facts.members) {
    const bool is_first = one.member_id == joined.member_id;
    EXPECT_EQ(one.waits_in_join, !is_first);
    EXPECT_EQ(one.heard_ms, test.now.monotonic_ms - (is_first ? 1000 : 0));
  }
  ASSERT_EQ(facts.rebalances.size(), 2U);
  EXPECT_THAT(facts.rebalances[1].reason, StartsWith("new member probe-"));
  EXPECT_EQ(facts.rebalances[1].at_ms, test.now.monotonic_ms);
  test.advance(9'500);  // the first one's session ends
  EXPECT_TRUE(test.answered(second));
  facts = test.shard().inspect("g").facts;
  ASSERT_TRUE(facts.last_departure);
  EXPECT_EQ(facts.last_departure->member_id, joined.member_id);
}

TEST(InspectedGroup, KeepsTheNewestRebalancesOnlyAndNoLongReasons) {
  ShardUnderTest test;
  auto request = join_request("g");
  request.member_id_required = false;
  request.reason = std::string(20'000, 'r');
  for (std::size_t i = 0; i < kRebalancesKept + 5; ++i) {
    test.join_async(request);
    test.advance(3000);
    test.leave_async({"g", {{test.shard().inspect("g").facts.members.at(0).member_id, {}, request.reason}}});
  }
  const auto facts = test.shard().inspect("g").facts;
  EXPECT_EQ(facts.state, GroupState::empty);
  EXPECT_EQ(facts.rebalances.size(), kRebalancesKept);
  EXPECT_LE(facts.rebalances.back().reason.size(), 200U);
  EXPECT_LE(facts.last_departure->reason.size(), 200U);
}

TEST(InspectedGroup, TellsSinceWhenAnOffsetIsTheSameAlsoAfterARestart) {
  ShardUnderTest test;
  const auto first_ms = test.now.wall_ms;
  test.commit(commit_request("g", "", -1, 5));
  test.advance(10'000);
  test.commit(commit_request("g", "", -1, 5));
  const auto check = [&](std::int64_t offset, Millis changed_ms, Millis commit_ms) {
    const auto group = test.shard().inspect("g");
    ASSERT_EQ(group.offsets.size(), 1U);
    const auto& one = group.offsets[0].partitions.at(0);
    EXPECT_EQ(one.offset, offset);
    EXPECT_EQ(one.changed_ms, changed_ms);
    EXPECT_EQ(one.commit_ms, commit_ms);
  };
  check(5, first_ms, first_ms + 10'000);
  test.restart();
  check(5, first_ms, first_ms + 10'000);
  test.advance(10'000);
  test.commit(commit_request("g", "", -1, 6));
  check(6, first_ms + 20'000, first_ms + 20'000);
  test.refuse_appends = Errc::disk_full;
  test.advance(10'000);
  test.commit(commit_request("g", "", -1, 7));
  check(6, first_ms + 20'000, first_ms + 20'000);
}

TEST(InspectedGroup, AllGroupsComeOnceInTurnsOfAnySize) {
  ShardUnderTest test;
  for (int i = 0; i < 20; ++i) {
    test.commit(commit_request("group-" + std::to_string(i), "", -1, i));
  }
  for (const std::size_t turn : {1U, 2U, 7U, 1000U}) {
    std::vector<std::string> seen;
    std::string after;
    for (auto some = test.shard().inspect_some(after, turn); !some.empty();
         some = test.shard().inspect_some(after, turn)) {
      for (const auto& group : some) {
        seen.push_back(group.group_id);
        EXPECT_EQ(group.offsets.at(0).partitions.size(), 1U);
      }
      after = seen.back();
    }
    EXPECT_EQ(seen.size(), 20U);
    EXPECT_TRUE(std::ranges::is_sorted(seen));
  }
}

}  // namespace
}  // namespace weir::group
