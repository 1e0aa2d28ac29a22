// SegmentKeeper by itself: its jobs run when the test says so, one at a time.
#include "log/segment_keeper.hpp"

#include <gtest/gtest.h>

#include "sim/seams/sim_runtime.hpp"

namespace weir::log {
namespace {

class SegmentKeeperTest : public testing::Test, public KeeperHooks {
 protected:
  SegmentKeeperTest() {
    WEIR_CHECK(machine.disk.make_directories("data").has_value());
    WEIR_CHECK(keeper.open().has_value());
    keeper.prepare();
    run_jobs(1);
    WEIR_CHECK(prepared == 1);
  }

  void run_on_pool(Task job) override { ready.push_back(std::move(job)); }
  void segment_prepared(std::shared_ptr<Segment>) override { ++prepared; }
  void segment_synced(Result<void>) override {}
  bool is_log_idle() override {
    ++looked;
    return true;
  }
  bool wait_out(const Error& /*why*/, const char* /*job*/, Task /*again*/) override { return false; }
  void keeper_failed(Error error) override { ADD_FAILURE() << to_string(error); }

  void run_jobs(int count) {
    for (; count > 0 && !ready.empty(); --count) {
      auto job = std::move(ready.front());
      ready.pop_front();
      job();
    }
  }

  sim::SimMachine machine{5};
  Runtime runtime = machine.process.runtime();
  SegmentList list;
  LogMeter meter{nullptr, runtime.clock};
  SegmentKeeper keeper{machine.disk, runtime.pool, "data", IoMode::direct, 8 << 20, 1, list, meter, *this};
  std::deque<Task> ready;
  int prepared = 0;
  int looked = 0;  // before each piece of zeros
};

TEST_F(SegmentKeeperTest, ZeroingThatIsDueManyTimesHoldsUpTheNextSegmentOnceAndNotForOnePiece) {
  for (int due = 0; due < 10; ++due) {
    keeper.zero_ahead();
  }
  keeper.prepare();
  run_jobs(2);
  EXPECT_EQ(prepared, 2);
  EXPECT_EQ(looked, 1);
}

TEST_F(SegmentKeeperTest, ZeroingThatWasDoneMayBeAskedForAgain) {
  keeper.zero_ahead();
  run_jobs(1);
  EXPECT_EQ(looked, 9) << "a file of eight pieces, and then there is none left";
  keeper.zero_ahead();
  run_jobs(1);
  EXPECT_EQ(looked, 10);
}

}  // namespace
}  // namespace weir::log
