#include "coordinator/metadata/sharded_map.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/random.hpp"

namespace weir::metadata {
namespace {
using Map = ShardedMap<std::string, int>;

Map with(const Map& base, const std::string& key, int value) {
  Map::Editor editor{base};
  editor.set(key, std::make_shared<const int>(value));
  return editor.finish();
}

TEST(ShardedMap, ACopyNeverSeesALaterChangeOfTheOther) {
  const auto one = with({}, "a", 1);
  const auto two = with(one, "a", 2);
  const auto three = with(two, "b", 3);
  EXPECT_EQ(*one.find("a"), 1);
  EXPECT_EQ(*two.find("a"), 2);
  EXPECT_EQ(two.find("b"), nullptr);
  EXPECT_EQ(one.size(), 1U);
  EXPECT_EQ(three.size(), 2U);
}

TEST(ShardedMap, AnEditorMayGoOnAfterItHandedOutAMap) {
  Map::Editor editor{{}};
  editor.set("a", std::make_shared<const int>(1));
  const auto first = editor.finish();
  editor.set("a", std::make_shared<const int>(2));
  EXPECT_TRUE(editor.erase("a"));
  EXPECT_FALSE(editor.erase("a"));
  EXPECT_EQ(*first.find("a"), 1) << "the map that was handed out changed";
  EXPECT_EQ(editor.finish().size(), 0U);
}

TEST(ShardedMap, HoldsWhatAnOrdinaryMapHoldsThroughRandomChanges) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Random random{seed};
    std::map<std::string, int> model;
    Map map;
    for (int step = 0; step < 2000; ++step) {
      const auto key = "k" + std::to_string(random.below(500));
      Map::Editor editor{map};
      if (random.chance(3)) {
        EXPECT_EQ(editor.erase(key), model.erase(key) == 1) << "seed " << seed;
      } else {
        editor.set(key, std::make_shared<const int>(step));
        model[key] = step;
      }
      map = editor.finish();
    }
    std::map<std::string, int> content;
    map.for_each([&](const std::string& key, const auto& value) { content[key] = *value; });
    EXPECT_EQ(content, model) << "seed " << seed;
    EXPECT_EQ(map.size(), model.size()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace weir::metadata
