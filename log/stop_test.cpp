// The end of a life that was not an ordinary one: a stop after a fault, with topics under way, without room. What was
// acknowledged is there after the next start, no offset is given twice, and what passes by itself leaves no mark.
#include <gtest/gtest.h>

#include <cerrno>

#include "base/errno_error.hpp"
#include "base/logging.hpp"
#include "log/allow_writes.hpp"
#include "log/test_log_read.hpp"

namespace weir::log {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

class Stop : public testing::TestWithParam<IoMode> {
 protected:
  Stop() { test.options.io = GetParam(); }
  // As a broker does, whose metadata keep them.
  void raise_epochs_after_power_cuts() {
    test.options.raise_epochs = [this](std::span<KnownPartition* const> partitions) {
      ++epoch_;
      for (auto* one : partitions) {
        one->leader_epoch = LeaderEpoch{epoch_};
      }
      return Result<void>{};
    };
  }
  void append_all(int topic, int from, int to, std::size_t size = 10) {
    for (int i = from; i < to; ++i) {
      ASSERT_FALSE(test.append_now(test.find(topic, 0), {.values = {value(i, size)}}).error) << i;
    }
  }
  static std::string value(int number, std::size_t size) {
    auto text = std::to_string(number) + ":";
    text.resize(std::max(size, text.size()), '.');
    return text;
  }
  std::int64_t count(int topic) { return std::ssize(*test.read_all(*test.find(topic, 0))); }
  // Every operation of that kind on a file with that ending fails.
  void fail(sim::DiskOperation operation, std::string ending, int number) {
    test.disk.set_fault_hook(
        [operation, ending = std::move(ending), number](auto what, const auto& path) -> std::optional<Error> {
          if (what != operation || !path.ends_with(ending)) {
            return std::nullopt;
          }
          return what == sim::DiskOperation::sync ? error_of_failed_sync(number) : error_of_errno(number);
        });
  }
  // Stops and says within a bounded time what it told.
  void stop_within(Millis ms) {
    bool stopped = false;
    test.clean_end.reset();
    test.log->stop([&](std::optional<LogPosition> end) {
      stopped = true;
      test.clean_end = end;
    });
    test.queue.run_for(ms);
    ASSERT_TRUE(stopped) << "waits for " << test.log->waits_for();
    test.kill();
  }
  TestLog test{77};

