#include "base/machine_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir {
namespace {
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kMiB = 1 << 20;

TEST(MachineMemory, ReadsWhatTheKernelWrites) {
  EXPECT_EQ(memory_of_machine("MemTotal:       24683844 kB\nMemFree:         1 kB\n"), 24'683'844LL * 1024);
  EXPECT_EQ(memory_of_machine("Other: 1 kB\n"), std::nullopt);
  EXPECT_EQ(memory_of_machine(""), std::nullopt);
  EXPECT_EQ(group_limit("268435456\n"), 268'435'456);
  EXPECT_EQ(group_limit("max\n"), std::nullopt);
  EXPECT_EQ(group_limit("9223372036854771712\n"), std::nullopt) << "no limit, as the old hierarchy says it";
  EXPECT_EQ(group_limit(""), std::nullopt);
}

TEST(MachineMemory, AGroupIsBoundByAllAboveItInBothHierarchies) {
  EXPECT_THAT(group_limit_files("0::/\n"), ElementsAre("/sys/fs/cgroup/memory.max"));
  EXPECT_THAT(group_limit_files("0::/a/b\n"),
              ElementsAre("/sys/fs/cgroup/a/b/memory.max", "/sys/fs/cgroup/a/memory.max", "/sys/fs/cgroup/memory.max"));
  EXPECT_THAT(
      group_limit_files("12:pids:/x\n9:cpu,memory:/a\n"),
      ElementsAre("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  EXPECT_THAT(group_limit_files("nonsense\n"), IsEmpty());
}

TEST(MachineMemory, BudgetsOverTheBoundAreToldWithTheKeysToLowerTheLargestFirst) {
  const Config config;
  EXPECT_EQ(memory_warning(config, {.bytes = 576 * kMiB}), std::nullopt);
  const auto told = memory_warning(config, {.bytes = 575 * kMiB, .of_group = true});
  ASSERT_TRUE(told);
  EXPECT_THAT(*told, AllOf(HasSubstr("allow 576 MiB (mq.memory.bytes 256 MiB, mq.request.memory.bytes 128 MiB"),
                           HasSubstr("its control group has 575 MiB")));
  EXPECT_THAT(*memory_warning(config, {.bytes = 256 * kMiB}), HasSubstr("this machine has 256 MiB"));
  EXPECT_EQ(memory_warning(config, {}), std::nullopt) << "nobody knows";
}

TEST(MachineMemory, ThisMachineSaysSomething) {
  EXPECT_GT(memory_bound().bytes, 16 * kMiB);
}

}  // namespace
}  // namespace weir
