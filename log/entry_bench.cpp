// The hot path of the log role: one entry header a batch. 100 ns here is 1 % of a core at 100,000 batches a second.
#include <benchmark/benchmark.h>

#include "log/entry.hpp"

namespace weir::log {
namespace {

void BM_EncodeBatchHeader(benchmark::State& state) {
  const std::vector<std::byte> batch(1000, std::byte{7});
  std::array<std::byte, kEntryHeaderSize> header{};
  std::int64_t position = kSegmentHeaderSize;
  for (auto _ : state) {
    encode_batch_header(header, SegmentSeed{0x0102'0304'0506'0708}, position, LocalPartition{3}, 1000, batch);
    position += 8;
    benchmark::DoNotOptimize(header);
  }
}
BENCHMARK(BM_EncodeBatchHeader);

// After damage: how fast the next entry is found. A slow start after a bad block would be felt at 1 GiB.
void BM_Resync(benchmark::State& state) {
  const std::vector<std::byte> bytes(1U << 20U, std::byte{7});
  for (auto _ : state) {
    EntryScanner scanner{bytes, kSegmentHeaderSize, SegmentSeed{0x0102'0304'0506'0708}};
    benchmark::DoNotOptimize(scanner.resync());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(bytes.size()));
}
BENCHMARK(BM_Resync);

}  // namespace
}  // namespace weir::log
