// The writer while another thread has the log role, brought there by gates: what is handed over late, when a write has
// found no room or the log has failed meanwhile, is neither lost nor left without an answer.
#include <gtest/gtest.h>

#include <cerrno>

#include "base/errno_error.hpp"
#include "base/posix_disk.hpp"
#include "base/temporary_folder.hpp"
#include "base/thread_executor.hpp"
#include "log/test_batch.hpp"
#include "log/test_threads.hpp"
#include "log/writer.hpp"

namespace weir::log {
namespace {

constexpr Millis kProducersWaitMs = 5'000;  // and then hear that there is no room

class SetClock final : public Clock {
 public:
  [[nodiscard]] Millis wall_ms() const override { return now_ms.load(); }
  [[nodiscard]] Millis monotonic_ms() const override { return now_ms.load(); }
  [[nodiscard]] std::int64_t monotonic_ns() const override { return now_ms.load() * 1'000'000; }
  std::atomic<Millis> now_ms{1'700'000'000'000};
};

struct Reply {
  Moment answered;
  AppendOutcome outcome;  // once it is
};

class WriterThreads : public testing::Test, public AppenderHooks, public WriterHooks, public VisibilityObserver {
 protected:
  void SetUp() override {
    disk.set_hook([this](auto what, const auto&) -> Result<void> {
      if (what == sim::DiskOperation::write && !has_room.load()) {
        return error_of_errno(ENOSPC);
      }
      return {};
    });
    file = disk.open(folder.file("segment"), {.create = true}).value();
    appender.start({{}, LocalPartition{1}, nullptr, {}, 0});
    writer.start({});
    appender.offer_segment(std::make_shared<Segment>(SegmentId{1}, SegmentSeed{~0ULL}, file, "segment", "index"));
    appender.push_control([this](Appender& log) { return log.put_created(partition, LeaderEpoch{0}); });
    EXPECT_FALSE(outcome_of(append("first")).error);
  }
  void TearDown() override {  // none of them runs when the parts go
    other.stop();
    write.stop();
    replies.stop();
  }

  // AppenderHooks.
  void wake_writer() override { writer.wake(); }
  void group_is_ready() override { post_writer_resumed(); }
  void want_segment() override {}
  void continue_log_role() override {
    write.post([this] { appender.run_held_role(); });
  }
  void limit_reached() override {}
  SegmentHeader segment_begins(const std::shared_ptr<Segment>& segment) override {
    SegmentHeader header;
    header.id = segment->id();
    header.seed = segment->seed();
    return header;
  }
  [[nodiscard]] LogPosition begin_of_oldest_segment() const override { return {}; }

  // WriterHooks.
  void post_writer_turn() override {
    write.post([this] {
      writer.turn();
      turns.fetch_add(1);
    });
  }
  void post_writer_resumed() override {
    write.post([this] {
      writer.resumed();
      resumed.fetch_add(1);
    });
  }
  Result<void> admit(Segment& /*segment*/, bool /*begins*/, std::int64_t /*end*/) override { return {}; }
  void wrote(std::int64_t /*bytes*/) override {}
  bool wait_out(const Error& /*why*/) override {
    waits.fetch_add(1);
    return true;
  }
  void seal(std::unique_ptr<SegmentSnapshot> /*snapshot*/, bool /*is_synced*/) override {}
  void write_delta(std::unique_ptr<SegmentSnapshot> /*snapshot*/) override {}
  void sync_within(Millis /*ms*/) override {}
  void all_is_synced() override {}
  void writer_failed(Error /*error*/) override { appender.bring(); }

  void advanced(std::span<const std::shared_ptr<Partition>> /*partitions*/) override {}

  // Of a coordinator: it waits as long as there is no room.
  std::shared_ptr<Reply> append(const std::string& value) {
    auto reply = std::make_shared<Reply>();
    Append request;
    request.partition = partition;
    request.batch = make_valid_batch({.values = {value}});
    request.acks = Acks::internal;
    request.reply_on = &replies;
    request.done = told(reply);
    appender.push(std::move(request));
    return reply;
  }
  static UniqueFunction<void(const AppendOutcome&)> told(std::shared_ptr<Reply> reply) {
    return [reply = std::move(reply)](const AppendOutcome& outcome) {
      reply->outcome = outcome;
      reply->answered.happen();
    };
  }
  // `never` if there is none.
  static AppendOutcome outcome_of(const std::shared_ptr<Reply>& reply) {
    if (reply->answered.comes()) {
      return reply->outcome;
    }
    AppendOutcome never;
    never.error = Error{Errc::timed_out};
    return never;
  }
  // All that was posted to the write role so far has run.
  void settle() {
    auto settled = std::make_shared<Moment>();
    write.post([settled] { settled->happen(); });
    settled->comes();
  }
  // Another thread takes the log role and keeps it until may_go_on; then the log stops.
  std::shared_ptr<Reply> hold_log_role() {
    auto reply = std::make_shared<Reply>();
    other.post([this, reply] {
      appender.push_control([this, reply](Appender& log) {
        is_held.happen();
        may_go_on.comes();
        log.end({&replies, told(reply), {}});
        return true;
      });
    });
    is_held.comes();
    return reply;
  }
  // The disk has no room: one record's write waits, another record is behind it in the open group.
  void use_up_room() {
    before_wait = writer.written();
    has_room.store(false);
    waiting = append("waiting");
    comes_true([&] { return waits.load() == 1; });
    settle();
    late = append("late");
  }
  // The writer asks for what has come since it began to wait, and another thread has it.
  void ask_behind_a_held_role() {
    stopped = hold_log_role();
    clock.now_ms.fetch_add(kProducersWaitMs);
    write.post([this] { writer.retry(); });
    settle();
    ASSERT_EQ(waits.load(), 2);
  }
  void expect_written() {
    for (const auto& reply : {waiting, late, stopped}) {
      EXPECT_FALSE(outcome_of(reply).error);
    }
    EXPECT_EQ(waiting->outcome.base_offset, Offset{1});
    EXPECT_EQ(late->outcome.base_offset, Offset{2});
    EXPECT_EQ(partition->high_watermark(), Offset{3});
    EXPECT_EQ(writer.written(), appender.appended());
    EXPECT_EQ(appender.synced(), appender.appended());
    std::vector<std::byte> kept(static_cast<std::size_t>(appender.appended().value));
    std::vector<std::byte> meant(kept.size());
    ASSERT_TRUE(ImageReader{image}.copy({}, meant));
    ASSERT_EQ(file->read_at(0, kept).value(), kept.size());
    EXPECT_TRUE(kept == meant) << "the file is not what the image says";
  }
  void expect_refused(const std::shared_ptr<Reply>& reply) {
    const auto outcome = outcome_of(reply);
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(*outcome.error, Error{Errc::disk_failed});
  }

