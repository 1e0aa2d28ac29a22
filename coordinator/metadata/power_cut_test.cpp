// The data folder and the metadata log on a recorded disk: power cuts behind any event, and the mutation check (see
// log/power_cut_test.cpp). WEIR_SEED=N repeats a seed, WEIR_SEEDS=N runs more.
#include <gtest/gtest.h>

#include "coordinator/metadata/data_folder.hpp"
#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/metadata_log.hpp"
#include "protocol/gen/topic_record.hpp"
#include "sim/seams/recording_disk.hpp"
#include "sim/seams/seeds.hpp"

namespace weir::metadata {
namespace {

const std::string kFolder = "volume/data";

std::string name_of(std::size_t number) {
  return "t" + std::to_string(number);
}

// What must be true: topics are made in order, so `made` of them are there, and none above `asked`.
struct Held {
  std::size_t made = 0;
  std::size_t asked = 0;
  std::optional<Identity> identity;
  bool may_be_clean = false;
};

class Story {
 public:
  Story(std::uint64_t seed, std::shared_ptr<const sim::SimDisk> base, Held held)
      : base_(base ? std::move(base) : std::make_shared<sim::SimDisk>(seed)),
        disk_(base_->clone(seed)),
        recording(*disk_),
        random_(seed),
        now_(std::move(held)) {
    held_at_[0] = now_;
  }

  // Starts the process; "" or the promise that it breaks.
  std::string start() {
    recording.revive();
    std::string why;
    auto folder = DataFolder::open(recording, kFolder, 1, random_, why);
    if (!folder) {
      return recording.died() ? "" : why;
    }
    if (now_.identity && *now_.identity != (*folder)->identity()) {
      return "another cluster or directory id";
    }
    if ((*folder)->clean_end() && !now_.may_be_clean) {
      return "an unclean stop looks clean";
    }
    folder_ = std::move(*folder);
    now_.identity = folder_->identity();
    now_.may_be_clean = false;
    note();
    auto opened = MetadataLog::open(recording, kFolder, why);
    if (!opened) {
      return recording.died() ? "" : why;
    }
    log_ = std::move(opened->log);
    image_ = std::move(opened->image);
    std::size_t there = 0;
    while (image_->find_topic(name_of(there)) != nullptr) {
      ++there;
    }
    if (there < now_.made) {
      return "topic " + name_of(there) + " was answered and is gone";
    }
    if (there > now_.asked || image_->find_topic(name_of(there + 1)) != nullptr) {
      return "a topic that nobody made, or one missing in the middle";
    }
    now_.made = now_.asked = there;  // shown, so it stays
    note();
    return "";
  }

  void work() {
    if (random_.chance(3)) {
      recording.die_at(1 + random_.below(30), random_.below(200));
    } else if (random_.chance(3)) {
      recording.die_at_sync("MetadataLog::append sync");
    }
    const auto steps = 1 + random_.below(20);
    for (std::uint64_t step = 0; step < steps && log_ && !recording.died(); ++step) {
      if (random_.chance(6)) {
        static_cast<void>(log_->write_snapshot(*image_, 1));
      } else {
        make_topic();
      }
    }
    if (log_ && !recording.died() && random_.chance(2)) {
      now_.may_be_clean = true;
      note();
      static_cast<void>(folder_->mark_clean_shutdown(LogPosition{4096}));
    }
    log_.reset();
    folder_.reset();
  }

  [[nodiscard]] const Held& held_at(std::size_t events) const {
    return std::prev(held_at_.upper_bound(events))->second;
  }
  [[nodiscard]] const sim::SimDisk* base() const { return base_.get(); }

 private:
  void make_topic() {
    protocol::TopicRecord record;
    record.name = name_of(now_.asked);
    record.topic_id = random_.uuid();
    RecordList records;
    records.add(record, 0);
    ++now_.asked;
    note();
    if (!log_->append(records, 1)) {
      return;
    }
    ImageBuilder builder{*image_};
    WEIR_CHECK(builder.apply_all(image_->end_offset(), records).has_value());
    image_ = builder.build();
    now_.made = now_.asked;
    note();
  }
  void note() { held_at_[recording.size()] = now_; }

  std::shared_ptr<const sim::SimDisk> base_;
  std::unique_ptr<sim::SimDisk> disk_;

