// The keeper with a pool of several threads: what one job and a sync beside it may meet, brought there by gates; and
// everything that is asked of it at once.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "base/errno_error.hpp"
#include "base/posix_disk.hpp"
#include "base/temporary_folder.hpp"
#include "base/thread_executor.hpp"
#include "log/segment_keeper.hpp"
#include "log/test_threads.hpp"

namespace weir::log {
namespace {

constexpr std::int64_t kSegmentBytes = 1 << 20;
constexpr std::int64_t kFilled = 16384;
constexpr const char* kSealing = "sealing a full segment";

class SegmentKeeperThreads : public testing::Test, public KeeperHooks {
 protected:
  // The pool runs what it has; then nothing is on its way. After it only the test's thread is left.
  void end_pool() {
    later.stop();
    pool.stop();
  }
  void TearDown() override { end_pool(); }

  // KeeperHooks.
  void run_on_pool(Task job) override {
    posted.fetch_add(1);
    pool.post([this, job = std::move(job)]() mutable {
      job();
      ended.fetch_add(1);
    });
  }
  void segment_synced(Result<void> result) override {
    synced.fetch_add(1);
    sync_errors.fetch_add(result ? 0 : 1);
  }
  bool is_log_idle() override { return true; }
  void keeper_failed(Error error) override {
    const std::scoped_lock lock(mutex);
    failures.push_back(error);
  }

  // An empty segment that goes on where the one before ended, named in the manifest and published.
  void begin(const std::shared_ptr<Segment>& segment) {
    segment->begin(end);
    ASSERT_TRUE(keeper.admit(*segment, true, kFilled));
    list.change([&](auto& members) { members.push_back({segment, nullptr}); });
    const std::vector<std::byte> bytes(kFilled, std::byte{1});
    const std::array<Bytes, 1> parts{Bytes{bytes}};
    ASSERT_TRUE(segment->writing_file().write_at(0, parts));
  }
  void seal(const std::shared_ptr<Segment>& segment, bool is_synced) {
    segment->set_valid_end(kFilled);
    end = segment->start() + kFilled;
    keeper.seal(snapshot_of(segment, kFilled), is_synced);
  }
  static std::unique_ptr<SegmentSnapshot> snapshot_of(const std::shared_ptr<Segment>& segment, std::int64_t to,
                                                      std::int64_t from = kSegmentHeaderSize) {
    auto snapshot = std::make_unique<SegmentSnapshot>();
    snapshot->segment = segment;
    snapshot->from = from;
    snapshot->to = to;
    return snapshot;
  }

  TemporaryFolder folder;
  PosixDisk kernel;
  GateDisk disk{kernel};
  RealClock clock;
  LogMeter meter{nullptr, clock};
  PoolExecutor pool{"pool", 3};
  PoolExecutor later{"later", 1};
  SegmentList list;
  SegmentKeeper keeper{disk, pool, folder.path(), IoMode::buffered, kSegmentBytes, 1, list, meter, *this};
  LogPosition end{0};

  std::atomic<int> posted{0};  // to the pool by the keeper
  std::atomic<int> ended{0};
  std::atomic<int> synced{0};
  std::atomic<int> sync_errors{0};
  std::mutex mutex;  // guards failures
  std::vector<Error> failures;
};

// A job waits for descriptors. A segment becomes full meanwhile, and its sync, on one thread of the pool, is held in
// the disk while the job comes again on another one.
class FailingSync : public SegmentKeeperThreads {
 protected:
  void SetUp() override {
    disk.set_hook([this](auto what, const auto& path) -> Result<void> { return before(what, path); });
    ASSERT_TRUE(keeper.open());
    auto prepared = keeper.prepare_now();
    ASSERT_TRUE(prepared);
    full = *prepared;
    begin(full);
    keeper.write_delta(snapshot_of(full, kFilled));
    ASSERT_TRUE(waits.comes());
    ASSERT_TRUE(comes_true([&] { return ended.load() == posted.load(); })) << "no thread is in the job any more";
    seal(full, false);
    ASSERT_TRUE(is_syncing.comes());
  }
  void segment_prepared(std::shared_ptr<Segment> /*segment*/) override {}
  bool wait_out(const Error& why, const char* /*job*/, Task task) override {
    EXPECT_EQ(why, error_of_errno(EMFILE));
    if (shortages.fetch_add(1) == 0) {
      again = std::move(task);
      waits.happen();
      return true;
    }
    return at_second_shortage();
  }
  Result<void> before(sim::DiskOperation what, const std::string& path) {
    if (what == sim::DiskOperation::create && path.ends_with(".index") && !has_files.load()) {
      if (deltas.fetch_add(1) == 1) {
        at_second_try();
      }
      return error_of_errno(EMFILE);
    }
    if (what == sim::DiskOperation::sync && path.ends_with(".log")) {
      syncs.fetch_add(1);
      is_syncing.happen();
      may_fail.comes();
      return error_of_failed_sync(EIO);
    }
    return {};
  }
  void run_again() { run_on_pool(std::move(again)); }
  // The thread that syncs has told everybody and dropped the jobs; another thread is in a job.
  void let_the_sync_fail() {
    const auto before_it = ended.load();
    may_fail.happen();
    comes_true([&] { return ended.load() == before_it + 1; });
  }
  void expect_no_claim_of_the_segment() {
    EXPECT_EQ(syncs.load(), 1) << "a sync that failed is not repeated";
    EXPECT_EQ(synced.load(), 1);
    EXPECT_EQ(sync_errors.load(), 1);
    const auto& facts = keeper.manifest().segments.at(full->id());
    EXPECT_FALSE(facts.sealed);
    EXPECT_EQ(keeper.manifest().clean_point, LogPosition{0});
    const auto version = list.current();
    EXPECT_EQ(version->members.back().index, nullptr);
  }

