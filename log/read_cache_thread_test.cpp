// The read cache with several readers, a log that grows meanwhile and segments that come and go: what is found or
// copied is always what was written, and memory stays within its bound. Run it under tsan.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <thread>

#include "base/random.hpp"
#include "log/read_cache.hpp"

namespace weir::log {
namespace {

constexpr std::int64_t kBlock = ReadCache::kBlockBytes;
constexpr std::int64_t kSlots = 4;
constexpr std::int64_t kSegmentBytes = 16 * kBlock;
constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr int kReaders = 3;
constexpr int kRounds = 60;
constexpr std::size_t kUnsentMax = 6;  // of each reader: together more than the cache may lend

std::uint64_t word_of(SegmentId segment, std::int64_t position) {
  return (segment.value << 40U) + static_cast<std::uint64_t>(position);
}

void expect_written(Bytes bytes, SegmentId segment, std::int64_t position) {
  for (std::size_t at = 0; at + kWord <= bytes.size(); at += kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, kWord);
    ASSERT_EQ(word, word_of(segment, position + static_cast<std::int64_t>(at))) << segment.value << ": " << position;
  }
}

// Each word tells its segment and its position, below the written end; above it lies what may still change.
class GrowingFile final : public File {
 public:
  GrowingFile(SegmentId segment, LogPosition start, const Image& image)
      : segment_(segment), start_(start), image_(image) {}
  Result<std::size_t> read_at(std::int64_t position, MutableBytes into) const override {
    const auto written = image_.written() - start_;
    std::this_thread::yield();  // the log grows while it is read
    for (std::size_t at = 0; at + kWord <= into.size(); at += kWord) {
      const auto place = position + static_cast<std::int64_t>(at);
      const auto word = place < written ? word_of(segment_, place) : ~0ULL;
      std::memcpy(into.data() + at, &word, kWord);
    }
    return into.size();
  }
  Result<void> write_at(std::int64_t, std::span<const Bytes>) override { return Errc::unsupported; }
  Result<void> sync(Caller) override { return Errc::unsupported; }
  Result<void> truncate(std::int64_t) override { return Errc::unsupported; }
  Result<void> allocate(std::int64_t) override { return Errc::unsupported; }
  [[nodiscard]] Result<std::int64_t> size() const override { return kSegmentBytes; }
  [[nodiscard]] Result<std::int64_t> first_unwritten(std::int64_t) const override { return kSegmentBytes; }
  [[nodiscard]] Result<SharedBytes> map() const override { return Errc::unsupported; }
  [[nodiscard]] int handle() const override { return -1; }

 private:
  const SegmentId segment_;
  const LogPosition start_;
  const Image& image_;
};

class ReadCacheThreads : public testing::Test {
 protected:
  static constexpr LogPosition kGrowsFrom{kSegmentBytes};

