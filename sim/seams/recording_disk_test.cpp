#include "sim/seams/recording_disk.hpp"

#include <gtest/gtest.h>

namespace weir::sim {
namespace {

void put(File& file, std::string_view text) {
  const auto bytes = as_bytes(text);
  ASSERT_TRUE(file.write_at(0, std::span{&bytes, 1}));
}

struct Story {
  Story() {
    const auto file = recording.open("/a", {.create = true}).value();
    put(*file, "one");
    EXPECT_TRUE(file->sync());
    EXPECT_TRUE(recording.sync_directory("/"));
    EXPECT_TRUE(recording.rename("/a", "/b"));
    put(*file, "two");
  }
  SimDisk disk{1};
  RecordingDisk recording{disk};
};

std::string text_in(SimDisk& disk, const std::string& path) {
  const auto content = read_file(disk, path, 100);
  return content ? std::string(as_text(*content)) : "<none>";
}

TEST(RecordingDisk, ItWritesDownWhatChangesTheDiskAndWhoSynced) {
  const Story story;
  ASSERT_EQ(story.recording.size(), 6U) << "open, write, sync, folder, rename, write";
  EXPECT_EQ(story.recording.events()[1].bytes.size(), 3U);
  EXPECT_EQ(places_of(story.recording.events()),
            (std::map<std::string, std::size_t>{{"Story::Story folder", 1}, {"Story::Story sync", 1}}));
}

TEST(RecordingDisk, EveryCutKeepsWhatWasSyncedBeforeIt) {
  const Story story;
  Replay replay{nullptr, story.recording.events()};
  std::set<std::string> seen;
  replay.advance_to(4);
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    EXPECT_EQ(text_in(*replay.power_cut(seed), "/a"), "one");
  }
  replay.advance_to(6);
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto image = replay.power_cut(seed);
    seen.insert(image->exists("/a") ? "a " + text_in(*image, "/a") : "b " + text_in(*image, "/b"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"a one", "a two", "b one", "b two"}));
}

TEST(RecordingDisk, WithoutThePlaceThatSyncsTheContentCanBeLost) {
  const Story story;
  Replay replay{nullptr, story.recording.events(), "Story::Story sync"};
  replay.advance_to(4);
  bool lost = false;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    lost = lost || text_in(*replay.power_cut(seed), "/a") != "one";
  }
  EXPECT_TRUE(lost);
}

TEST(RecordingDisk, ADeadProcessChangesNothingMoreButTheTornPartOfItsLastWrite) {
  Story story;
  const auto file = story.recording.open("/b", {}).value();
  story.recording.die_at(1, 2);
  const auto text = as_bytes("XYZ");
  EXPECT_EQ(file->write_at(0, std::span{&text, 1}).error().code, Errc::closed);
  EXPECT_EQ(file->sync().error().code, Errc::closed);
  EXPECT_TRUE(story.recording.died());
  story.recording.revive();
  EXPECT_EQ(text_in(story.disk, "/b"), "XYo");
  EXPECT_EQ(story.recording.events().back().bytes.size(), 2U);
}

}  // namespace
}  // namespace weir::sim
