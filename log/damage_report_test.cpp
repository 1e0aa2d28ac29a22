#include "log/damage_report.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "base/logging.hpp"

namespace weir::log {
namespace {

TEST(DamageReport, NamesAndCountsEachPlaceOnceAndNoMoreThanItsLimit) {
  const auto metrics = std::make_unique<Metrics>();  // stacks of the address sanitizer do not keep its alignment
  DamageReport report{metrics.get()};
  Segment segment{SegmentId{3}, SegmentSeed{1}, nullptr, "segment", "index"};
  segment.begin(LogPosition{1'000'000});
  const LogCapture lines;
  report.found_beside(segment, 40, 50);
  report.found_beside(segment, 40, 60);
  ASSERT_EQ(lines.lines().size(), 1U) << "once";
  EXPECT_NE(lines.lines().front().find("damage in segment, bytes 40 to 50"), std::string::npos);
  for (std::int64_t place = 1; place <= 10'001; ++place) {
    report.found_beside(segment, place * 100, place * 100 + 10);
  }
  EXPECT_EQ(report.count(), 10'000);
  EXPECT_EQ(metrics->log_damaged_entries.value(), 10'000U);
  EXPECT_EQ(lines.lines().size(), 10'000U);
}

TEST(DamageReport, ThePlaceCountsFromTheBeginOfTheLogSoTwoSegmentsHaveTheirOwn) {
  DamageReport report{nullptr};
  Segment first{SegmentId{1}, SegmentSeed{1}, nullptr, "first", "index"};
  Segment second{SegmentId{2}, SegmentSeed{1}, nullptr, "second", "index"};
  first.begin(LogPosition{0});
  second.begin(LogPosition{1'000});
  report.found_beside(first, 40, 50);
  report.found_beside(second, 40, 50);
  EXPECT_EQ(report.count(), 2);
}

}  // namespace
}  // namespace weir::log
