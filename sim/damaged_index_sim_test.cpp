// A damaged index file as a client meets it: an error after which every client comes again by itself, then all records.
#include <gtest/gtest.h>

#include "base/logging.hpp"
#include "log/segment_header.hpp"
#include "sim/sim_producer.hpp"

namespace weir::sim {
namespace {

const SimTopic kTopic{"t", 2};
constexpr int kBatches = 40;
constexpr std::int64_t kFirstSection = 64;  // behind the header

TEST(DamagedIndexSim, AFetchHearsAStorageErrorAtMostOnceAndThenEverything) {
  int met = 0;
  int told = 0;
  for (std::int64_t step = 0; step < 12; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    World world{77};
    Oracle oracle;
    ASSERT_TRUE(world.start_broker()) << world.why();
    ASSERT_TRUE(create_topic(world, kTopic));
    {
      SimProducer producer{world, oracle, kTopic, {}};
      ASSERT_TRUE(producer.connect());
      for (int i = 0; i < kBatches; ++i) {
        producer.produce_one();
        ASSERT_TRUE(world.run_until([&] { return producer.idle(); }, World::kPatienceMs));
      }
    }
    ASSERT_TRUE(world.stop_broker());
    const auto file = "data/commitlog/" + log::index_file_name(SegmentId{1});
    const auto size = std::ssize(*read_file(world.disk(), file, 1 << 20));
    const auto at = kFirstSection + step * (size - kFirstSection) / 12;
    ASSERT_TRUE(world.disk().damage(file, at, std::byte{0x20}));
    const LogCapture lines;
    ASSERT_TRUE(world.start_broker()) << world.why();
    for (std::int32_t partition = 0; partition < kTopic.partitions; ++partition) {
      std::string why;
      auto records = read_all(world, kTopic, partition, why);
      if (!records) {
        EXPECT_NE(why.find("error 56"), std::string::npos) << why;
        ++met;
        records = read_all(world, kTopic, partition, why);
      }
      ASSERT_TRUE(records) << why;
      EXPECT_EQ(oracle.judge(partition, *records, false), "");
    }
    const auto said = lines.lines();
    const bool is_told = std::ranges::any_of(said, [&](const auto& line) {
      return line.find("made again") != std::string::npos && line.find(file) != std::string::npos;
    });
    told += is_told ? 1 : 0;
  }
  EXPECT_GE(met, 1) << "no damage was met by a fetch";
  EXPECT_GE(told, met) << "whatever is made again is told";
}

}  // namespace
}  // namespace weir::sim