 private:
  std::int32_t epoch_ = 0;  // the last one in the metadata
};

// The life before has stopped cleanly, and this one goes on in the open segment.
class StopOfAReadOnlyLog : public Stop {
 protected:
  void run(sim::DiskOperation operation, bool allow) {
    ASSERT_TRUE(test.start());
    test.create(1, 0);
    append_all(1, 0, 5);
    ASSERT_TRUE(test.stop());
    ASSERT_TRUE(test.clean_end);
    ASSERT_TRUE(test.start(true));
    append_all(1, 5, 25);
    fail(operation, ".log", EIO);
    EXPECT_TRUE(test.append_now(test.find(1, 0), {.values = {"refused"}}).error);
    test.disk.set_fault_hook({});
    stop_within(5'000);
    EXPECT_FALSE(test.clean_end) << "a log that has failed is not clean";
    if (allow) {
      EXPECT_EQ(allow_writes(test.disk, "data").value(), EIO);
    }
    ASSERT_TRUE(test.start(true));
    EXPECT_GE(count(1), 25);
    EXPECT_GE(test.find(1, 0)->log_end().value, 25);
    EXPECT_EQ(test.log->statistics().read_only, !allow);
  }
};

TEST_P(StopOfAReadOnlyLog, KeepsAllThatWasAcknowledgedAfterAFailedSync) {
  run(sim::DiskOperation::sync, false);
}
TEST_P(StopOfAReadOnlyLog, KeepsAllThatWasAcknowledgedAfterAFailedSyncAndAllowWrites) {
  run(sim::DiskOperation::sync, true);
}
TEST_P(StopOfAReadOnlyLog, KeepsAllThatWasAcknowledgedAfterAFailedWrite) {
  run(sim::DiskOperation::write, false);
}
TEST_P(StopOfAReadOnlyLog, KeepsAllThatWasAcknowledgedAfterAFailedWriteAndAllowWrites) {
  run(sim::DiskOperation::write, true);
}

TEST_P(Stop, AMarkThatTellsAnotherEndThanTheManifestIsNotBelieved) {
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  append_all(1, 0, 5);
  ASSERT_TRUE(test.stop());
  const auto old_end = test.clean_end;
  ASSERT_TRUE(old_end);
  ASSERT_TRUE(test.start(true));
  append_all(1, 5, 25);
  test.kill();
  const LogCapture lines;
  test.clean_end = *old_end + 4096;  // of whatever life
  ASSERT_TRUE(test.start(true));
  EXPECT_EQ(count(1), 25);
  EXPECT_TRUE(std::ranges::any_of(
      lines.lines(), [](const auto& line) { return line.find("the log is scanned") != std::string::npos; }));
}

// Controls that come while the log stops must not lie behind the state that the next life counts on.
TEST_P(Stop, ATopicThatIsMadeMeanwhileKeepsItsRecordsThroughALaterCrash) {
  test.options.delta_bytes = 64 << 10;
  for (int steps = 0; steps < 12; ++steps) {
    TestLog one{static_cast<std::uint64_t>(100 + steps)};
    one.options.io = GetParam();
    one.options.delta_bytes = 64 << 10;
    ASSERT_TRUE(one.start());
    one.create(1, 0);
    one.append_now(one.find(1, 0), {.values = {"a"}});
    bool stopped = false;
    std::optional<LogPosition> end;
    one.log->stop([&](std::optional<LogPosition> clean) {
      stopped = true;
      end = clean;
    });
    for (int i = 0; i < steps && one.queue.step(); ++i) {
    }
    one.create(2, 0);
    one.log->remove({topic_number(1), 0});
    one.known.erase(one.known.begin());
    one.queue.run_until_idle();
    ASSERT_TRUE(stopped);
    one.kill();
    one.clean_end = end;
    ASSERT_TRUE(one.start(true));
    one.create(3, 0);
    for (int i = 0; i < 10; ++i) {
      ASSERT_FALSE(one.append_now(one.find(3, 0), {.values = {std::string(20'000, 'x')}}).error);
    }
    ASSERT_FALSE(one.append_now(one.find(2, 0), {.values = {"kept"}}).error);
    one.crash(sim::CrashMode::process_death);
    ASSERT_TRUE(one.start());
    ASSERT_EQ(one.read_all(*one.find(2, 0))->size(), 1U) << "after " << steps << " steps of the stop";
    EXPECT_EQ(one.append_now(one.find(2, 0), {.values = {"next"}}).base_offset, Offset{1});
  }
}

TEST_P(Stop, WhileAWriteWaitsForRoomItEndsAndLeavesNoMark) {
  test.disk.set_capacity(64 * kMiB);
  test.options.segment_bytes = 4 * kMiB;
  test.options.space_check_ms = 100;
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  test.queue.run_for(50);
  append_all(1, 0, 5);
  test.disk.set_capacity(test.disk.used_bytes());
  std::vector<Reply> replies;
  for (int i = 0; i < 40; ++i) {
    replies.push_back(test.append(test.find(1, 0), {.values = {value(i, 200'000)}}));
  }
  test.queue.run_for(700);
  stop_within(5'000);
  EXPECT_FALSE(test.clean_end);
  for (const auto& reply : replies) {
    ASSERT_TRUE(reply->has_value());
  }
  test.disk.set_capacity(256 * kMiB);
  ASSERT_TRUE(test.start(true));
  test.queue.run_for(500);
  EXPECT_FALSE(test.log->statistics().read_only) << "a full disk passes";
  EXPECT_GE(count(1), 5);
  EXPECT_FALSE(test.append_now(test.find(1, 0), {.values = {"again"}}).error);
}

// The stop fills the open segment, and there is no room for the one behind it.
TEST_P(Stop, EndsWhenTheNextSegmentFindsNoRoomWhileItStops) {
  test.options.segment_bytes = 4 * kMiB;
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  append_all(1, 0, 10, 200'000);
  ASSERT_TRUE(test.stop());
  const auto before = test.disk.used_bytes();
  ASSERT_TRUE(test.start(true));
  append_all(1, 10, 25, 200'000);
  test.disk.set_capacity(std::max(before, test.disk.used_bytes()) + 100'000);
  stop_within(10'000);
  test.disk.set_capacity(256 * kMiB);
  ASSERT_TRUE(test.start(true));
  test.queue.run_for(500);
  EXPECT_FALSE(test.log->statistics().read_only);
  EXPECT_EQ(count(1), 25);
}

// Readers that know of epochs ask with the one that the metadata tell, which a start behind a failed sync has raised.
TEST_P(Stop, AReadOnlyLogServesTheEpochThatTheMetadataTell) {
  raise_epochs_after_power_cuts();
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  append_all(1, 0, 5);
  test.disk.set_fault_hook([](auto what, const auto& path) -> std::optional<Error> {
    const bool is_hit = what == sim::DiskOperation::sync && path.ends_with(".log");
    return is_hit ? std::optional{error_of_failed_sync(EIO)} : std::nullopt;
  });
  EXPECT_TRUE(test.append_now(test.find(1, 0), {.values = {"fails"}}).error);
  const auto before = test.find(1, 0)->leader_epoch();
  test.crash(sim::CrashMode::process_death);
  test.disk.set_fault_hook({});
  ASSERT_TRUE(test.start());
  EXPECT_TRUE(test.log->statistics().read_only);
  EXPECT_EQ(test.find(1, 0)->leader_epoch(), LeaderEpoch{before.value + 1});
  EXPECT_GE(count(1), 5);
  test.kill();
  ASSERT_TRUE(allow_writes(test.disk, "data"));
  ASSERT_TRUE(test.start());
  EXPECT_EQ(test.find(1, 0)->leader_epoch(), LeaderEpoch{before.value + 2}) << "each start behind it raises it";
  EXPECT_FALSE(test.append_now(test.find(1, 0), {.values = {"again"}}).error);
}

TEST_P(Stop, AFailureThatTheManifestDidNotTakeIsNotedOnceItDoes) {
  test.options.space_check_ms = 1'000;
  for (const bool by_stop : {false, true}) {
    SCOPED_TRACE(by_stop);
    ASSERT_TRUE(test.start());
    test.create(by_stop ? 2 : 1, 0);
    append_all(by_stop ? 2 : 1, 0, 5);
    test.disk.set_fault_hook([](auto what, const auto& path) -> std::optional<Error> {
      const bool is_hit = (what == sim::DiskOperation::sync && path.ends_with(".log")) ||
                          (what == sim::DiskOperation::write && path.find("manifest") != std::string::npos);
      return is_hit ? std::optional{error_of_failed_sync(EIO)} : std::nullopt;
    });
    EXPECT_TRUE(test.append_now(test.find(by_stop ? 2 : 1, 0), {.values = {"fails"}}).error);
    test.disk.set_fault_hook({});
    if (!by_stop) {
      test.queue.run_for(1'500);
      test.crash(sim::CrashMode::process_death);
    } else {
      stop_within(5'000);
    }
    ASSERT_TRUE(test.start(true));
    EXPECT_TRUE(test.log->statistics().read_only) << "as the log said: after a restart too";
    test.kill();
    ASSERT_TRUE(allow_writes(test.disk, "data"));
  }
}

// Killed between the manifest's naming of a segment and its first write.
TEST_P(Stop, ASegmentThatWasNeverBegunIsNoDamageAndTellsOfNoRestart) {
  raise_epochs_after_power_cuts();
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  append_all(1, 0, 5);
  const auto epoch = test.find(1, 0)->leader_epoch();
  test.disk.set_fault_hook([&](auto what, const auto& path) -> std::optional<Error> {
    if (what != sim::DiskOperation::write || !path.ends_with(".log") || path.ends_with("1.log")) {
      return std::nullopt;
    }
    return Error{Errc::closed};
  });
  for (int i = 0; i < 20; ++i) {
    static_cast<void>(test.append(test.find(1, 0), {.values = {value(i, 100'000)}}));
    test.queue.run_for(50);
  }
  test.crash(sim::CrashMode::process_death);
  test.disk.set_fault_hook({});
  const LogCapture lines;
  ASSERT_TRUE(test.start());
  EXPECT_GE(count(1), 5);
  EXPECT_EQ(test.find(1, 0)->leader_epoch(), epoch);
  EXPECT_FALSE(std::ranges::any_of(lines.lines(), [](const auto& line) { return line.find("damage") != line.npos; }));
}

// A copy of the data folder, made in two steps, or put back in part.
TEST_P(Stop, TheMarkOfAnEarlierStopIsNotBelievedWhenTheLogHasGoneOn) {
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  append_all(1, 0, 5);
  ASSERT_TRUE(test.stop());
  const auto of_first_stop = test.clean_end;
  ASSERT_TRUE(of_first_stop);
  test.kill();
  ASSERT_TRUE(test.start(true));
  append_all(1, 5, 10);
  test.crash(sim::CrashMode::process_death);
  test.clean_end = of_first_stop;
  ASSERT_TRUE(test.start(true));
  EXPECT_EQ(count(1), 10);
  EXPECT_EQ(test.append_now(test.find(1, 0), {.values = {"next"}}).base_offset, Offset{10});
}

TEST_P(Stop, BehindTheMarkOfAnEarlierStopAPowerCutGivesANewEpochAllTheSame) {
  for (const bool in_next_segment : {false, true}) {
    SCOPED_TRACE(in_next_segment);
    raise_epochs_after_power_cuts();
    ASSERT_TRUE(test.start(true));
    if (!test.find(1, 0)) {
      test.create(1, 0);
    }
    append_all(1, 0, 5);
    const auto before = test.find(1, 0)->leader_epoch();
    ASSERT_TRUE(test.stop());
    const auto of_first_stop = test.clean_end;
    test.kill();
    if (in_next_segment) {
      test.options.io = GetParam() == IoMode::direct ? IoMode::buffered : IoMode::direct;
    }
    ASSERT_TRUE(test.start(true));
    EXPECT_EQ(test.find(1, 0)->leader_epoch(), before);
    append_all(1, 5, 10);
    test.crash(sim::CrashMode::power_cut);
    test.clean_end = of_first_stop;
    ASSERT_TRUE(test.start(true));
    EXPECT_EQ(test.find(1, 0)->leader_epoch(), LeaderEpoch{before.value + 1});
  }
}

// Nothing is said about the disk by a process that may open no more files.
class Shortage : public Stop {
 protected:
  void use_up_segment(int from) {
    for (int i = from; i < from + 20; ++i) {
      static_cast<void>(test.append(test.find(1, 0), {.values = {value(i, 100'000)}}));
      test.queue.run_for(50);
    }
  }
};

TEST_P(Shortage, WithoutDescriptorsProducersAreRefusedAndGoOnWhenThereAreSome) {
  test.options.space_check_ms = 100;
  for (const int number : {EMFILE, ENFILE, ENOMEM}) {
    SCOPED_TRACE(number);
    const LogCapture lines;
    ASSERT_TRUE(test.start(true));
    if (!test.find(1, 0)) {
      test.create(1, 0);
    }
    append_all(1, 0, 3);
    const auto hook = [number](auto what, const auto&) -> std::optional<Error> {
      const bool opens =
          what == sim::DiskOperation::open || what == sim::DiskOperation::create || what == sim::DiskOperation::map;
      return opens ? std::optional{error_of_errno(number)} : std::nullopt;
    };
    test.disk.set_fault_hook(hook);
    use_up_segment(100);  // 2 MB into segments of 1 MiB: the next one, or the one behind it, cannot be made
    use_up_segment(200);
    auto refused = test.append(test.find(1, 0), {.values = {value(1, 100'000)}});
    test.queue.run_for(100);
    ASSERT_TRUE(refused->has_value()) << "nobody waits for a segment that does not come";
    EXPECT_EQ((*refused)->error, (Error{Errc::out_of_resources, number}));
    EXPECT_FALSE(test.log->statistics().read_only);
    const auto end = test.find(1, 0)->high_watermark();
    test.disk.set_fault_hook({});
    test.queue.run_for(1'500);
    EXPECT_EQ(test.append_now(test.find(1, 0), {.values = {"again"}}).base_offset, end);
    EXPECT_TRUE(std::ranges::any_of(lines.lines(),
                                    [](const auto& line) { return line.find("ulimit -n") != std::string::npos; }));
    ASSERT_TRUE(test.stop());
    EXPECT_TRUE(test.clean_end) << "it has passed and leaves nothing behind";
  }
}

// The index file of a full segment cannot be made: the segments behind it are synced all the same.
TEST_P(Shortage, NoAnswerWaitsForAnIndexFileThatCannotBeMade) {
  test.options.space_check_ms = 100;
  for (const int number : {EMFILE, ENOSPC}) {
    SCOPED_TRACE(number);
    ASSERT_TRUE(test.start(true));
    if (!test.find(1, 0)) {
      test.create(1, 0);
      test.create(2, 0, {.flush = FlushMode::async});
    }
    const auto hook = [number](auto what, const auto& path) -> std::optional<Error> {
      const bool is_hit = what == sim::DiskOperation::create && path.ends_with(".index.tmp");
      return is_hit ? std::optional{error_of_errno(number)} : std::nullopt;
    };
    test.disk.set_fault_hook(hook);
    std::vector<Reply> replies;
    for (int i = 0; i < 60; ++i) {  // 6 MB of a topic that waits for no sync: each full segment is the keeper's to sync
      replies.push_back(test.append(test.find(2, 0), {.values = {value(i, 100'000)}}, Acks::leader));
      replies.push_back(test.append(test.find(1, 0), {.values = {value(i, 10)}}));
      test.queue.run_for(50);
      ASSERT_TRUE(replies.back()->has_value()) << i;
    }
    EXPECT_FALSE((*replies.front())->error);
    EXPECT_FALSE(test.log->statistics().read_only);
    test.disk.set_fault_hook({});
    test.queue.run_for(1'500);
    EXPECT_FALSE(test.append_now(test.find(1, 0), {.values = {"again"}}).error);
    ASSERT_TRUE(test.stop());
  }
}

TEST_P(Shortage, AFailedSyncOfASegmentWhileAnotherWaitsIsAVerdictAndIsNotRepeated) {
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  test.create(2, 0, {.flush = FlushMode::async});
  test.queue.run_for(50);
  int failed_syncs = 0;
  bool syncs_fail = false;
  test.disk.set_fault_hook([&](auto what, const auto& path) -> std::optional<Error> {
    if (what == sim::DiskOperation::create && path.ends_with(".index.tmp")) {
      return error_of_errno(EMFILE);
    }
    if (syncs_fail && what == sim::DiskOperation::sync && path.ends_with(".log")) {
      ++failed_syncs;
      return error_of_failed_sync(EIO);
    }
    return std::nullopt;
  });
  for (int i = 0; i < 12; ++i) {  // one full segment, whose sealing waits
    test.append_now(test.find(2, 0), {.values = {value(i, 100'000)}}, Acks::leader);
  }
  syncs_fail = true;
  for (int i = 0; i < 10; ++i) {  // and the next one
    test.append_now(test.find(2, 0), {.values = {value(i, 100'000)}}, Acks::leader);
  }
  std::vector<Reply> replies;
  for (int i = 0; i < 3; ++i) {
    replies.push_back(test.append(test.find(1, 0), {.values = {value(i, 10)}}));
  }
  test.queue.run_for(1'500);
  for (const auto& reply : replies) {
    ASSERT_TRUE(reply->has_value());
    EXPECT_TRUE((*reply)->error);
  }
  EXPECT_EQ(failed_syncs, 1);
  EXPECT_TRUE(test.log->statistics().read_only);
  stop_within(5'000);
}

TEST_P(Shortage, AStopWithoutDescriptorsEndsAndTheNextStartTakesWrites) {
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  append_all(1, 0, 30, 50'000);
  fail(sim::DiskOperation::create, "", EMFILE);
  use_up_segment(100);
  use_up_segment(200);
  const auto end = test.find(1, 0)->high_watermark().value;
  stop_within(5'000);
  test.disk.set_fault_hook({});
  ASSERT_TRUE(test.start(true));
  EXPECT_GE(count(1), end);
  EXPECT_FALSE(test.append_now(test.find(1, 0), {.values = {"again"}}).error);
}

TEST_P(Shortage, AStartWithoutRoomForASegmentAnswersEveryProducerAndEveryMovedStart) {
  test.options.segment_bytes = 4 * kMiB;
  test.options.space_check_ms = 100;
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  append_all(1, 0, 10, 100'000);
  test.crash(sim::CrashMode::process_death);
  fail(sim::DiskOperation::create, ".log", ENOSPC);
  const LogCapture lines;
  ASSERT_TRUE(test.start());
  for (int i = 0; i < 3; ++i) {
    auto reply = test.append(test.find(1, 0), {.values = {"refused"}});
    std::optional<Result<Offset>> moved;
    test.log->move_start(test.find(1, 0), Offset{1}, *test.runtime->io.front(),
                         [&](const Result<Offset>& start) { moved = start; });
    test.queue.run_for(100);
    ASSERT_TRUE(reply->has_value()) << i;
    EXPECT_EQ((*reply)->error->code, Errc::disk_full);
    ASSERT_TRUE(moved) << i;
    EXPECT_EQ(moved->error().code, Errc::disk_full);
  }
  const auto is_told = [&](const std::string& what) {
    return std::ranges::any_of(lines.lines(), [&](const auto& line) { return line.find(what) != std::string::npos; });
  };
  EXPECT_TRUE(is_told("gives no room, though it tells")) << "the volume has room";
  EXPECT_FALSE(is_told("and must keep a reserve of"));
  EXPECT_FALSE(is_told("has room again"));
  test.disk.set_fault_hook({});
  test.queue.run_for(1'000);
  EXPECT_EQ(test.append_now(test.find(1, 0), {.values = {"again"}}).base_offset, Offset{10});
}

TEST_P(Shortage, AStartWithoutRoomForASegmentServesTheEpochThatTheMetadataTell) {
  raise_epochs_after_power_cuts();
  test.options.space_check_ms = 100;
  for (const int number : {ENOSPC, EMFILE}) {
    SCOPED_TRACE(number);
    ASSERT_TRUE(test.start());
    if (!test.find(1, 0)) {
      test.create(1, 0);
    }
    append_all(1, 0, 5);
    const auto before = test.find(1, 0)->leader_epoch();
    const auto end = test.find(1, 0)->log_end();
    test.crash(sim::CrashMode::power_cut);
    fail(sim::DiskOperation::create, ".log", number);
    ASSERT_TRUE(test.start());
    const LeaderEpoch raised{before.value + 1};
    EXPECT_EQ(test.find(1, 0)->leader_epoch(), raised);
    EXPECT_EQ(test.log->epoch_end(*test.find(1, 0), raised).end_offset, end);
    EXPECT_EQ(count(1), end.value);
    test.queue.run_for(1'000);
    test.disk.set_fault_hook({});
    test.queue.run_for(1'500);
    append_all(1, 5, 6);
    EXPECT_EQ(test.log->epoch_at(*test.find(1, 0), end), raised);
    test.crash(sim::CrashMode::process_death);
    ASSERT_TRUE(test.start());
    EXPECT_EQ(test.find(1, 0)->leader_epoch(), raised) << "the entry was written once there was room";
    EXPECT_EQ(test.log->epoch_end(*test.find(1, 0), before).end_offset, end);
    test.kill();
  }
}

TEST_P(Shortage, SoDoesOneWhoseRecordCameWhileTheWriteFoundThatThereIsNoRoom) {
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  append_all(1, 0, 3);
  Reply late;
  test.disk.set_fault_hook([&](auto what, const auto& path) -> std::optional<Error> {
    if (what != sim::DiskOperation::write || !path.ends_with(".log")) {
      return std::nullopt;
    }
    if (!late) {
      late = test.append(test.find(1, 0), {.values = {"late"}});
    }
    return error_of_errno(ENOSPC);
  });
  auto first = test.append(test.find(1, 0), {.values = {"first"}});
  test.queue.run_for(7'000);
  for (const auto& reply : {first, late}) {
    ASSERT_TRUE(reply->has_value());
    EXPECT_EQ((*reply)->error, (Error{Errc::disk_failed, ENOSPC}));
  }
  test.disk.set_fault_hook({});
  test.queue.run_for(1'000);
  EXPECT_EQ(test.append_now(test.find(1, 0), {.values = {"again"}}).base_offset, Offset{5});
  EXPECT_EQ(count(1), 6) << "what was refused had its place";
  ASSERT_TRUE(test.stop());
  EXPECT_TRUE(test.clean_end);
}

TEST_P(Shortage, AProducerWhoseRecordWaitsForRoomHearsItWithinSecondsAndACommitWaits) {
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  append_all(1, 0, 3);
  fail(sim::DiskOperation::write, ".log", ENOSPC);
  auto all = test.append(test.find(1, 0), {.values = {"all"}});
  auto leader = test.append(test.find(1, 0), {.values = {"leader"}}, Acks::leader);
  auto commit = test.append(test.find(1, 0), {.values = {"commit"}}, Acks::internal);
  test.queue.run_for(7'000);
  ASSERT_TRUE(all->has_value());
  EXPECT_EQ((*all)->error, (Error{Errc::disk_failed, ENOSPC}));
  ASSERT_TRUE(leader->has_value());
  EXPECT_EQ((*leader)->error, (Error{Errc::disk_failed, ENOSPC}));
  EXPECT_FALSE(commit->has_value());
  test.disk.set_fault_hook({});
  test.queue.run_for(2'000);
  ASSERT_TRUE(commit->has_value());
  EXPECT_FALSE((*commit)->error);
  EXPECT_EQ((*commit)->base_offset, Offset{5}) << "what was refused has its place all the same";
  EXPECT_EQ(count(1), 6);
}

// However fast the disk fills and however seldom somebody looks: the reserve is not for producers.
TEST_P(Shortage, ProducersNeverReachIntoTheReserveAndCommitsAreTakenFromIt) {
  if (GetParam() == IoMode::direct) {
    return;  // its files have their room before
  }
  test.disk.set_capacity(64 * kMiB);  // a reserve of 2 MiB, and nobody looks but at the start
  test.options.segment_bytes = 32 * kMiB;
  test.options.image_bytes = 32 * kMiB;
  ASSERT_TRUE(test.start());
  test.create(1, 0);
  test.queue.run_for(100);
  std::vector<Reply> replies;
  for (int i = 0; i < 200; ++i) {
    replies.push_back(test.append(test.find(1, 0), {.values = {value(i, 500'000)}}));
    if (i % 20 == 0) {
      test.queue.run_for(10);
    }
  }
  test.queue.run_for(1'000);
  int refused = 0;
  for (const auto& reply : replies) {
    ASSERT_TRUE(reply->has_value()) << "none waits";
    refused += (*reply)->error ? 1 : 0;
  }
  EXPECT_GT(refused, 50);
  EXPECT_LT(refused, 90);
  EXPECT_GE(*test.disk.free_bytes("data"), 2 * kMiB - 300'000) << "index and state of a segment may take a little";
  EXPECT_TRUE(test.log->statistics().short_of_space);
  EXPECT_FALSE(test.append_now(test.find(1, 0), {.values = {"commit"}}, Acks::internal).error);
}

INSTANTIATE_TEST_SUITE_P(BothModes, Stop, testing::Values(IoMode::buffered, IoMode::direct));
INSTANTIATE_TEST_SUITE_P(BothModes, StopOfAReadOnlyLog, testing::Values(IoMode::buffered, IoMode::direct));
INSTANTIATE_TEST_SUITE_P(BothModes, Shortage, testing::Values(IoMode::buffered, IoMode::direct));

}  // namespace
}  // namespace weir::log
