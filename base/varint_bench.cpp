// A record has about eight varints, so a core that walks ten million records a second reads eighty million of them.
#include "base/varint.hpp"

#include <benchmark/benchmark.h>

#include <array>

namespace weir {
namespace {

void BM_DecodeVarint(benchmark::State& state) {  // the argument is the encoded size in bytes
  std::array<std::byte, 16> bytes{};
  encode_uvarint(bytes, (1ULL << (7U * static_cast<unsigned>(state.range(0)))) - 1);
  for (auto _ : state) {
    std::uint64_t value = 0;
    benchmark::DoNotOptimize(decode_uvarint64(bytes, value));
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK(BM_DecodeVarint)->Arg(1)->Arg(2)->Arg(5)->Arg(9);

}  // namespace
}  // namespace weir
