// The kinds of metrics. Any thread adds, any thread reads; an add is one relaxed atomic operation, on a cache line of
// its own for counters of the data path. A read during adds may miss the newest of them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace weir {

class Counter {
 public:
  void add(std::uint64_t count = 1) { cells_[shard()].value.fetch_add(count, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t value() const {
    std::uint64_t total = 0;
    for (const auto& cell : cells_) {
      total += cell.value.load(std::memory_order_relaxed);
    }
    return total;
  }

 private:
  static constexpr std::size_t kShards = 8;
  static constexpr std::size_t kCacheLine = 64;
  struct alignas(kCacheLine) Cell {
    std::atomic<std::uint64_t> value{0};
  };
  static std::size_t shard() {
    static std::atomic<std::size_t> next{0};
    thread_local const std::size_t kMine = next.fetch_add(1, std::memory_order_relaxed) % kShards;
    return kMine;
  }
  std::array<Cell, kShards> cells_;
};

class Gauge {
 public:
  void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  void add(std::int64_t change) { value_.fetch_add(change, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// Durations in buckets that double, from 32 µs to 67 s.
class Histogram {
 public:
  static constexpr std::size_t kBuckets = 22;
  static constexpr std::int64_t kFirstBoundNs = 32'000;

  void observe_ns(std::int64_t duration_ns) {
    std::size_t bucket = 0;
    while (bucket < kBuckets && duration_ns > bound_ns(bucket)) {
      ++bucket;
    }
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(duration_ns, std::memory_order_relaxed);
  }
  static constexpr std::int64_t bound_ns(std::size_t bucket) { return kFirstBoundNs << bucket; }
  [[nodiscard]] std::uint64_t count(std::size_t bucket) const {
    return counts_[bucket].load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::int64_t sum_ns() const { return sum_ns_.load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<std::uint64_t>, kBuckets + 1> counts_{};  // the last one has no bound
  std::atomic<std::int64_t> sum_ns_{0};
};

// Values of a label are numbers: API keys (Kafka's, and ours from 19000) and error codes. All others share one place,
// so that nothing from the wire makes the table grow.
struct MetricLabels {
  static constexpr int kFirst = -1;
  static constexpr int kPlain = 200;
  static constexpr int kExtensionFirst = 19000;
  static constexpr int kExtensions = 32;
  static constexpr std::size_t kOther = kPlain + kExtensions;
  static constexpr std::size_t kCount = kOther + 1;

  static constexpr std::size_t index_of(int label) {
    if (label >= kFirst && label < kFirst + kPlain) {
      return static_cast<std::size_t>(label - kFirst);
    }
    if (label >= kExtensionFirst && label < kExtensionFirst + kExtensions) {
      return static_cast<std::size_t>(kPlain + label - kExtensionFirst);
    }
    return kOther;
  }
  // Not for kOther.
  static constexpr int label_of(std::size_t index) {
    const auto at = static_cast<int>(index);
    return at < kPlain ? at + kFirst : at - kPlain + kExtensionFirst;
  }
};

class CounterByLabel {
 public:
  void add(int label, std::uint64_t count = 1) {
    cells_[MetricLabels::index_of(label)].fetch_add(count, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t at(std::size_t index) const { return cells_[index].load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<std::uint64_t>, MetricLabels::kCount> cells_{};
};

// A gauge for each of many things, measured when somebody asks: nothing is kept here, its lines come with the question.
class MeasuredGaugeByLabel {};

class HistogramByLabel {
 public:
  void observe_ns(int label, std::int64_t duration_ns) {
    histograms_[MetricLabels::index_of(label)].observe_ns(duration_ns);
  }
  [[nodiscard]] const Histogram& at(std::size_t index) const { return histograms_[index]; }

 private:
  std::array<Histogram, MetricLabels::kCount> histograms_;
};

}  // namespace weir