 public:
  sim::RecordingDisk recording;

 private:
  Random random_;
  Held now_;
  std::map<std::size_t, Held> held_at_;  // by events of the disk
  std::unique_ptr<DataFolder> folder_;
  std::unique_ptr<MetadataLog> log_;
  ImagePointer image_;
};

std::unique_ptr<Story> story_of(std::uint64_t seed) {
  auto story = std::make_unique<Story>(seed, nullptr, Held{});
  for (std::uint64_t life = 0; life < 1 + seed % 4; ++life) {
    EXPECT_EQ(story->start(), "") << "seed " << seed;
    story->work();
  }
  return story;
}

std::unique_ptr<Story> after_cut(const Story& story, sim::Replay& replay, std::size_t events, std::uint64_t seed) {
  replay.advance_to(events);
  return std::make_unique<Story>(seed, replay.power_cut(seed), story.held_at(events));
}

TEST(MetadataPowerCut, BehindAnyEventOfTheDiskLeavesEveryPromiseTrueAndSoDoesTheNextOne) {
  std::size_t images = 0;
  for (const auto seed : sim::seeds(sim::seed_count(15))) {
    const auto story = story_of(seed);
    sim::Replay replay{story->base(), story->recording.events()};
    for (std::size_t events = 0; events <= story->recording.size(); events += 1 + seed % 3) {
      const auto image = after_cut(*story, replay, events, seed + events);
      ASSERT_EQ(image->start(), "") << "seed " << seed << ", cut behind event " << events;
      image->work();
      sim::Replay again{image->base(), image->recording.events()};
      const auto second = (seed * 7 + events) % (image->recording.size() + 1);
      ASSERT_EQ(after_cut(*image, again, second, seed + second)->start(), "")
          << "seed " << seed << ", cut behind event " << events << ", and again behind " << second;
      images += 2;
    }
  }
  std::printf("%zu images\n", images);
}

// Where these files sync though no promise hangs on it.
const std::map<std::string, std::string> kNeedless{
    {"DataFolder::mark_clean_shutdown sync", "a mark that is lost or torn makes an unclean start, which is slower"},
    {"DataFolder::mark_clean_shutdown folder", "the same"},
    {"MetadataLog::remove_obsolete folder", "what comes back is not read, and goes with the next snapshot"},
    {"MetadataLog::start_file sync", "the file is empty; its name is what counts"},
    {"MetadataLog::write_snapshot folder", "the start of the next log file, soon behind it, syncs the same folder"},
};
constexpr std::uint64_t kSeedsOfNeedless = 3;

std::optional<std::string> broken_without(const Story& story, const std::string& place, std::uint64_t seed) {
  const auto& events = story.recording.events();
  sim::Replay replay{story.base(), events, place};
  bool is_missing = false;
  for (std::size_t at = 0; at <= events.size(); ++at) {
    is_missing = is_missing || (at > 0 && events[at - 1].place == place);
    if (is_missing) {
      if (auto why = after_cut(story, replay, at, seed + at)->start(); !why.empty()) {
        return why;
      }
    }
  }
  return std::nullopt;
}

TEST(MetadataPowerCut, WithoutTheSyncsOfAnyOnePlaceAPromiseIsBrokenWithinAHundredSeeds) {
  std::map<std::string, std::string> noticed;
  std::set<std::string> places;
  const auto is_settled = [&](const auto& place) { return noticed.contains(place) || kNeedless.contains(place); };
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto story = story_of(seed);
    for (const auto& [place, count] : sim::places_of(story->recording.events())) {
      places.insert(place);
      if (noticed.contains(place) || (kNeedless.contains(place) && seed > kSeedsOfNeedless)) {
        continue;
      }
      if (const auto why = broken_without(*story, place, seed)) {
        noticed.emplace(place, *why);
        std::printf("%s: seed %llu: %s\n", place.c_str(), static_cast<unsigned long long>(seed), why->c_str());
      }
    }
    if (std::ranges::all_of(places, is_settled)) {
      break;
    }
  }
  for (const auto& place : places) {
    EXPECT_TRUE(is_settled(place)) << "nothing notices that this is missing: " << place;
    EXPECT_FALSE(noticed.contains(place) && kNeedless.contains(place)) << "is needed after all: " << place;
  }
}

}  // namespace
}  // namespace weir::metadata
