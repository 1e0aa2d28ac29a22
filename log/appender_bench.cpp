// What one append costs in all: queue, log role, image, write, answer. 10 µs here is a tenth of a core at 10,000
// requests a second. On the simulated disk, so that the figure is ours and not the device's.
#include <benchmark/benchmark.h>

#include "log/test_log.hpp"

namespace weir::log {
namespace {

void append_many(benchmark::State& state, FlushMode flush, std::size_t value_size, std::size_t at_once) {
  TestLog test{1};
  test.options.segment_bytes = 1 << 30;
  test.options.image_bytes = 64 << 20;
  WEIR_CHECK(test.start().has_value());
  PartitionRules rules;
  rules.flush = flush;
  const auto partition = test.create(1, 0, rules);
  const auto batch = make_valid_batch({.values = {std::string(value_size, 'v')}});
  std::size_t answered = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < at_once; ++i) {
      Append append;
      append.partition = partition;
      append.batch = batch;
      append.reply_on = test.runtime->io.front();
      append.done = [&answered](const AppendOutcome&) { ++answered; };
      test.log->append(std::move(append));
    }
    test.queue.run_until_idle();
  }
  WEIR_CHECK(answered == static_cast<std::size_t>(state.iterations()) * at_once);
  state.SetItemsProcessed(static_cast<std::int64_t>(answered));
  state.SetBytesProcessed(static_cast<std::int64_t>(answered * batch.size()));
}

void BM_AppendAsync(benchmark::State& state) {
  append_many(state, FlushMode::async, static_cast<std::size_t>(state.range(0)),
              static_cast<std::size_t>(state.range(1)));
}
void BM_AppendSync(benchmark::State& state) {
  append_many(state, FlushMode::sync, static_cast<std::size_t>(state.range(0)),
              static_cast<std::size_t>(state.range(1)));
}
// The simulated disk keeps all that is written, so the number of rounds is bounded.
BENCHMARK(BM_AppendAsync)->Args({1'024, 1})->Args({1'024, 64})->Iterations(2'000);
BENCHMARK(BM_AppendAsync)->Args({16'384, 16})->Iterations(500);
BENCHMARK(BM_AppendSync)->Args({1'024, 1})->Args({1'024, 64})->Iterations(2'000);

}  // namespace
}  // namespace weir::log
