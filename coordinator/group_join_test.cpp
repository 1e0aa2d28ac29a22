#include <gtest/gtest.h>

#include "coordinator/group_testing.hpp"

namespace weir::group {
namespace {

constexpr Millis kPause = 3'000;  // before the first rebalance

// A dynamic member that has come in: its id was asked for and the first rebalance is over.
JoinAnswer first_member(ShardUnderTest& test, const std::string& group = "g") {
  const auto id = test.join(join_request(group)).member_id;
  const auto ticket = test.join_async(join_request(group, id));
  test.advance(kPause);
  return test.get<JoinAnswer>(ticket);
}

// The only member of a stable group.
JoinAnswer stable_member(ShardUnderTest& test, const std::string& group = "g") {
  auto joined = first_member(test, group);
  const auto synced =
      test.sync(sync_request(group, joined.member_id, joined.generation, {{joined.member_id, blob("abc")}}));
  EXPECT_EQ(synced.error, ErrorCode::none);
  return joined;
}

JoinAnswer stable_static_member(ShardUnderTest& test, const std::string& instance, const std::string& group = "g") {
  auto request = join_request(group);
  request.instance_id = instance;
  const auto ticket = test.join_async(request);
  test.advance(kPause);
  auto joined = test.get<JoinAnswer>(ticket);
  auto sync = sync_request(group, joined.member_id, joined.generation, {{joined.member_id, blob("abc")}});
  sync.instance_id = instance;
  EXPECT_EQ(test.sync(sync).error, ErrorCode::none);
  return joined;
}

TEST(GroupJoin, ADynamicMemberFirstGetsAnIdAndThenWaitsForTheFirstRebalance) {
  ShardUnderTest test;
  const auto asked = test.join(join_request("g"));
  EXPECT_EQ(asked.error, ErrorCode::member_id_required);
  EXPECT_EQ(asked.generation, -1);
  EXPECT_TRUE(asked.member_id.starts_with("probe-"));
  EXPECT_EQ(asked.member_id.size(), std::string("probe-").size() + 36);

  const auto ticket = test.join_async(join_request("g", asked.member_id));
  test.advance(kPause - 1);
  EXPECT_FALSE(test.answered(ticket));
  test.advance(1);
  const auto joined = test.get<JoinAnswer>(ticket);
  EXPECT_EQ(joined.error, ErrorCode::none);
  EXPECT_EQ(joined.generation, 1);
  EXPECT_EQ(joined.protocol_type, "consumer");
  EXPECT_EQ(joined.protocol_name, "range");
  EXPECT_EQ(joined.leader, asked.member_id);
  EXPECT_EQ(joined.member_id, asked.member_id);
  ASSERT_EQ(joined.members.size(), 1U);
  EXPECT_EQ(text_of(joined.members[0].metadata), text_of(subscription({"t"})));
}

TEST(GroupJoin, AnOldClientIsLetInAtOnce) {
  ShardUnderTest test;
  auto request = join_request("g");
  request.member_id_required = false;
  const auto ticket = test.join_async(request);
  EXPECT_FALSE(test.answered(ticket));
  test.advance(kPause);
  EXPECT_EQ(test.get<JoinAnswer>(ticket).generation, 1);
}

TEST(GroupJoin, TheIdOfANewGroupsFirstMemberLeavesWhenTheGroupsRecordIsDurable) {
  ShardUnderTest test;
  test.hold = true;
  const auto ticket = test.join_async(join_request("g"));
  EXPECT_FALSE(test.answered(ticket));
  test.release();
  EXPECT_EQ(test.get<JoinAnswer>(ticket).error, ErrorCode::member_id_required);
  ASSERT_EQ(test.log.size(), 1U);
  const auto parsed = parse_record(test.log.at(0).key, Bytes{*test.log.at(0).value});
  const auto& record = std::get<GroupRecord>(*parsed);
  EXPECT_EQ(record.value->generation, 0);
  EXPECT_EQ(record.value->protocol_type, "");
  EXPECT_FALSE(record.value->protocol.has_value());
  EXPECT_EQ(record.value->state_since_ms, test.now.wall_ms);
}

TEST(GroupJoin, AGroupWhoseFirstRecordIsRefusedNeverWas) {
  ShardUnderTest test;
  test.refuse_appends = Errc::disk_full;
  auto request = join_request("g");
  request.member_id_required = false;
  EXPECT_EQ(test.join(request).error, ErrorCode::coordinator_not_available) << "who waited in JoinGroup is told";
  EXPECT_FALSE(test.shard().describe("g").found);
  test.refuse_appends.reset();
  EXPECT_EQ(first_member(test).generation, 1);
}

TEST(GroupJoin, RefusesWhatKafkaRefuses) {
  ShardUnderTest test;
  auto request = join_request("");
  EXPECT_EQ(test.join(request).error, ErrorCode::invalid_group_id);
  request = join_request("g");
  request.session_timeout_ms = 5'999;
  EXPECT_EQ(test.join(request).error, ErrorCode::invalid_session_timeout);
  request.session_timeout_ms = 1'800'001;
  EXPECT_EQ(test.join(request).error, ErrorCode::invalid_session_timeout);
  request = join_request("g", "zzz");
  EXPECT_EQ(test.join(request).error, ErrorCode::unknown_member_id);
  EXPECT_EQ(test.join(request).member_id, "zzz");
  EXPECT_FALSE(test.shard().describe("g").found) << "none of these makes a group";
  EXPECT_TRUE(test.log.empty());
  request = join_request("g");
  request.protocols.clear();
  EXPECT_EQ(test.join(request).error, ErrorCode::inconsistent_group_protocol);
  request = join_request("g");
  request.protocol_type = "";
  EXPECT_EQ(test.join(request).error, ErrorCode::inconsistent_group_protocol);

  const auto joined = stable_member(test);
  EXPECT_EQ(test.join(join_request("g", "zzz")).error, ErrorCode::unknown_member_id);
  request = join_request("g");
  request.protocol_type = "connect";
  EXPECT_EQ(test.join(request).error, ErrorCode::inconsistent_group_protocol);
  request = join_request("g");
  request.protocols = {{"roundrobin", blob("")}};
  EXPECT_EQ(test.join(request).error, ErrorCode::inconsistent_group_protocol);
  EXPECT_EQ(test.join(request).member_id, "");
  request = join_request("g", joined.member_id);
  request.protocols.clear();
  EXPECT_EQ(test.join(request).member_id, joined.member_id) << "the id is echoed";
}

TEST(GroupJoin, AFirstJoinThatIsNotLetInLeavesAnEmptyGroupUntilTheNextExpiryCheckAsInKafka) {
  ShardUnderTest test;
  auto request = join_request("g");
  request.protocols.clear();
  test.hold = true;
  const auto ticket = test.join_async(request);
  EXPECT_FALSE(test.answered(ticket)) << "the group's record is not durable yet";
  test.release();
  test.hold = false;
  EXPECT_EQ(test.get<JoinAnswer>(ticket).error, ErrorCode::inconsistent_group_protocol);
  test.restart();
  EXPECT_EQ(test.shard().describe("g").state, GroupState::empty);
  EXPECT_EQ(test.get<DeleteGroupAnswer>(test.delete_group_async("g")).error, ErrorCode::none);
  test.join(request);
  test.advance(test.config.offsets_retention_check_ms);
  EXPECT_EQ(test.shard().group_count(), 0U);
}

TEST(GroupJoin, SessionTimeoutsOnTheirBoundsAreFine) {
  ShardUnderTest test;
  auto request = join_request("g");
  request.session_timeout_ms = 6'000;
  EXPECT_EQ(test.join(request).error, ErrorCode::member_id_required);
  request.session_timeout_ms = 1'800'000;
  EXPECT_EQ(test.join(request).error, ErrorCode::member_id_required);
}

TEST(GroupJoin, ASecondMemberMakesTheFirstRejoin) {
  ShardUnderTest test;
  const auto one = stable_member(test);
  const auto two = test.join(join_request("g")).member_id;
  EXPECT_EQ(test.heartbeat("g", one.member_id, 1), ErrorCode::none) << "an id alone moves nothing";
  const auto second = test.join_async(join_request("g", two));
  EXPECT_EQ(test.heartbeat("g", one.member_id, 1), ErrorCode::rebalance_in_progress);
  EXPECT_FALSE(test.answered(second));
  const auto first = test.join_async(join_request("g", one.member_id));
  ASSERT_TRUE(test.answered(first) && test.answered(second)) << "all are there, so nobody waits longer";
  EXPECT_EQ(test.get<JoinAnswer>(first).generation, 2);
  EXPECT_EQ(test.get<JoinAnswer>(first).members.size(), 2U) << "the leader hears of all";
  EXPECT_EQ(test.get<JoinAnswer>(second).leader, one.member_id);
  EXPECT_TRUE(test.get<JoinAnswer>(second).members.empty());
}

TEST(GroupJoin, ThePauseGrowsWithEachNewMemberUpToTheRebalanceTimeout) {
  ShardUnderTest test;
  auto request = join_request("g");
  request.member_id_required = false;
  request.rebalance_timeout_ms = 8'000;
  std::vector<Ticket> tickets{test.join_async(request)};
  test.advance(2'000);
  tickets.push_back(test.join_async(request));
  test.advance(2'000);  // 4 s: the first pause ended at 3 s and was prolonged to 6 s
  EXPECT_FALSE(test.answered(tickets[0]));
  tickets.push_back(test.join_async(request));
  test.advance(2'000);  // 6 s: prolonged once more, but only by what the timeout leaves
  EXPECT_FALSE(test.answered(tickets[0]));
  tickets.push_back(test.join_async(request));
  test.advance(2'000);  // 8 s
  for (const auto ticket : tickets) {
    EXPECT_EQ(test.get<JoinAnswer>(ticket).generation, 1);
  }
}

TEST(GroupJoin, MembersThatDoNotRejoinInTheRebalanceTimeoutAreLeftBehind) {
  ShardUnderTest test;
  const auto one = stable_member(test);
  const auto two = test.join(join_request("g")).member_id;
  const auto ticket = test.join_async(join_request("g", two));
  for (int i = 0; i < 12; ++i) {  // it heartbeats, so only the rebalance timeout can end its part
    EXPECT_FALSE(test.answered(ticket));
    EXPECT_EQ(test.heartbeat("g", one.member_id, 1), ErrorCode::rebalance_in_progress);
    test.advance(5'000);
  }
  const auto joined = test.get<JoinAnswer>(ticket);
  EXPECT_EQ(joined.leader, two);
  EXPECT_EQ(joined.members.size(), 1U);
  EXPECT_EQ(test.heartbeat("g", one.member_id, 2), ErrorCode::unknown_member_id);
}

TEST(GroupJoin, APendingMemberThatNeverComesDoesNotHoldARebalanceForEver) {
  ShardUnderTest test;
  const auto one = stable_member(test);
  EXPECT_EQ(test.join(join_request("g")).error, ErrorCode::member_id_required);
  const auto ticket = test.join_async(join_request("g", one.member_id));  // the leader rejoins: a rebalance
  EXPECT_FALSE(test.answered(ticket));
  test.advance(9'999);
  EXPECT_FALSE(test.answered(ticket));
  test.advance(1);  // the session timeout of the pending member
  EXPECT_EQ(test.get<JoinAnswer>(ticket).generation, 2);
}

TEST(GroupJoin, AFollowerThatAsksAgainUnchangedHearsTheSameGeneration) {
  ShardUnderTest test;
  auto request = join_request("g");
  request.member_id_required = false;
  const auto a = test.join_async(request);
  const auto b = test.join_async(request);
  test.advance(2 * kPause);
  auto leader = test.get<JoinAnswer>(a);
  auto follower = test.get<JoinAnswer>(b);
  if (follower.member_id == follower.leader) {
    std::swap(leader, follower);
  }
  auto again = test.join(join_request("g", follower.member_id));
  EXPECT_EQ(again.generation, 1) << "while the group waits for the leader's SyncGroup";
  again = test.join(join_request("g", leader.member_id));
  EXPECT_EQ(again.members.size(), 2U) << "the leader too: its first answer may be lost";
  EXPECT_EQ(test.sync(sync_request("g", leader.member_id, 1)).error, ErrorCode::none);
  again = test.join(join_request("g", follower.member_id));
  EXPECT_EQ(again.error, ErrorCode::none);
  EXPECT_EQ(again.generation, 1) << "and in a stable group";
  EXPECT_FALSE(test.answered(test.join_async(join_request("g", leader.member_id)))) << "a leader that asks rebalances";
  EXPECT_EQ(test.heartbeat("g", follower.member_id, 1), ErrorCode::rebalance_in_progress);
}

TEST(GroupJoin, AFollowerWithOtherMetadataCausesARebalance) {
  ShardUnderTest test;
  auto request = join_request("g");
  request.member_id_required = false;
  const auto a = test.get<JoinAnswer>([&] {
    const auto ticket = test.join_async(request);
    test.join_async(request);
    test.advance(2 * kPause);
    return ticket;
  }());
  EXPECT_EQ(test.sync(sync_request("g", a.leader, 1)).error, ErrorCode::none);
  const auto facts = test.shard().describe("g");
  const auto follower = facts.members[facts.members[0].member_id == a.leader ? 1 : 0].member_id;
  auto changed = join_request("g", follower);
  changed.protocols[0].metadata = subscription({"other"});
  EXPECT_FALSE(test.answered(test.join_async(changed)));
  EXPECT_EQ(test.shard().describe("g").state, GroupState::preparing_rebalance);
}

TEST(GroupJoin, ProtocolsAreChosenByVotesAmongThoseThatAllHave) {
  ShardUnderTest test;
  const auto with = [&](std::vector<std::string> names) {
    auto request = join_request("g");
    request.member_id_required = false;
    request.protocols.clear();
    for (auto& name : names) {
      request.protocols.push_back({name, subscription({"t"})});
    }
    return test.join_async(request);
  };
  const auto a = with({"only-mine", "sticky", "range"});
  with({"sticky", "range"});
  with({"range", "sticky"});
  test.advance(60'000);
  EXPECT_EQ(test.get<JoinAnswer>(a).protocol_name, "sticky");
}

TEST(GroupJoin, AFullGroupRefusesNewMembersAndKeepsItsOwn) {
  ShardUnderTest test{{.group_size_max = 1}};
  const auto one = stable_member(test);
  EXPECT_EQ(test.join(join_request("g")).error, ErrorCode::group_max_size_reached);
  EXPECT_EQ(test.join(join_request("g")).member_id, "");
  EXPECT_EQ(test.join(join_request("g", one.member_id)).generation, 2);
}

TEST(GroupJoin, OfTwoPendingMembersOnlyOneFitsIntoAGroupOfOne) {
  ShardUnderTest test{{.group_size_max = 1}};
  const auto one = test.join(join_request("g")).member_id;
  const auto two = test.join(join_request("g")).member_id;
  const auto ticket = test.join_async(join_request("g", one));
  EXPECT_EQ(test.join(join_request("g", two)).error, ErrorCode::group_max_size_reached);
  test.advance(kPause);
  EXPECT_EQ(test.get<JoinAnswer>(ticket).generation, 1);
}

TEST(GroupJoin, AnOlderJoinOfTheSameMemberIsAnswered) {
  ShardUnderTest test;
  const auto id = test.join(join_request("g")).member_id;
  const auto old = test.join_async(join_request("g", id));
  const auto young = test.join_async(join_request("g", id));
  EXPECT_EQ(test.get<JoinAnswer>(old).error, ErrorCode::rebalance_in_progress);
  test.advance(kPause);
  EXPECT_EQ(test.get<JoinAnswer>(young).generation, 1);
}

TEST(GroupJoin, ANewMemberThatWaitsLongerThanFiveMinutesMustAskAgain) {
  ShardUnderTest test;
  const auto one = stable_member(test);
  auto request = join_request("g", test.join(join_request("g")).member_id);
  request.rebalance_timeout_ms = 600'000;
  const auto ticket = test.join_async(request);
  for (int i = 0; i < 60; ++i) {
    EXPECT_FALSE(test.answered(ticket));
    EXPECT_EQ(test.heartbeat("g", one.member_id, 1), ErrorCode::rebalance_in_progress);
    test.advance(5'000);
  }
  EXPECT_EQ(test.get<JoinAnswer>(ticket).error, ErrorCode::unknown_member_id);
}

// --- static members ---

TEST(GroupStatic, IsLetInAtOnceUnderItsInstanceName) {
  ShardUnderTest test;
  const auto joined = stable_static_member(test, "i1");
  EXPECT_TRUE(joined.member_id.starts_with("i1-"));
  EXPECT_EQ(joined.generation, 1);
  EXPECT_FALSE(joined.skip_assignment);
}

TEST(GroupStatic, ComesBackIntoTheSameGenerationAndFencesItsOldSelf) {
  ShardUnderTest test;
  const auto old = stable_static_member(test, "i1");
  auto request = join_request("g");
  request.instance_id = "i1";
  request.can_skip_assignment = true;
  const auto back = test.join(request);
  EXPECT_EQ(back.error, ErrorCode::none);
  EXPECT_EQ(back.generation, old.generation);
  EXPECT_NE(back.member_id, old.member_id);
  EXPECT_EQ(back.leader, back.member_id);
  EXPECT_TRUE(back.skip_assignment);
  EXPECT_EQ(back.members.size(), 1U);

  EXPECT_EQ(test.heartbeat("g", old.member_id, 1, "i1"), ErrorCode::fenced_instance_id);
  EXPECT_EQ(test.heartbeat("g", old.member_id, 1), ErrorCode::unknown_member_id);
  EXPECT_EQ(test.heartbeat("g", back.member_id, 1, "i9"), ErrorCode::unknown_member_id);
  EXPECT_EQ(test.heartbeat("g", back.member_id, 1, "i1"), ErrorCode::none);
  auto commit = commit_request("g", old.member_id, 1);
  commit.sender.instance_id = "i1";
  EXPECT_EQ(test.commit(commit).partitions[0], ErrorCode::fenced_instance_id);
  EXPECT_EQ(text_of(test.sync(sync_request("g", back.member_id, 1)).assignment), "abc") << "the assignment stays";
}

TEST(GroupStatic, AnOlderClientHearsTheLeaderItReplacedSoThatItDoesNotAssign) {
  ShardUnderTest test;
  const auto old = stable_static_member(test, "i1");
  auto request = join_request("g");
  request.instance_id = "i1";
  const auto back = test.join(request);
  EXPECT_EQ(back.leader, old.member_id);
  EXPECT_TRUE(back.members.empty());
  EXPECT_FALSE(back.skip_assignment);
}

TEST(GroupStatic, ARefusedRecordGivesTheOldMemberItsPlaceBack) {
  ShardUnderTest test;
  const auto old = stable_static_member(test, "i1");
  auto request = join_request("g");
  request.instance_id = "i1";
  test.refuse_appends = Errc::read_only;
  EXPECT_EQ(test.join(request).error, ErrorCode::not_coordinator);
  test.refuse_appends.reset();
  EXPECT_EQ(test.heartbeat("g", old.member_id, 1, "i1"), ErrorCode::none);
  EXPECT_EQ(text_of(test.sync(sync_request("g", old.member_id, 1)).assignment), "abc");
}

TEST(GroupStatic, AnAnswerForTheNewIdLeavesWhenItsRecordIsDurableAndSurvivesARestart) {
  ShardUnderTest test;
  stable_static_member(test, "i1");
  auto request = join_request("g");
  request.instance_id = "i1";
  test.hold = true;
  const auto ticket = test.join_async(request);
  EXPECT_FALSE(test.answered(ticket));
  test.release();
  const auto back = test.get<JoinAnswer>(ticket);
  test.hold = false;
  test.restart();
  EXPECT_EQ(test.heartbeat("g", back.member_id, 1, "i1"), ErrorCode::none);
}

TEST(GroupStatic, TwoProcessesOfOneInstanceTheLaterWinsEvenWhileTheFirstWaits) {
  ShardUnderTest test;
  stable_static_member(test, "i1");
  auto request = join_request("g");
  request.instance_id = "i1";
  test.hold = true;
  const auto first = test.join_async(request);
  const auto second = test.join_async(request);
  EXPECT_EQ(test.get<JoinAnswer>(first).error, ErrorCode::fenced_instance_id);
  test.release();
  test.release();
  EXPECT_EQ(test.get<JoinAnswer>(second).error, ErrorCode::none);
}

TEST(GroupStatic, WhileTheLeaderAssignsAReturnCausesANewRebalance) {
  ShardUnderTest test;
  auto request = join_request("g");
  request.instance_id = "i1";
  const auto first = test.join_async(request);
  test.advance(kPause);
  EXPECT_EQ(test.get<JoinAnswer>(first).generation, 1);
  const auto back = test.join(request);
  EXPECT_EQ(back.generation, 2) << "it alone is the group, so the rebalance ends at once";
}

TEST(GroupStatic, AChangeOfTheGroupsProtocolCausesARebalance) {
  ShardUnderTest test;
  stable_static_member(test, "i1");
  auto request = join_request("g");
  request.instance_id = "i1";
  request.protocols.insert(request.protocols.begin(), {"sticky", subscription({"t"})});
  const auto back = test.join(request);
  EXPECT_EQ(back.generation, 2);
  EXPECT_EQ(back.protocol_name, "sticky");
}

TEST(GroupStatic, OneThatCameBackUnderANewIdAndFallsSilentIsOutAfterItsSession) {
  ShardUnderTest test;
  stable_static_member(test, "i1");
  test.advance(3'000);
  auto request = join_request("g");
  request.instance_id = "i1";
  const auto back = test.join(request);
  ASSERT_EQ(back.error, ErrorCode::none);
  test.advance(9'999);
  EXPECT_EQ(test.shard().inspect("g").facts.members.size(), 1U);
  test.advance(1);
  EXPECT_EQ(test.shard().inspect("g").facts.members.size(), 0U);
  EXPECT_EQ(test.heartbeat("g", back.member_id, 1, "i1"), ErrorCode::unknown_member_id);
}

TEST(GroupStatic, KeepsItsPlaceThroughARebalanceUntilItsSessionEnds) {
  ShardUnderTest test;
  const auto fixed = stable_static_member(test, "i1");
  const auto id = test.join(join_request("g")).member_id;
  auto request = join_request("g", id);
  request.rebalance_timeout_ms = 4'000;
  const auto ticket = test.join_async(request);
  test.advance(9'999);
  EXPECT_FALSE(test.answered(ticket)) << "the static member's rebalance timeout is 60 s";
  test.advance(1);  // its session
  EXPECT_EQ(test.get<JoinAnswer>(ticket).members.size(), 1U);
  EXPECT_EQ(test.heartbeat("g", fixed.member_id, 1, "i1"), ErrorCode::unknown_member_id);
}

}  // namespace
}  // namespace weir::group
