#include "base/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/thread_executor.hpp"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Metrics, EachRowIsDescribedNamedByTheRulesAndExported) {
  const auto metrics = std::make_unique<Metrics>();
  const auto text = prometheus_text(*metrics);
  std::set<std::string_view> names;
  for (const auto& row : metric_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.name.starts_with("weir_")) << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_EQ(row.name.ends_with("_total"), row.kind.starts_with("Counter")) << row.name;
    EXPECT_EQ(row.label != "-", row.kind.ends_with("ByLabel")) << row.name;
    EXPECT_THAT(text, HasSubstr("# TYPE " + std::string(row.name) + " "));
  }
}

TEST(Metrics, AddsOfManyThreadsAreAllCounted) {
  const auto metrics = std::make_unique<Metrics>();
  {
    PoolExecutor pool{"adder", 4};
    for (int thread = 0; thread < 4; ++thread) {
      pool.post([&] {
        for (int i = 0; i < 10'000; ++i) {
          metrics->produce_records.add(2);
          metrics->connections_open.add(i % 2 == 0 ? 1 : -1);
          metrics->requests.add(3);
        }
      });
    }
  }
  EXPECT_EQ(metrics->produce_records.value(), 80'000U);
  EXPECT_EQ(metrics->connections_open.value(), 0);
  EXPECT_EQ(metrics->requests.at(MetricLabels::index_of(3)), 40'000U);
}

TEST(Metrics, LabelsAreWordsWhereKnownAndUnknownOnesShareOnePlace) {
  const auto metrics = std::make_unique<Metrics>();
  metrics->requests.add(0, 5);
  metrics->requests.add(19000);
  metrics->requests.add(30000);
  metrics->requests.add(-2);
  metrics->errors.add(-1);
  const auto text = prometheus_text(*metrics, [](std::string_view label, int value) {
    return label == "api" && value == 0 ? std::string("Produce") : std::string{};
  });
  EXPECT_THAT(text, HasSubstr("weir_requests_total{api=\"Produce\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("weir_requests_total{api=\"19000\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("weir_requests_total{api=\"other\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("weir_errors_total{code=\"-1\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("api=\"1\"")));
}

TEST(Metrics, WhatIsMeasuredStandsBelowItsHeadAndLabelsMayHoldAnything) {
  std::string lines;
  const std::array<std::pair<std::string_view, std::string_view>, 2> labels{{{"group", "a\"b\\c\nd"}, {"topic", "t"}}};
  prometheus_line(lines, "weir_group_records_behind", labels, 7);
  EXPECT_EQ(lines, "weir_group_records_behind{group=\"a\\\"b\\\\c\\nd\",topic=\"t\"} 7\n");
  const auto metrics = std::make_unique<Metrics>();
  const auto text = prometheus_text(*metrics, {}, [&](std::string_view metric) {
    return metric == "weir_group_records_behind" ? std::string_view{lines} : std::string_view{};
  });
  EXPECT_THAT(text, HasSubstr("# TYPE weir_group_records_behind gauge\n" + lines + "# HELP "));
  std::string bare;
  prometheus_line(bare, "m", {}, -1);
  EXPECT_EQ(bare, "m -1\n");
}

TEST(Metrics, AHistogramCountsUpToEachBoundAndBeyondTheLast) {
  const auto metrics = std::make_unique<Metrics>();
  metrics->request_duration.observe_ns(1, 32'000);
  metrics->request_duration.observe_ns(1, 32'001);
  metrics->request_duration.observe_ns(1, 100'000'000'000);
  const auto text = prometheus_text(*metrics);
  EXPECT_THAT(text, HasSubstr("weir_request_duration_seconds_bucket{api=\"1\",le=\"3.2e-05\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("weir_request_duration_seconds_bucket{api=\"1\",le=\"6.4e-05\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("weir_request_duration_seconds_bucket{api=\"1\",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("weir_request_duration_seconds_count{api=\"1\"} 3\n"));
}

}  // namespace
}  // namespace weir
