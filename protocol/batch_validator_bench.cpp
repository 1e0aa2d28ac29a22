// What an io thread pays for each batch of a produce request before the log sees it. One core that handles 500,000
// single 1 KiB records a second has 2 µs for each, so this may cost a small part of that.
#include "protocol/batch_validator.hpp"

#include <benchmark/benchmark.h>

#include "base/random.hpp"
#include "protocol/record.hpp"

namespace weir::protocol {
namespace {

constexpr Millis kNow = 1'750'000'000'000;

std::vector<std::byte> batch_of(std::int64_t records, std::size_t value_size, Codec codec) {
  Random random{1};
  RecordBatchBuilder builder{{.codec = codec, .producer_id = 1, .producer_epoch = 0, .base_sequence = 0}};
  std::string value(value_size, 'x');
  for (std::int64_t i = 0; i < records; ++i) {
    for (auto& letter : value) {
      letter = static_cast<char>('a' + random.below(26));
    }
    builder.append({.key = as_bytes("key-1234"), .value = as_bytes(value), .timestamp = kNow - 1000 + i % 50});
  }
  return *builder.build();
}

void judge(benchmark::State& state, Codec codec, const BatchRules& rules = {}) {
  const auto batch = batch_of(state.range(0), static_cast<std::size_t>(state.range(1)), codec);
  for (auto _ : state) {
    const auto verdict = validate_batch({batch, nullptr}, rules, {.now_ms = kNow});
    if (!std::holds_alternative<ValidBatch>(verdict)) {
      state.SkipWithError("refused");
    }
  }
  state.SetBytesProcessed(state.iterations() * std::ssize(batch));
}

void BM_ValidatePlain(benchmark::State& state) {
  judge(state, Codec::none);
}
BENCHMARK(BM_ValidatePlain)->Args({1, 1024})->Args({16, 1024})->Args({900, 1024})->Args({8000, 100});

void BM_ChecksumOnly(benchmark::State& state) {  // the part of the above that nobody can leave out
  const auto batch = batch_of(state.range(0), static_cast<std::size_t>(state.range(1)), Codec::none);
  const auto view = *RecordBatchView::parse(batch);
  for (auto _ : state) {
    benchmark::DoNotOptimize(view.crc_ok());
  }
  state.SetBytesProcessed(state.iterations() * std::ssize(batch));
}
BENCHMARK(BM_ChecksumOnly)->Args({1, 1024})->Args({16, 1024})->Args({900, 1024})->Args({8000, 100});

void BM_ValidateLz4(benchmark::State& state) {
  judge(state, Codec::lz4);
}
BENCHMARK(BM_ValidateLz4)->Args({1, 1024})->Args({16, 1024})->Args({900, 1024});
void BM_ValidateZstd(benchmark::State& state) {
  judge(state, Codec::zstd);
}
BENCHMARK(BM_ValidateZstd)->Args({1, 1024})->Args({16, 1024})->Args({900, 1024});
void BM_ValidateSnappy(benchmark::State& state) {
  judge(state, Codec::snappy);
}
BENCHMARK(BM_ValidateSnappy)->Args({16, 1024});
void BM_ValidateGzip(benchmark::State& state) {
  judge(state, Codec::gzip);
}
BENCHMARK(BM_ValidateGzip)->Args({16, 1024});

void BM_StampAppendTime(benchmark::State& state) {  // a copy and a second checksum
  judge(state, Codec::none, {.timestamp_type = TimestampType::log_append_time});
}
BENCHMARK(BM_StampAppendTime)->Args({1, 1024})->Args({16, 1024});

void BM_RecompressToZstd(benchmark::State& state) {
  judge(state, Codec::none, {.codec = Codec::zstd});
}
BENCHMARK(BM_RecompressToZstd)->Args({16, 1024});

}  // namespace
}  // namespace weir::protocol