  std::function<void()> at_second_try = [] {};
  std::function<bool()> at_second_shortage = [] { return true; };
  std::shared_ptr<Segment> full;
  Task again;
  Moment waits;
  Moment is_syncing;
  Moment may_fail;
  std::atomic<bool> has_files{false};
  std::atomic<int> deltas{0};
  std::atomic<int> shortages{0};
  std::atomic<int> syncs{0};
};

TEST_F(FailingSync, ASealingThatWaitsForASyncOnAnotherThreadMakesNoClaimWhenThatFails) {
  has_files.store(true);
  run_again();
  ASSERT_TRUE(comes_true([&] { return std::strcmp(keeper.doing().what(), kSealing) == 0; }));
  may_fail.happen();
  end_pool();
  expect_no_claim_of_the_segment();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0], error_of_failed_sync(EIO));
}

TEST_F(FailingSync, AJobThatMeetsAShortageWhileASyncFailsOnAnotherThreadDoesNotComeAgain) {
  at_second_try = [this] { let_the_sync_fail(); };
  run_again();
  Moment is_idle;
  keeper.when_idle([&] { is_idle.happen(); });
  EXPECT_TRUE(is_idle.comes());
  end_pool();
  EXPECT_EQ(shortages.load(), 1) << "nobody is told that it waits";
  EXPECT_EQ(deltas.load(), 2);
  expect_no_claim_of_the_segment();
}

TEST_F(FailingSync, AStopThatMeetsAJobAboutToWaitWhileASyncFailsOnAnotherThreadEnds) {
  at_second_shortage = [this] {
    let_the_sync_fail();
    return false;
  };
  run_again();
  Moment is_idle;
  keeper.when_idle([&] { is_idle.happen(); });
  EXPECT_TRUE(is_idle.comes());
  end_pool();
  EXPECT_EQ(shortages.load(), 2);
  EXPECT_EQ(deltas.load(), 2);
  expect_no_claim_of_the_segment();
}

// As the roles of a log use it: one thread fills, seals and asks for the next segment, others remove, zero and mend,
// every third file meets a shortage, and somebody looks at each version.
class BusyKeeper : public SegmentKeeperThreads {
 protected:
  static constexpr std::uint64_t kSegments = 20;
  static constexpr int kMendsMax = 100;  // each is a job