  TemporaryFolder folder;
  PosixDisk kernel;
  GateDisk disk{kernel};
  SetClock clock;
  LogMeter meter{nullptr, clock};
  SpaceGuard space{disk, folder.path(), 1};
  Image image{4 << 20};
  Appender appender{{}, image, clock, space, *this};
  Writer writer{appender, image, clock, meter, *this, *this};
  std::shared_ptr<LogPartition> partition =
      std::make_shared<LogPartition>(PartitionKey{}, LocalPartition{1}, PartitionRules{});
  std::shared_ptr<File> file;
  ThreadExecutor replies{"replies"};
  ThreadExecutor write{"write"};
  ThreadExecutor other{"other"};

  std::atomic<bool> has_room{true};
  std::atomic<int> turns{0};
  std::atomic<int> resumed{0};
  std::atomic<int> waits{0};
  LogPosition before_wait;
  Moment is_held;
  Moment may_go_on;
  std::shared_ptr<Reply> waiting;
  std::shared_ptr<Reply> late;
  std::shared_ptr<Reply> stopped;
};

// As a failed job of the keeper ends it: not by the write, which only waited.
TEST_F(WriterThreads, WhatComesLateBehindAFailureWhileAWriteWaitedForRoomIsAnsweredAndSoIsAStop) {
  use_up_room();
  stopped = hold_log_role();
  const auto turns_before = turns.load();
  write.post([this] {
    writer.fail(Error{Errc::disk_failed, EIO});
    writer.retry();
  });
  expect_refused(waiting);
  ASSERT_TRUE(comes_true([&] { return turns.load() == turns_before + 1; })) << "it asks for the open group";
  const auto resumed_before = resumed.load();
  may_go_on.happen();
  expect_refused(late);
  expect_refused(stopped);
  EXPECT_GT(resumed.load(), resumed_before) << "it came late";
}

TEST_F(WriterThreads, WhatWasAskedForWhileAWriteWaitedForRoomIsAnsweredWhenItComesBehindAFailure) {
  use_up_room();
  ask_behind_a_held_role();
  write.post([this] {
    writer.fail(Error{Errc::disk_failed, EIO});
    writer.retry();
  });
  expect_refused(waiting);
  may_go_on.happen();
  expect_refused(late);
  expect_refused(stopped);
}

TEST_F(WriterThreads, WhatComesWhileTheWriteStillWaitsIsAnsweredAfterAFailureBehindIt) {
  use_up_room();
  ask_behind_a_held_role();
  const auto resumed_before = resumed.load();
  may_go_on.happen();
  ASSERT_TRUE(comes_true([&] { return resumed.load() == resumed_before + 1; }));
  write.post([this] {
    writer.fail(Error{Errc::disk_failed, EIO});
    writer.retry();
  });
  expect_refused(waiting);
  expect_refused(late);
  expect_refused(stopped);
}

TEST_F(WriterThreads, WhatComesWhileTheWriteStillWaitsIsWrittenBehindItOnceThereIsRoom) {
  use_up_room();
  ask_behind_a_held_role();
  const auto resumed_before = resumed.load();
  may_go_on.happen();
  ASSERT_TRUE(comes_true([&] { return resumed.load() == resumed_before + 1; }));
  has_room.store(true);
  write.post([this] { writer.retry(); });
  expect_written();
}

TEST_F(WriterThreads, WhatWasAskedForWhileAWriteWaitedIsWrittenWhenItComesAfterThereWasRoom) {
  use_up_room();
  ask_behind_a_held_role();
  const auto turns_before = turns.load();
  has_room.store(true);
  write.post([this] { writer.retry(); });
  settle();
  EXPECT_GT(writer.written(), before_wait);
  settle();
  EXPECT_EQ(turns.load(), turns_before) << "asked for twice, it might be taken while it is handed over";
  may_go_on.happen();
  expect_written();
}

}  // namespace
}  // namespace weir::log
