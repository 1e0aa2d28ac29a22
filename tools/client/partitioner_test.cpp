#include "tools/client/partitioner.hpp"

#include <gtest/gtest.h>

namespace weir::client {
namespace {

// The vectors of Kafka's own test of this hash.
TEST(Partitioner, HashesAsKafkasClientsDo) {
  const auto hash = [](std::string_view text) { return static_cast<std::int32_t>(murmur2(as_bytes(text))); };
  EXPECT_EQ(hash("21"), -973932308);
  EXPECT_EQ(hash("foobar"), -790332482);
  EXPECT_EQ(hash("a-little-bit-long-string"), -985981536);
  EXPECT_EQ(hash("a-little-bit-longer-string"), -1486304829);
  EXPECT_EQ(hash("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8"), -58897971);
  EXPECT_EQ(hash("abc"), 479470107);
}

TEST(Partitioner, NegativeHashesAndTheEmptyKeyFindAPartition) {
  for (const std::int32_t partitions : {1, 2, 3, 12}) {
    for (const std::string_view key : {"", "21", "foobar", "abc"}) {
      const auto partition = partition_of_key(as_bytes(key), partitions);
      EXPECT_GE(partition, 0);
      EXPECT_LT(partition, partitions);
    }
  }
}

}  // namespace
}  // namespace weir::client
