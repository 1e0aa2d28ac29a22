#include "tools/cli/time_text.hpp"

#include <gtest/gtest.h>

namespace weir::cli {
namespace {

TEST(TimeText, TakesMillisecondsAndUtcDates) {
  EXPECT_EQ(time_from_text("0"), 0);
  EXPECT_EQ(time_from_text("1767225600000"), 1'767'225'600'000);
  EXPECT_EQ(time_from_text("2026-01-01"), 1'767'225'600'000);
  EXPECT_EQ(time_from_text("2026-01-01T00:00:01Z"), 1'767'225'601'000);
  EXPECT_EQ(time_from_text("2026-01-01T12:30"), 1'767'225'600'000 + (12 * 60 + 30) * 60 * 1000);
  EXPECT_EQ(time_from_text("2024-02-29"), 1'709'164'800'000) << "a leap day";
}

TEST(TimeText, RefusesWhatIsNoTime) {
  for (const auto* text :
       {"", "-1", "soon", "2026-1-1", "2026-02-30", "2025-02-29", "2026-01-01T24:00", "2026-01-01T12:60",
        "2026-01-01 12:00", "2026-01-01T12:30:15.5", "2026-01", "2026-01-01T12:30:15:00"}) {
    EXPECT_FALSE(time_from_text(text)) << text;
  }
}

}  // namespace
}  // namespace weir::cli
