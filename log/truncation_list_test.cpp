#include <gtest/gtest.h>

#include <limits>

#include "log/truncation_list.hpp"

namespace weir::log {
namespace {

constexpr Offset kAll{std::numeric_limits<std::int64_t>::max()};

Truncation at(std::int64_t position, std::int64_t end, std::int64_t reach) {
  return {LogPosition{position}, Offset{end}, Offset{reach}};
}

TEST(TruncationList, ABatchIsBoundByTheLowestEndBehindIt) {
  TruncationList list;
  EXPECT_EQ(list.end_behind(LogPosition{0}), kAll);
  list.add(at(100, 50, 90));
  list.add(at(200, 70, 80));
  EXPECT_EQ(list.end_behind(LogPosition{100}), Offset{50});
  EXPECT_EQ(list.end_behind(LogPosition{101}), Offset{70});
  EXPECT_EQ(list.end_behind(LogPosition{201}), kAll);
  list.add(at(300, 50, 60));
  EXPECT_EQ(list.entries(), (std::vector<Truncation>{at(300, 50, 90)})) << "it says all that the others said";
}

TEST(TruncationList, ForgetsWhatTookNothingFromOlderSegmentsAndWhatHasNoOlderSegments) {
  TruncationList list;
  list.add(at(100, 50, 90));
  list.add(at(200, 60, 60));
  list.add(at(300, 70, 71));
  list.forget_needless(LogPosition{100});
  EXPECT_EQ(list.entries(), (std::vector<Truncation>{at(100, 50, 90), at(300, 70, 71)}));
  list.forget_needless(LogPosition{101});
  EXPECT_EQ(list.entries(), (std::vector<Truncation>{at(300, 70, 71)}));
}

TEST(TruncationList, IsTheSameAfterItsBytesAndRefusesOthers) {
  TruncationList list;
  std::vector<std::byte> bytes;
  list.encode(bytes);
  EXPECT_TRUE(bytes.empty());
  EXPECT_EQ(*TruncationList::decode(bytes), list);
  list.add(at(100, 50, 90));
  list.add(at(200, 60, 90));
  list.encode(bytes);
  EXPECT_EQ(*TruncationList::decode(bytes), list);
  EXPECT_FALSE(TruncationList::decode(Bytes{bytes}.first(bytes.size() - 1)));
  EXPECT_FALSE(TruncationList::decode(Bytes{bytes}.first(3)));
  std::swap_ranges(bytes.begin() + 4, bytes.begin() + 28, bytes.begin() + 28);
  EXPECT_FALSE(TruncationList::decode(bytes)) << "they do not rise";
}

}  // namespace
}  // namespace weir::log