  ReadCacheThreads() { image.start_at(kGrowsFrom); }
  std::shared_ptr<Segment> segment(std::uint64_t number, LogPosition start) {
    auto made = std::make_shared<Segment>(SegmentId{number}, SegmentSeed{},
                                          std::make_shared<GrowingFile>(SegmentId{number}, start, image), "f", "i");
    made->begin(start);
    return made;
  }
  struct Answer {
    SharedBytes bytes;
    SegmentId segment;
    std::int64_t position;
  };
  // Of a reader: batches one after the other from anywhere, as far as the log goes.
  void read_some(const Segment& from, Random& random, std::deque<Answer>& unsent) {
    CacheReader reader{cache};
    const auto written = std::min(kSegmentBytes, image.written() - from.start());
    auto at = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(written) / kWord) * kWord);
    std::vector<std::byte> copy;
    for (int batch = 0; batch < 12; ++batch) {
      const auto size = static_cast<std::int64_t>((1 + random.below(400)) * kWord);
      if (at + size > written) {
        return;
      }
      const auto found = reader.look(from, at, static_cast<std::size_t>(size));
      ASSERT_TRUE(found);
      if (found->empty()) {
        copy.resize(static_cast<std::size_t>(size));
        ASSERT_TRUE(reader.read(from, at, copy));
        expect_written(copy, from.id(), at);
      } else {
        expect_found(reader, *found, from, at);
        take(reader, *found, from, at, unsent);
      }
      expect_within_bound();
      at += size + static_cast<std::int64_t>(random.below(1'000) * kWord);
    }
  }
  // Only batches at even words are ever marked, and only once their bytes were looked at.
  static void expect_found(CacheReader& reader, Bytes found, const Segment& from, std::int64_t at) {
    expect_written(found, from.id(), at);
    const bool is_even = at / static_cast<std::int64_t>(kWord) % 2 == 0;
    EXPECT_TRUE(is_even || !reader.is_checked(at)) << "a mark of another batch";
    if (is_even) {
      reader.set_checked(at);
      EXPECT_TRUE(reader.is_checked(at));
    }
  }
  static void take(CacheReader& reader, Bytes found, const Segment& from, std::int64_t at, std::deque<Answer>& unsent) {
    if (const auto& hold = reader.hold()) {
      unsent.push_back({{found, hold}, from.id(), at});
    }
    while (unsent.size() > kUnsentMax) {  // the blocks of these may have given way long ago
      expect_written(unsent.front().bytes.view(), unsent.front().segment, unsent.front().position);
      unsent.pop_front();
    }
  }
  // What the cache keeps, what it lends, and of each reader the block that it stands at, the one that it reads, and one
  // that was lent while others were.
  void expect_within_bound() const { EXPECT_LE(cache.memory_bytes(), (2 * kSlots + 3 * kReaders) * kBlock); }

  void expect_it_lends_as_many_as_at_first(const Segment& from) {
    CacheReader reader{cache};
    std::vector<SharedBytes> lent;
    for (std::int64_t number = 0; number < 2 * kSlots; ++number) {
      std::vector<std::byte> first(kWord);
      ASSERT_TRUE(reader.read(from, number * kBlock, first));
      const auto found = reader.look(from, number * kBlock + 8, 800);
      ASSERT_TRUE(found && !found->empty());
      if (const auto& hold = reader.hold()) {
        lent.emplace_back(*found, hold);
      }
    }
    EXPECT_EQ(std::ssize(lent), kSlots);
  }

  Image image{4 << 20};
  ReadCache cache{kSlots * kBlock, image};
};

TEST_F(ReadCacheThreads, ReadersOfALogThatGrowsFindWhatWasWrittenAndHoldNoMoreThanTheBound) {
  constexpr std::uint64_t kSeed = 20'261'201;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const auto old = segment(1, {});
  const auto growing = segment(2, kGrowsFrom);
  image.set_written(kGrowsFrom + 4096);
  std::atomic<std::uint64_t> next_id{3};
  std::atomic<int> reading{kReaders};
  std::atomic<std::int64_t> rounds{0};  // of all; the log is full when two thirds of them are done
  std::vector<std::thread> threads;
  for (int number = 0; number < kReaders; ++number) {
    threads.emplace_back([&, number] {
      Random random{kSeed + static_cast<std::uint64_t>(number)};
      std::deque<Answer> unsent;
      for (int round = 0; round < kRounds && !HasFatalFailure(); ++round) {
        rounds.fetch_add(1);
        read_some(*growing, random, unsent);
        read_some(*old, random, unsent);
        if (round % 5 == 0) {  // one that is removed as soon as it was read, at a place where others lie too
          read_some(*segment(next_id.fetch_add(1), {}), random, unsent);
        }
      }
      for (const auto& answer : unsent) {
        expect_written(answer.bytes.view(), answer.segment, answer.position);
      }
      reading.fetch_sub(1);
    });
  }
  for (std::int64_t end = 4096; reading.load() > 0;) {
    if (end < kSegmentBytes && end * kReaders * kRounds < rounds.load() * kSegmentBytes * 3 / 2) {
      end += 1024 * static_cast<std::int64_t>(kWord);
      image.set_written(kGrowsFrom + std::min(end, kSegmentBytes));
    }
    std::this_thread::yield();
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_LE(cache.memory_bytes(), kSlots * kBlock) << "nothing is lent any more";
  expect_it_lends_as_many_as_at_first(*old);
}

}  // namespace
}  // namespace weir::log
