// Append runs once a batch, find once a fetched partition: 1 µs here is 1 % of a core at 10,000 fetches a second.
#include <benchmark/benchmark.h>

#include "log/offset_index.hpp"

namespace weir::log {
namespace {

void fill(OffsetIndex& index, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    index.append({Offset{i * 10}, Offset{i * 10 + 9}, i * 8, 100, i});
  }
}

void BM_Append(benchmark::State& state) {
  for (auto _ : state) {
    OffsetIndex index;
    fill(index, 10'000);
    benchmark::DoNotOptimize(index.size());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * 10'000);
}
BENCHMARK(BM_Append);

void BM_Find(benchmark::State& state) {
  OffsetIndex index;
  fill(index, state.range(0));
  std::int64_t offset = 0;
  for (auto _ : state) {
    offset = (offset + 7'919) % (state.range(0) * 10);
    benchmark::DoNotOptimize(index.find(Offset{offset}));
  }
}
BENCHMARK(BM_Find)->Arg(64)->Arg(4096)->Arg(1 << 20);

// ListOffsets by a time that only the last batch has: the longest search there is.
void BM_FindByTime(benchmark::State& state) {
  OffsetIndex index;
  fill(index, state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(index.find_by_time(state.range(0) - 1));
  }
}
BENCHMARK(BM_FindByTime)->Arg(4096)->Arg(1 << 20);

}  // namespace
}  // namespace weir::log
