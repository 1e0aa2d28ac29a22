#include "log/retention_rule.hpp"

#include <gtest/gtest.h>

namespace weir::log {
namespace {

constexpr Millis kHour = 3'600'000;
constexpr Millis kYear = 365 * 24 * kHour;
constexpr Millis kNow = 1'800'000'000'000;

TEST(RetentionRule, ABatchCountsFromItsStampUnlessThereIsNoneOrItLiesFarAhead) {
  struct Row {
    const char* what;
    Millis stamp, append, retention;
    bool expired;
  };
  constexpr std::array kRows{
      Row{"as old as the bound", kNow - kHour, kNow, kHour, false},
      Row{"just older", kNow - kHour - 1, kNow, kHour, true},
      Row{"an old stamp that came just now", kNow - kYear, kNow, kHour, true},
      Row{"a new stamp that came long ago, as it seems", kNow - 1, kNow - kYear, kHour, false},
      Row{"no stamp, came just now", -1, kNow, kHour, false},
      Row{"no stamp, as old as the bound", -1, kNow - kHour, kHour, false},
      Row{"no stamp, just older", -1, kNow - kHour - 1, kHour, true},
      Row{"a negative stamp, came just now", -kYear, kNow, kHour, false},
      Row{"a negative stamp, just older", std::numeric_limits<Millis>::min(), kNow - kHour - 1, kHour, true},
      Row{"stamp zero is a stamp", 0, kNow, kHour, true},
      Row{"an hour ahead is a stamp", kNow + kHour, kNow - kYear, kHour, false},
      Row{"over an hour ahead counts from the append", kNow + kHour + 1, kNow - kYear, kHour, true},
      Row{"and stays while that is young", kNow + kYear, kNow - kHour, kHour, false},
      Row{"the last stamp there is", std::numeric_limits<Millis>::max(), kNow - kHour - 1, kHour, true},
      Row{"no bound", -1, 0, -1, false},
      Row{"a bound of nothing, now", kNow, kNow, 0, false},
      Row{"a bound of nothing, a millisecond ago", kNow - 1, kNow, 0, true},
      Row{"a bound that never comes", 0, 0, std::numeric_limits<Millis>::max(), false},
      Row{"an append that lies ahead is no age", -1, kNow + kYear, 0, false},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(has_expired(row.stamp, row.append, row.retention, kNow), row.expired) << row.what;
  }
}

TEST(RetentionRule, ItIsOlderFromTheMillisecondThatIsToldBefore) {
  EXPECT_FALSE(is_older(kNow, kHour, older_from(kNow, kHour) - 1));
  EXPECT_TRUE(is_older(kNow, kHour, older_from(kNow, kHour)));
  constexpr auto kNever = std::numeric_limits<Millis>::max();
  EXPECT_EQ(older_from(kNow, -1), kNever);
  EXPECT_EQ(older_from(kNow, kNever), kNever);
  EXPECT_EQ(older_from(kNow, kNever - kNow), kNever);
}

TEST(RetentionRule, TheOldestBatchIsTooMuchIfWhatIsLeftStillReachesTheBound) {
  EXPECT_TRUE(is_too_much(300, 100, 200));
  EXPECT_FALSE(is_too_much(299, 100, 200));
  EXPECT_TRUE(is_too_much(100, 100, 0));
  EXPECT_FALSE(is_too_much(1'000'000, 1, -1)) << "no bound";
}

}  // namespace
}  // namespace weir::log