  void SetUp() override {
    disk.set_hook([this](auto what, const auto& path) -> Result<void> { return before(what, path); });
    ASSERT_TRUE(keeper.open());
  }
  void segment_prepared(std::shared_ptr<Segment> segment) override {
    const std::scoped_lock lock(prepared_mutex);
    EXPECT_EQ(prepared, nullptr) << "nobody asked for it";
    prepared = std::move(segment);
  }
  bool wait_out(const Error& why, const char* /*job*/, Task again) override {
    EXPECT_TRUE(is_shortage(why));
    shortages.fetch_add(1);
    later.post([this, again = std::move(again)]() mutable { run_on_pool(std::move(again)); });
    return true;
  }
  Result<void> before(sim::DiskOperation what, const std::string& path) {
    if (what == sim::DiskOperation::sync && path.ends_with(".log")) {
      const std::scoped_lock lock(mutex);
      ++syncs[path];
    }
    if (what != sim::DiskOperation::create || path.find("/commitlog/") == std::string::npos) {
      return {};
    }
    EXPECT_EQ(in_jobs.fetch_add(1), 0) << "jobs run one at a time";
    std::this_thread::yield();
    in_jobs.fetch_sub(1);
    return creates.fetch_add(1) % 3 == 0 ? Result<void>{error_of_errno(EMFILE)} : Result<void>{};
  }
  std::shared_ptr<Segment> next_segment() {
    std::shared_ptr<Segment> segment;
    keeper.prepare();
    comes_true([&] {
      const std::scoped_lock lock(prepared_mutex);
      segment = std::move(prepared);
      prepared = nullptr;
      return segment != nullptr;
    });
    return segment;
  }
  void fill() {
    for (std::uint64_t number = 1; number <= kSegments; ++number) {
      const auto segment = next_segment();
      ASSERT_NE(segment, nullptr);
      begin(segment);
      keeper.write_delta(snapshot_of(segment, 8192));
      const bool is_synced = number % 3 == 0;  // as the writer does it when an answer waits
      if (is_synced) {
        ASSERT_TRUE(segment->writing_file().sync());
      }
      unsynced += is_synced ? 0 : 1;
      seal(segment, is_synced);
    }
  }
  // What every reader counts on.
  void expect_whole(const SegmentSet& version) {
    bool is_open = false;
    SegmentId last{0};
    for (const auto& [segment, index] : version.members) {
      EXPECT_GT(segment->id(), last);
      last = segment->id();
      EXPECT_FALSE(is_open && index) << "those without an index are the last ones";
      is_open = !index;
      if (index) {
        EXPECT_EQ(index->facts().valid_end, kFilled);
        const std::scoped_lock lock(mutex);
        EXPECT_EQ(syncs[segment->path()], 1) << segment->path();
      }
    }
  }
  void look() {
    for (int looks = 0; goes_on.load(); ++looks) {
      const auto version = list.current();
      expect_whole(*version);
      if (looks < kMendsMax) {
        keeper.mend_indexes();
      }
      keeper.zero_ahead();
      std::this_thread::yield();
    }
  }
  void remove_old_ones() {
    while (goes_on.load()) {
      const auto version = list.current();
      const auto& members = version->members;
      if (members.size() < 5 || !members[1].index) {
        std::this_thread::yield();
        continue;
      }
      const std::vector<SegmentId> oldest{members[0].segment->id(), members[1].segment->id()};
      const auto is_removed = std::make_shared<Moment>();
      keeper.remove(oldest, [is_removed] { is_removed->happen(); });
      if (!is_removed->comes()) {
        return;
      }
      removed.insert(oldest.begin(), oldest.end());
      const auto after = list.current();
      EXPECT_GT(after->members.front().segment->id(), oldest.back());
    }
  }
  std::mutex prepared_mutex;  // guards prepared
  std::shared_ptr<Segment> prepared;
  std::map<std::string, int> syncs;  // by path, with mutex
  std::set<SegmentId> removed;       // the thread that removes
  int unsynced = 0;                  // the thread that fills
  std::atomic<bool> goes_on{true};
  std::atomic<int> in_jobs{0};
  std::atomic<int> creates{0};
  std::atomic<int> shortages{0};
};

TEST_F(BusyKeeper, SealsInOrderWhatWasSyncedOnceWhateverIsAskedForBesideIt) {
  std::vector<std::thread> threads;
  threads.emplace_back([this] { look(); });
  threads.emplace_back([this] { remove_old_ones(); });
  fill();
  goes_on.store(false);
  for (auto& thread : threads) {
    thread.join();
  }
  Moment is_idle;
  keeper.when_idle([&] {
    const auto version = list.current();
    EXPECT_TRUE(version->members.back().index) << "idle, and a segment is not sealed";
    is_idle.happen();
  });
  ASSERT_TRUE(is_idle.comes());
  end_pool();
  EXPECT_GT(shortages.load(), 10);
  EXPECT_TRUE(failures.empty());
  EXPECT_EQ(synced.load(), unsynced);
  EXPECT_EQ(sync_errors.load(), 0);
  EXPECT_GT(removed.size(), 0U);
  const auto version = list.current();
  expect_whole(*version);
  EXPECT_EQ(version->members.size() + removed.size(), kSegments);
  const auto& manifest = keeper.manifest();
  EXPECT_EQ(manifest.segments.size(), version->members.size());
  EXPECT_EQ(manifest.clean_point, end);
  for (const auto& member : version->members) {
    EXPECT_TRUE(manifest.segments.at(member.segment->id()).sealed);
  }
  for (const auto id : removed) {
    EXPECT_FALSE(disk.exists(keeper.files().path_of(id)));
    EXPECT_FALSE(disk.exists(keeper.files().index_path_of(id)));
  }
}

}  // namespace
}  // namespace weir::log
