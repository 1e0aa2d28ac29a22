// All metrics of one broker (base/metrics.def). Owned by the broker, about 70 KiB; any thread adds and reads.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/metric_cells.hpp"

namespace weir {

struct Metrics {
#define METRIC(kind, member, ...) kind member;
#include "base/metrics.def"
#undef METRIC
};

struct MetricRow {
  std::string_view kind;
  std::string_view name;
  std::string_view unit;
  std::string_view label;  // "-": none
  std::string_view help;
};
std::span<const MetricRow> metric_rows();

// The word for a label's value, e.g. ("api", 0) -> "Produce"; the number itself where it knows none.
using MetricLabelName = std::function<std::string(std::string_view label, int value)>;
// The lines of a MeasuredGaugeByLabel, each as prometheus_line() makes it.
using MeasuredLines = std::function<std::string_view(std::string_view metric)>;
// Prometheus text format 0.0.4. Label values that nothing was added to are left out.
std::string prometheus_text(const Metrics& metrics, const MetricLabelName& label_name = {},
                            const MeasuredLines& measured = {});
// Adds `metric{name="value",...} number` and the end of the line; values may hold anything.
void prometheus_line(std::string& text, std::string_view metric,
                     std::span<const std::pair<std::string_view, std::string_view>> labels, std::int64_t number);

}  // namespace weir
