#include <gtest/gtest.h>

#include <limits>

#include "coordinator/group_testing.hpp"

namespace weir::group {
namespace {

constexpr Millis kDay = 86'400'000;

// The only member of the stable group "g", which reads topic "t".
JoinAnswer stable_member(ShardUnderTest& test) {
  auto request = join_request("g");
  request.member_id_required = false;
  request.session_timeout_ms = 1'800'000;
  const auto ticket = test.join_async(request);
  test.advance(3'000);
  auto joined = test.get<JoinAnswer>(ticket);
  EXPECT_EQ(test.sync(sync_request("g", joined.member_id, 1)).error, ErrorCode::none);
  return joined;
}

TEST(OffsetCommit, FollowsKafkasRulesOfWhoMayCommit) {
  ShardUnderTest test;
  const auto one = stable_member(test);
  EXPECT_EQ(test.commit(commit_request("g", one.member_id, 1)).partitions[0], ErrorCode::none);
  EXPECT_EQ(test.commit(commit_request("g", one.member_id, 2)).partitions[0], ErrorCode::illegal_generation);
  EXPECT_EQ(test.commit(commit_request("g", "", -1)).partitions[0], ErrorCode::unknown_member_id);
  EXPECT_EQ(test.commit(commit_request("g", "zzz", 1)).partitions[0], ErrorCode::unknown_member_id);
  EXPECT_EQ(test.commit(commit_request("s", "", -1)).partitions[0], ErrorCode::none) << "a new group of its own";
  EXPECT_EQ(test.commit(commit_request("", "", -1)).partitions[0], ErrorCode::none) << "even without a name";
  auto request = commit_request("new", "a", 1);
  EXPECT_EQ(test.commit(request).partitions[0], ErrorCode::group_id_not_found);
  request.old_unknown_group_error = true;
  EXPECT_EQ(test.commit(request).partitions[0], ErrorCode::illegal_generation);
  EXPECT_FALSE(test.shard().describe("new").found);
  test.join_async(join_request("g", one.member_id));  // the leader asks for a rebalance and ends it alone
  EXPECT_EQ(test.commit(commit_request("g", one.member_id, 2)).partitions[0], ErrorCode::rebalance_in_progress);
}

TEST(OffsetCommit, JudgesEachPartitionByItself) {
  ShardUnderTest test;
  auto request = commit_request("s", "", -1);
  request.partitions.push_back({"t", {}, 1, 5, -1, std::string(4'097, 'x')});
  request.partitions.push_back({"t", {}, 2, -1, -1, std::string(4'096, 'x')});
  const auto answer = test.commit(request);
  EXPECT_EQ(answer.partitions, (std::vector{ErrorCode::none, ErrorCode::offset_metadata_too_large, ErrorCode::none}));
  const auto all = test.shard().fetch_all("s");
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].partitions.size(), 2U);
  EXPECT_EQ(all[0].partitions[1].offset, -1) << "a negative offset is a commit like any other";
}

// As Java counts: "u" with dots is one, a face is two. A real node's answers: compat_tests/probes, "lengths".
TEST(OffsetCommit, MetadataIsLimitedInUtf16UnitsAndNotInBytes) {
  ShardUnderTest test;
  const auto many = [](std::string_view text, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
      all += text;
    }
    return all;
  };
  auto request = commit_request("s", "", -1);
  request.partitions = {{"t", {}, 0, 5, -1, many("\xc3\xbc", 4'096)},
                        {"t", {}, 1, 5, -1, many("\xc3\xbc", 4'097)},
                        {"t", {}, 2, 5, -1, many("\xf0\x9f\x98\x80", 2'048)},
                        {"t", {}, 3, 5, -1, many("\xf0\x9f\x98\x80", 2'048) + "x"}};
  const auto too_large = ErrorCode::offset_metadata_too_large;
  EXPECT_EQ(test.commit(request).partitions, (std::vector{ErrorCode::none, too_large, ErrorCode::none, too_large}));
  test.restart();
  const auto all = test.shard().fetch_all("s");
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].partitions.size(), 2U);
  EXPECT_EQ(all[0].partitions[0].metadata, many("\xc3\xbc", 4'096));
}

TEST(OffsetCommit, IsSeenWhenItIsDurableAndNotBefore) {
  ShardUnderTest test;
  EXPECT_EQ(test.commit(commit_request("s", "", -1, 5)).partitions[0], ErrorCode::none);
  test.hold = true;
  const auto ticket = test.commit_async(commit_request("s", "", -1, 6));
  EXPECT_EQ(committed(test, "s"), 5);
  EXPECT_FALSE(test.answered(ticket));
  test.release();
  EXPECT_EQ(committed(test, "s"), 6);
  EXPECT_EQ(test.get<CommitAnswer>(ticket).partitions[0], ErrorCode::none);
}

TEST(OffsetCommit, ThatIsRefusedLeavesWhatWasThere) {
  ShardUnderTest test;
  test.commit_async(commit_request("s", "", -1, 5));
  test.refuse_appends = Errc::disk_full;
  EXPECT_EQ(test.commit(commit_request("s", "", -1, 6)).partitions[0], ErrorCode::coordinator_not_available);
  EXPECT_EQ(committed(test, "s"), 5);
  EXPECT_EQ(test.commit(commit_request("fresh", "", -1)).partitions[0], ErrorCode::coordinator_not_available);
  EXPECT_FALSE(test.shard().describe("fresh").found) << "a group that has nothing was never made";
}

TEST(OffsetCommit, WhileOneAppendIsUnderWayTheNextOnesShareOne) {
  ShardUnderTest test;
  test.hold = true;
  test.commit_async(commit_request("s", "", -1, 1));
  for (int i = 2; i <= 100; ++i) {
    test.commit_async(commit_request("s", "", -1, i));
  }
  test.release(Errc::disk_full);
  EXPECT_EQ(committed(test, "s"), -1);
  test.release();
  EXPECT_EQ(committed(test, "s"), 100);
  EXPECT_EQ(test.appends, 2);
}

TEST(OffsetCommit, OfWhichTheLogSaysNothingIsAnsweredInTimeAndMayStillComeTrue) {
  ShardUnderTest test;
  const auto first_error = [&](Ticket ticket) { return test.get<CommitAnswer>(ticket).partitions[0]; };
  test.hold = true;
  const auto under_way = test.commit_async(commit_request("s", "", -1, 1));
  test.advance(1);
  const auto queued = test.commit_async(commit_request("s", "", -1, 2));
  test.advance(test.config.write_timeout_ms - 2);
  EXPECT_FALSE(test.answered(under_way));
  test.advance(1);
  EXPECT_EQ(first_error(under_way), ErrorCode::coordinator_not_available);
  EXPECT_FALSE(test.answered(queued));
  test.advance(1);
  EXPECT_EQ(first_error(queued), ErrorCode::coordinator_not_available);
  EXPECT_EQ(committed(test, "s"), -1) << "what is not durable is not shown";
  test.release();
  EXPECT_EQ(committed(test, "s"), 1);
  test.release();
  EXPECT_EQ(committed(test, "s"), 2);
  const auto in_time = test.commit_async(commit_request("s", "", -1, 3));
  test.advance(test.config.write_timeout_ms - 1);
  test.release();
  EXPECT_EQ(first_error(in_time), ErrorCode::none);
  test.advance(test.config.write_timeout_ms);  // and no second answer
}

// A disk without room for an hour, and clients that ask again and again.
TEST(OffsetCommit, WhatWaitsForTheLogIsBoundedWhateverClientsAskFor) {
  ShardUnderTest test;
  test.hold = true;
  const auto error_of = [&](Ticket ticket) { return test.get<CommitAnswer>(ticket).partitions[0]; };
  test.commit_async(commit_request("s", "", -1, 1));
  auto last = test.commit_async(commit_request("s", "", -1, 2));
  std::size_t waiting = 1;
  for (; !test.answered(last) && waiting < 1'000'000; ++waiting) {
    last = test.commit_async(commit_request("s", "", -1, 3));
  }
  EXPECT_EQ(error_of(last), ErrorCode::coordinator_not_available);
  EXPECT_GT(waiting, 10'000U);
  EXPECT_LT(waiting, test.config.queued_bytes_max / 20);
  EXPECT_EQ(test.get<DeleteGroupAnswer>(test.delete_group_async("s")).error, ErrorCode::coordinator_not_available);
  EXPECT_EQ(test.join(join_request("another")).error, ErrorCode::coordinator_not_available);
  while (test.holds()) {
    test.release();
  }
  EXPECT_EQ(committed(test, "s"), 3);
  test.hold = false;
  EXPECT_EQ(error_of(test.commit_async(commit_request("s", "", -1, 4))), ErrorCode::none);
}

TEST(OffsetCommit, KeepsTheSessionOfItsMember) {
  ShardUnderTest test;
  auto request = join_request("g");
  request.member_id_required = false;
  const auto ticket = test.join_async(request);
  test.advance(3'000);
  const auto one = test.get<JoinAnswer>(ticket);
  EXPECT_EQ(test.sync(sync_request("g", one.member_id, 1)).error, ErrorCode::none);
  for (int i = 0; i < 5; ++i) {
    test.advance(9'000);
    EXPECT_EQ(test.commit(commit_request("g", one.member_id, 1)).partitions[0], ErrorCode::none);
  }
}

TEST(OffsetFetch, AnUnknownGroupOrPartitionHasNoOffsetAndThatIsNoError) {
  ShardUnderTest test;
  test.commit_async(commit_request("s", "", -1, 5));
  EXPECT_EQ(committed(test, "nogroup"), -1);
  const auto found = test.shard().fetch("s", {{"t", {}, {0, 9}}, {"u", {}, {0}}});
  EXPECT_EQ(found[0].partitions[0].offset, 5);
  EXPECT_EQ(found[0].partitions[0].leader_epoch, 0);
  EXPECT_EQ(found[0].partitions[0].metadata, "x");
  EXPECT_EQ(found[0].partitions[1].offset, -1);
  EXPECT_EQ(found[0].partitions[1].leader_epoch, -1);
  EXPECT_EQ(found[1].partitions[0].metadata, "");
}

TEST(OffsetFetch, ATopicThatWasMadeAgainDoesNotInheritOffsets) {
  ShardUnderTest test;
  Random random{7};
  const auto old_id = random.uuid();
  const auto new_id = random.uuid();
  auto request = commit_request("s", "", -1, 5);
  request.partitions[0].topic_id = old_id;
  test.commit_async(request);
  EXPECT_EQ(test.shard().fetch("s", {{"t", old_id, {0}}})[0].partitions[0].offset, 5);
  EXPECT_EQ(test.shard().fetch("s", {{"t", new_id, {0}}})[0].partitions[0].offset, -1);
  test.drop_topics([&](const std::string& topic, const Uuid& id) { return topic == "t" && id == old_id; });
  EXPECT_EQ(test.shard().fetch("s", {{"t", old_id, {0}}})[0].partitions[0].offset, -1);
  test.restart();
  EXPECT_EQ(test.shard().fetch_all("s").size(), 0U);
}

TEST(OffsetDelete, SparesWhatTheGroupReads) {
  ShardUnderTest test;
  const auto one = stable_member(test);
  test.commit_async(commit_request("g", one.member_id, 1, 5, "t"));
  test.commit_async(commit_request("g", one.member_id, 1, 5, "other"));
  const auto ticket = test.delete_offsets_async({"g", {{"t", {}, {0}}, {"other", {}, {0, 7}}}});
  const auto answer = test.get<DeleteOffsetsAnswer>(ticket);
  EXPECT_EQ(answer.topics[0][0], ErrorCode::group_subscribed_to_topic);
  EXPECT_EQ(answer.topics[1], (std::vector{ErrorCode::none, ErrorCode::none}));
  EXPECT_EQ(committed(test, "g", "t"), 5);
  EXPECT_EQ(committed(test, "g", "other"), -1);
  EXPECT_EQ(test.get<DeleteOffsetsAnswer>(test.delete_offsets_async({"nogroup", {}})).error,
            ErrorCode::group_id_not_found);
}

TEST(OffsetDelete, LeavesAnEmptyGroupThatOnlyCommitsMadeUntilTheNextExpiryCheck) {
  ShardUnderTest test;
  const DeleteOffsetsRequest request{"s", {{"t", {}, {0}}}};
  test.commit_async(commit_request("s", "", -1, 5));
  for (int i = 0; i < 2; ++i) {
    const auto answer = test.get<DeleteOffsetsAnswer>(test.delete_offsets_async(request));
    EXPECT_EQ(answer.error, ErrorCode::none);
    EXPECT_EQ(committed(test, "s"), -1);
    const auto facts = test.shard().describe("s");
    EXPECT_TRUE(facts.found);
    EXPECT_EQ(facts.state, GroupState::empty);
  }
  test.advance(test.config.offsets_retention_check_ms - 1);
  EXPECT_TRUE(test.shard().describe("s").found);
  test.advance(1);
  EXPECT_FALSE(test.shard().describe("s").found);
  EXPECT_EQ(test.shard().group_count(), 0U);
  EXPECT_EQ(test.get<DeleteOffsetsAnswer>(test.delete_offsets_async(request)).error, ErrorCode::group_id_not_found);
}

TEST(OffsetDelete, AnEmptyGroupThatOnlyCommitsMadeIsThereAfterARestartTooUntilItExpires) {
  ShardUnderTest test;
  test.commit_async(commit_request("s", "", -1, 5));
  test.delete_offsets_async({"s", {{"t", {}, {0}}}});
  test.restart();
  EXPECT_TRUE(test.shard().describe("s").found);
  EXPECT_EQ(test.shard().describe("s").state, GroupState::empty);
  test.advance(test.config.offsets_retention_check_ms);
  EXPECT_FALSE(test.shard().describe("s").found);
  test.restart();
  EXPECT_FALSE(test.shard().describe("s").found) << "the expiry was written too";
}

TEST(OffsetDelete, ARefusedCommitLeavesNoGroup) {
  ShardUnderTest test;
  test.refuse_appends = Errc::disk_full;
  test.commit_async(commit_request("s", "", -1, 5));
  EXPECT_EQ(test.shard().group_count(), 0U);
}

// The case of a real 4.4.0 node: compat_tests/differ/cases/commit_of_nothing_makes_the_group.json.
TEST(OffsetCommit, OfNothingThatMayBeWrittenMakesAGroupThatIsSeenBehindTheNextRecord) {
  ShardUnderTest test;
  auto request = commit_request("s", "", -1);
  request.partitions = {{"t", {}, 0, 5, -1, std::string(4'097, 'x')}};
  EXPECT_EQ(test.commit(request).partitions[0], ErrorCode::offset_metadata_too_large);
  EXPECT_FALSE(test.shard().describe("s").found);
  EXPECT_TRUE(test.shard().list().empty());
  EXPECT_EQ(test.get<DeleteOffsetsAnswer>(test.delete_offsets_async({"s", {{"t", {}, {0}}}})).error, ErrorCode::none);
  EXPECT_FALSE(test.shard().describe("s").found);
  test.commit_async(commit_request("other", "", -1, 5));
  EXPECT_EQ(test.shard().describe("s").state, GroupState::empty);
  EXPECT_EQ(test.shard().list().size(), 2U);
  EXPECT_EQ(test.get<DeleteGroupAnswer>(test.delete_group_async("s")).error, ErrorCode::none);
  EXPECT_EQ(test.get<DeleteGroupAnswer>(test.delete_group_async("s")).error, ErrorCode::group_id_not_found);
}

TEST(OffsetCommit, AGroupThatNobodySeesGoesWithTheNextExpiryCheckOrRestart) {
  ShardUnderTest test;
  auto request = commit_request("s", "", -1);
  request.partitions = {{"t", {}, 0, 5, -1, std::string(4'097, 'x')}};
  test.commit(request);
  EXPECT_EQ(test.shard().group_count(), 1U);
  test.advance(test.config.offsets_retention_check_ms);
  EXPECT_EQ(test.shard().group_count(), 0U);
  test.commit(request);
  test.restart();
  EXPECT_EQ(test.shard().group_count(), 0U);
  request.sender.generation = 1;
  EXPECT_EQ(test.commit(request).partitions[0], ErrorCode::group_id_not_found) << "a member's commit makes none";
  EXPECT_EQ(test.shard().group_count(), 0U);
}

TEST(OffsetDelete, OfAGroupWhoseProtocolNobodyKnowsIsRefusedWhileItHasMembers) {
  ShardUnderTest test;
  auto request = join_request("g");
  request.protocol_type = "connect";
  request.member_id_required = false;
  test.join_async(request);
  test.advance(3'000);
  EXPECT_EQ(test.get<DeleteOffsetsAnswer>(test.delete_offsets_async({"g", {}})).error, ErrorCode::non_empty_group);
}

TEST(GroupDelete, TakesAnEmptyGroupAndItsOffsetsAndAnswersWhenThatIsDurable) {
  ShardUnderTest test;
  const auto one = stable_member(test);
  EXPECT_EQ(test.get<DeleteGroupAnswer>(test.delete_group_async("g")).error, ErrorCode::non_empty_group);
  EXPECT_EQ(test.get<DeleteGroupAnswer>(test.delete_group_async("nogroup")).error, ErrorCode::group_id_not_found);
  test.commit_async(commit_request("s", "", -1, 5));
  test.hold = true;
  const auto ticket = test.delete_group_async("s");
  EXPECT_FALSE(test.answered(ticket));
  EXPECT_EQ(test.commit(commit_request("s", "", -1, 6)).partitions[0], ErrorCode::coordinator_not_available);
  EXPECT_EQ(test.join(join_request("s")).error, ErrorCode::coordinator_not_available);
  test.release();
  EXPECT_EQ(test.get<DeleteGroupAnswer>(ticket).error, ErrorCode::none);
  EXPECT_FALSE(test.shard().describe("s").found);
  test.hold = false;
  test.restart();
  EXPECT_FALSE(test.shard().describe("s").found);
  EXPECT_EQ(committed(test, "s"), -1);
}

TEST(GroupDelete, ThatIsRefusedLeavesTheGroupAsItWas) {
  ShardUnderTest test;
  test.commit_async(commit_request("s", "", -1, 5));
  test.refuse_appends = Errc::read_only;
  EXPECT_EQ(test.get<DeleteGroupAnswer>(test.delete_group_async("s")).error, ErrorCode::not_coordinator);
  test.refuse_appends.reset();
  EXPECT_EQ(committed(test, "s"), 5);
  EXPECT_EQ(test.commit(commit_request("s", "", -1, 6)).partitions[0], ErrorCode::none);
}

TEST(OffsetExpiry, OffsetsOfAGroupThatNobodyJoinedLiveSevenDaysFromTheirCommit) {
  ShardUnderTest test;
  test.commit_async(commit_request("s", "", -1, 5, "t"));
  test.advance(3 * kDay);
  test.commit_async(commit_request("s", "", -1, 5, "u"));
  test.advance(4 * kDay - 600'000);
  EXPECT_EQ(committed(test, "s", "t"), 5);
  test.advance(1'200'000);
  EXPECT_EQ(committed(test, "s", "t"), -1);
  EXPECT_EQ(committed(test, "s", "u"), 5);
  test.advance(3 * kDay);
  EXPECT_FALSE(test.shard().describe("s").found);
  EXPECT_TRUE(
      std::ranges::any_of(test.notes, [](const auto& note) { return note.find("group s") != std::string::npos; }));
}

TEST(OffsetExpiry, OffsetsLiveWhileTheGroupHasMembersAndSevenDaysAfter) {
  ShardUnderTest test;
  const auto one = stable_member(test);
  test.commit_async(commit_request("g", one.member_id, 1, 5));
  for (int i = 0; i < 10 * 48 * 2; ++i) {
    test.advance(900'000);
    ASSERT_EQ(test.heartbeat("g", one.member_id, 1), ErrorCode::none);
  }
  EXPECT_EQ(committed(test, "g"), 5) << "ten days of reading";
  test.leave_async({"g", {{one.member_id, {}, ""}}});
  test.advance(7 * kDay - 600'000);
  EXPECT_EQ(committed(test, "g"), 5);
  test.advance(1'200'000);
  EXPECT_EQ(committed(test, "g"), -1);
  EXPECT_FALSE(test.shard().describe("g").found);
}

TEST(OffsetExpiry, AnOldClientMayNameItsOwnRetention) {
  ShardUnderTest test;
  auto request = commit_request("s", "", -1, 5);
  request.retention_ms = 3'600'000;
  test.commit_async(request);
  test.restart();
  test.advance(3'600'000 + 600'000);
  EXPECT_EQ(committed(test, "s"), -1);
}

TEST(OffsetExpiry, ARetentionThatIsOverIsKeptUntilTheNextCheckAndOneBeyondAllTimesForEver) {
  ShardUnderTest test;
  auto request = commit_request("s", "", -1, 5);
  request.retention_ms = -5;
  test.commit_async(request);
  EXPECT_EQ(committed(test, "s"), 5);
  auto longest = commit_request("long", "", -1, 6);
  longest.retention_ms = std::numeric_limits<Millis>::max();
  test.commit_async(longest);
  test.advance(test.config.offsets_retention_check_ms);
  EXPECT_EQ(committed(test, "s"), -1);
  test.restart();
  EXPECT_EQ(committed(test, "s"), -1);
  test.advance(100 * kDay);
  EXPECT_EQ(committed(test, "long"), 6);
}

TEST(OffsetExpiry, ARetentionOfItsOwnIsOverAtItsVeryEnd) {
  ShardUnderTest test;
  for (const Millis more : {0, 1}) {
    auto request = commit_request(more == 0 ? "over" : "not yet", "", -1, 5);
    request.retention_ms = test.config.offsets_retention_check_ms + more;
    test.commit_async(request);
  }
  test.advance(test.config.offsets_retention_check_ms);
  EXPECT_EQ(committed(test, "over"), -1);
  EXPECT_EQ(committed(test, "not yet"), 5);
}

TEST(GroupReappend, TheLogStartsAgainWithTheLiveStateWhenDeadRecordsOutweighIt) {
  ShardUnderTest test{{.reappend_dirty_bytes = 20'000, .append_bytes_max = 500}};
  for (int group = 0; group < 20; ++group) {
    test.commit_async(commit_request("group" + std::to_string(group), "", -1, group));
  }
  for (int i = 0; i < 5'000; ++i) {
    test.commit_async(commit_request("busy", "", -1, i));
    ASSERT_LT(test.log.size(), 800U);
  }
  EXPECT_GT(test.log.begin()->first, 0);
  EXPECT_LE(test.shard().log_bytes(), test.shard().live_bytes() + 21'000);
  test.restart();
  EXPECT_EQ(committed(test, "busy"), 4'999);
  for (int group = 0; group < 20; ++group) {
    EXPECT_EQ(committed(test, "group" + std::to_string(group)), group);
  }
}

TEST(GroupReappend, CommitsDuringItComeAfterItAndAreNotLost) {
  ShardUnderTest test{{.reappend_dirty_bytes = 2'000, .append_bytes_max = 100}};
  test.hold = true;
  for (int i = 0; i < 300; ++i) {
    test.commit_async(commit_request(i % 2 == 0 ? "a" : "b", "", -1, i));
    if (test.holds() && i % 3 != 0) {
      test.release(i % 17 == 0 ? std::optional{Errc::disk_full} : std::nullopt);
    }
  }
  while (test.holds()) {
    test.release();
  }
  EXPECT_GT(std::ranges::count_if(
                test.notes,
                [](const auto& note) { return note.starts_with("live group state could not be written again: "); }),
            0);
  EXPECT_GT(test.log.begin()->first, 0);
  EXPECT_EQ(committed(test, "a"), 298);
  EXPECT_EQ(committed(test, "b"), 299);
  test.restart();
  EXPECT_EQ(committed(test, "a"), 298);
  EXPECT_EQ(committed(test, "b"), 299);
}

TEST(GroupReappend, ALogOfWhichNothingLivesStartsWithItsNextRecord) {
  ShardUnderTest test{{.reappend_dirty_bytes = 5'000}};
  for (int i = 0; i < 500; ++i) {
    test.commit_async(commit_request("s", "", -1, i));
    test.delete_group_async("s");
  }
  EXPECT_GT(test.log.begin()->first, 0);
  test.restart();
  EXPECT_FALSE(test.shard().describe("s").found);
}

// Writing the live state anew and moving the log's start would lose what only a later build can read.
TEST(GroupReappend, ALogWithRecordsOfALaterBuildIsLeftAsItIs) {
  ShardUnderTest test{{.reappend_dirty_bytes = 5'000}};
  test.commit_async(commit_request("s", "", -1, 0));
  auto later = test.log.begin()->second;
  later.key[1] = std::byte{3};
  ASSERT_TRUE(std::holds_alternative<UnknownRecord>(*parse_record(later.key, {})));
  test.log[1'000] = later;
  test.restart();
  for (int i = 1; i < 500; ++i) {
    test.commit_async(commit_request("s", "", -1, i));
  }
  EXPECT_GT(test.shard().log_bytes(), 3 * test.config.reappend_dirty_bytes);
  EXPECT_EQ(test.log.begin()->first, 0);
  EXPECT_TRUE(test.log.contains(1'000));
}

}  // namespace
}  // namespace weir::group
