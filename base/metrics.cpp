#include "base/metrics.hpp"

#include <fmt/format.h>

#include <iterator>

namespace weir {
namespace {

#define METRIC(kind, member, ...) MetricRow{#kind, __VA_ARGS__},
constexpr std::array kRows{
#include "base/metrics.def"
};
#undef METRIC

constexpr double kNsPerSecond = 1e9;

class Writer {
 public:
  Writer(const MetricLabelName& label_name, const MeasuredLines& measured)
      : label_name_(label_name), measured_(measured) {}

  void write(const MetricRow& row, const Counter& counter) {
    head(row, "counter");
    line(row.name, "", counter.value());
  }
  void write(const MetricRow& row, const Gauge& gauge) {
    head(row, "gauge");
    line(row.name, "", gauge.value());
  }
  void write(const MetricRow& row, const Histogram& histogram) {
    head(row, "histogram");
    buckets(row, "", histogram);
  }
  void write(const MetricRow& row, const CounterByLabel& counters) {
    head(row, "counter");
    for (std::size_t i = 0; i < MetricLabels::kCount; ++i) {
      if (const auto value = counters.at(i); value != 0) {
        line(row.name, label(row, i), value);
      }
    }
  }
  void write(const MetricRow& row, const HistogramByLabel& histograms) {
    head(row, "histogram");
    for (std::size_t i = 0; i < MetricLabels::kCount; ++i) {
      buckets(row, label(row, i), histograms.at(i));
    }
  }
  void write(const MetricRow& row, const MeasuredGaugeByLabel& /*nothing*/) {
    head(row, "gauge");
    if (measured_) {
      text_ += measured_(row.name);
    }
  }
  std::string take() { return std::move(text_); }

 private:
  void head(const MetricRow& row, std::string_view type) {
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", row.name, row.help, row.name, type);
  }
  template <class Value>
  void line(std::string_view name, const std::string& labels, Value value) {
    if (labels.empty()) {
      fmt::format_to(std::back_inserter(text_), "{} {}\n", name, value);
    } else {
      fmt::format_to(std::back_inserter(text_), "{}{{{}}} {}\n", name, labels, value);
    }
  }
  [[nodiscard]] std::string label(const MetricRow& row, std::size_t index) const {
    if (index == MetricLabels::kOther) {
      return fmt::format("{}=\"other\"", row.label);
    }
    const auto value = MetricLabels::label_of(index);
    const auto word = label_name_ ? label_name_(row.label, value) : std::string{};
    return fmt::format("{}=\"{}\"", row.label, word.empty() ? std::to_string(value) : word);
  }
  void buckets(const MetricRow& row, const std::string& labels, const Histogram& histogram) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i <= Histogram::kBuckets; ++i) {
      total += histogram.count(i);
    }
    if (total == 0 && !labels.empty()) {
      return;
    }
    const auto comma = labels.empty() ? "" : ",";
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < Histogram::kBuckets; ++i) {
      below += histogram.count(i);
      const auto bound = static_cast<double>(Histogram::bound_ns(i)) / kNsPerSecond;
      line(fmt::format("{}_bucket", row.name), fmt::format("{}{}le=\"{}\"", labels, comma, bound), below);
    }
    line(fmt::format("{}_bucket", row.name), fmt::format("{}{}le=\"+Inf\"", labels, comma), total);
    line(fmt::format("{}_sum", row.name), labels, static_cast<double>(histogram.sum_ns()) / kNsPerSecond);
    line(fmt::format("{}_count", row.name), labels, total);
  }

  const MetricLabelName& label_name_;
  const MeasuredLines& measured_;
  std::string text_;
};

}  // namespace

std::span<const MetricRow> metric_rows() {
  return kRows;
}

std::string prometheus_text(const Metrics& metrics, const MetricLabelName& label_name, const MeasuredLines& measured) {
  Writer writer{label_name, measured};
  std::size_t row = 0;
#define METRIC(kind, member, ...) writer.write(kRows[row++], metrics.member);
#include "base/metrics.def"
#undef METRIC
  return writer.take();
}

void prometheus_line(std::string& text, std::string_view metric,
                     std::span<const std::pair<std::string_view, std::string_view>> labels, std::int64_t number) {
  text += metric;
  char before = '{';
  for (const auto& [name, value] : labels) {
    text += std::exchange(before, ',');
    text += name;
    text += "=\"";
    for (const char c : value) {
      switch (c) {
        case '\\': text += "\\\\"; break;
        case '"': text += "\\\""; break;
        case '\n': text += "\\n"; break;
        default: text += c;
      }
    }
    text += '"';
  }
  fmt::format_to(std::back_inserter(text), "{}{}\n", labels.empty() ? " " : "} ", number);
}

}  // namespace weir
