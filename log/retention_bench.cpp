// What a pass of retention costs where nothing can have expired, with 50,000 partitions: at one pass a second 10 ms are
// one percent of a core.
#include <benchmark/benchmark.h>

#include "log/test_log.hpp"

namespace weir::log {
namespace {

void BM_PassWithNothingToForget(benchmark::State& state) {
  TestLog test{1};
  test.options.segment_bytes = 1 << 30;
  test.options.image_bytes = 64 << 20;
  WEIR_CHECK(test.start().has_value());
  PartitionRules rules;
  rules.retention_bytes = 1'000'000;
  for (int topic = 1; topic <= state.range(0); ++topic) {
    const auto partition = test.create(topic, 0, rules);
    static_cast<void>(test.append(partition, {.timestamp = test.queue.clock().wall_ms()}, Acks::none));
    if (topic % 1'000 == 0) {
      test.queue.run_until_idle();
    }
  }
  test.queue.run_until_idle();
  for (auto _ : state) {
    test.log->run_retention([] {});
    test.queue.run_until_idle();
  }
  WEIR_CHECK(test.find(1, 0)->log_start() == Offset{0});
}
BENCHMARK(BM_PassWithNothingToForget)->Arg(1'000)->Arg(50'000)->Iterations(50)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weir::log
