// Every produced byte passes here once, and once more when a header is stamped: at 1 GB/s and 1 GiB/s of checksum a
// whole core would go.
#include "base/crc32c.hpp"

#include <benchmark/benchmark.h>

namespace weir {
namespace {

void BM_Crc32c(benchmark::State& state) {
  const std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)), std::byte{0x5a});
  for (auto _ : state) {
    benchmark::DoNotOptimize(crc32c(bytes));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Crc32c)->Arg(64)->Arg(1024)->Arg(16 * 1024)->Arg(1024 * 1024);

}  // namespace
}  // namespace weir
