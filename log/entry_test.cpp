#include "log/entry.hpp"

#include <gtest/gtest.h>

#include "log/test_batch.hpp"

namespace weir::log {
namespace {

using Step = EntryScanner::Step;
constexpr SegmentSeed kSeed{0x1122'3344'5566'7788};
constexpr std::int64_t kStart = 4096;
constexpr LocalPartition kP{5};

// A run of entries as the log role would lay them out, from file position kStart on.
class Layout {
 public:
  template <class Payload>
  void add(LocalPartition partition, const Payload& payload, std::uint8_t flags = 0) {
    const auto into = grow(entry_size(Payload::kSize));
    encode_entry(into, kSeed, last_, partition, 1000, payload, flags);
  }
  void add_raw(EntryKind kind, Bytes payload, std::uint8_t flags = 0) {
    const auto into = grow(entry_size(payload.size()));
    encode_entry(into, kSeed, last_, kind, flags, kP, 1000, payload);
  }
  void add_batch(const TestBatch& facts, std::uint8_t flags = 0) {
    const auto batch = make_batch(facts);
    const auto into = grow(entry_size(batch.size()));
    encode_batch_header(into, kSeed, last_, kP, 1000, batch, flags);
    std::copy(batch.begin(), batch.end(), into.begin() + kEntryHeaderSize);
  }
  void add_pad(std::size_t alignment) {
    const auto size = pad_entry_size(end(), alignment);
    if (size > 0) {
      const auto into = grow(size);
      encode_pad_header(into, kSeed, last_, size, 1000);
    }
  }
  MutableBytes grow(std::size_t size) {
    last_ = end();
    bytes.resize(bytes.size() + size);
    return MutableBytes{bytes}.last(size);
  }
  [[nodiscard]] std::int64_t end() const { return kStart + static_cast<std::int64_t>(bytes.size()); }
  [[nodiscard]] EntryScanner scanner() const { return {bytes, kStart, kSeed}; }

  std::vector<std::byte> bytes;

 private:
  std::int64_t last_ = 0;
};

template <class Payload>
void expect_payload(EntryScanner& scanner, LocalPartition partition, const Payload& payload) {
  ASSERT_EQ(scanner.next(), Step::entry);
  EXPECT_EQ(scanner.entry().header.kind, Payload::kKind);
  EXPECT_EQ(scanner.entry().header.partition, partition);
  EXPECT_EQ(scanner.entry().header.append_ms, 1000);
  const auto decoded = Payload::decode(scanner.entry().payload);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, payload);
  for (std::size_t size = 0; size < Payload::kSize; ++size) {
    EXPECT_FALSE(Payload::decode(scanner.entry().payload.first(size)));
  }
  std::vector<std::byte> longer(scanner.entry().payload.begin(), scanner.entry().payload.end());
  longer.push_back(std::byte{0});
  EXPECT_FALSE(Payload::decode(longer));
}

TEST(Entry, EveryKindComesBackEqual) {
  Random random{9};
  const PartitionCreatedPayload created{random.uuid(), 3, LeaderEpoch{2}, Offset{70}, 1};
  const DeletedPayload deleted{random.uuid(), 4};
  Layout layout;
  layout.add(kNoPartition, GroupPayload{LogPosition{123'456}});
  layout.add(kNoPartition, AtomicGroupPayload{2, 200, 0xabcd});
  layout.add(kP, OffsetsReservedPayload{Offset{5000}});
  layout.add(kP, created);
  layout.add(kP, StartMovedPayload{Offset{17}});
  layout.add(kP, TruncatedPayload{Offset{90}, LeaderEpoch{4}});
  layout.add(kP, deleted);
  layout.add(kP, EpochStartPayload{LeaderEpoch{5}, Offset{91}});
  layout.add_raw(EntryKind::state, as_bytes("some state"), entry_flags::continued);
  layout.add_batch({.base_offset = 91, .values = {"a", "bc"}});
  auto run = make_batch({.base_offset = 1});
  const auto second = make_batch({.base_offset = 2, .values = {"x", "y"}});
  run.insert(run.end(), second.begin(), second.end());
  layout.add_raw(EntryKind::run, run);
  layout.add_pad(4096);

  auto scanner = layout.scanner();
  expect_payload(scanner, kNoPartition, GroupPayload{LogPosition{123'456}});
  expect_payload(scanner, kNoPartition, AtomicGroupPayload{2, 200, 0xabcd});
  expect_payload(scanner, kP, OffsetsReservedPayload{Offset{5000}});
  expect_payload(scanner, kP, created);
  expect_payload(scanner, kP, StartMovedPayload{Offset{17}});
  expect_payload(scanner, kP, TruncatedPayload{Offset{90}, LeaderEpoch{4}});
  expect_payload(scanner, kP, deleted);
  expect_payload(scanner, kP, EpochStartPayload{LeaderEpoch{5}, Offset{91}});
  ASSERT_EQ(scanner.next(), Step::entry);
  EXPECT_EQ(as_text(scanner.entry().payload), "some state");
  EXPECT_EQ(scanner.entry().header.flags, entry_flags::continued);
  ASSERT_EQ(scanner.next(), Step::entry);
  EXPECT_EQ(protocol::RecordBatchView::parse(scanner.entry().payload)->base_offset(), 91);
  ASSERT_EQ(scanner.next(), Step::entry);
  EXPECT_EQ(scanner.entry().header.kind, EntryKind::run);
  EXPECT_EQ(scanner.entry().payload.size(), run.size());
  ASSERT_EQ(scanner.next(), Step::entry);
  EXPECT_EQ(scanner.entry().header.kind, EntryKind::pad);
  EXPECT_EQ(scanner.position() % 4096, 0);
  EXPECT_EQ(scanner.next(), Step::end);
}

TEST(Entry, EveryFlippedBitOfHeaderPrefixAndControlPayloadIsRefused) {
  Layout batch;
  batch.add_batch({.base_offset = 7});
  for (std::size_t bit = 0; bit < (kEntryHeaderSize + kBatchPrefixSize) * 8; ++bit) {
    auto copy = batch;
    copy.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(copy.scanner().next(), Step::bad) << "bit " << bit;
  }
  Layout created;
  created.add(kP, PartitionCreatedPayload{});
  for (std::size_t bit = 0; bit < created.bytes.size() * 8; ++bit) {
    auto copy = created;
    copy.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(copy.scanner().next(), Step::bad) << "bit " << bit;
  }
}

TEST(Entry, AnotherPositionOrAnotherSeedNeverPasses) {
  Layout layout;
  layout.add_batch({});
  for (std::int64_t shift = 8; shift < 8192; shift += 8) {
    EXPECT_EQ((EntryScanner{layout.bytes, kStart + shift, kSeed}.next()), Step::bad);
  }
  for (unsigned bit = 0; bit < 64; ++bit) {
    EXPECT_EQ((EntryScanner{layout.bytes, kStart, SegmentSeed{kSeed.value ^ (1ULL << bit)}}.next()), Step::bad);
  }
}

TEST(Entry, ZerosAreNoEntryEvenWithATagOfZero) {
  const std::vector<std::byte> zeros(8192);
  EntryScanner scanner{zeros, kStart, kSeed};
  EXPECT_EQ(scanner.next(), Step::bad);
  EXPECT_FALSE(scanner.resync());
  EXPECT_EQ(scanner.position(), kStart + 8192);
  EXPECT_EQ((EntryScanner{zeros, kStart, SegmentSeed{}}.next()), Step::bad);
}

TEST(Entry, APrefixGivesTheWholeEntriesInItAndThenSaysHowMuchIsMissing) {
  Layout layout;
  layout.add(kNoPartition, GroupPayload{LogPosition{4096}});
  layout.add_batch({.values = {"hello"}});
  layout.add(kP, StartMovedPayload{Offset{3}});
  std::vector<std::size_t> ends;
  for (auto scanner = layout.scanner(); scanner.next() == Step::entry;) {
    ends.push_back(static_cast<std::size_t>(scanner.position() - kStart));
  }
  ASSERT_EQ(ends.size(), 3U);
  for (std::size_t size = 0; size < layout.bytes.size(); ++size) {
    EntryScanner scanner{Bytes{layout.bytes}.first(size), kStart, kSeed};
    std::size_t found = 0;
    auto step = scanner.next();
    for (; step == Step::entry; step = scanner.next()) {
      ++found;
    }
    const auto whole = static_cast<std::size_t>(std::ranges::count_if(ends, [&](auto end) { return end <= size; }));
    EXPECT_EQ(found, whole) << size;
    const auto at = whole == 0 ? 0 : ends[whole - 1];
    EXPECT_EQ(step, at == size ? Step::end : Step::bad) << size;
    if (step == Step::bad) {
      EXPECT_EQ(scanner.error().code, Errc::truncated);
      EXPECT_GT(scanner.error().detail, static_cast<std::int64_t>(size - at));
      EXPECT_LE(scanner.error().detail, static_cast<std::int64_t>(ends[whole] - at));
    }
  }
}

TEST(Entry, PaddingTakesAnyPositionToTheBorder) {
  EXPECT_EQ(pad_entry_size(4096, 4096), 0U);
  EXPECT_EQ(pad_entry_size(8192 - 32, 4096), 32U);
  EXPECT_EQ(pad_entry_size(8192 - 24, 4096), 24U + 4096U) << "too little for a header: one block more";
  for (std::int64_t position = 4096; position < 12288; position += 8) {
    const auto size = pad_entry_size(position, 4096);
    EXPECT_EQ((position + static_cast<std::int64_t>(size)) % 4096, 0);
    EXPECT_TRUE(size == 0 || size >= kEntryHeaderSize);
  }
}

TEST(Entry, ResyncFindsTheNextSoundEntryAfterDamage) {
  Layout layout;
  layout.add_batch({.values = {std::string(100, 'x')}});
  const auto second = layout.end();
  layout.add_batch({.base_offset = 1});
  const auto third = layout.end();
  layout.add_batch({.base_offset = 2});
  layout.bytes[4] ^= std::byte{0x40};                                       // a lying size
  layout.bytes[static_cast<std::size_t>(second - kStart)] ^= std::byte{1};  // and the next header's CRC
  auto scanner = layout.scanner();
  ASSERT_EQ(scanner.next(), Step::bad);
  ASSERT_TRUE(scanner.resync());
  EXPECT_EQ(scanner.position(), third);
  ASSERT_EQ(scanner.next(), Step::entry);
  EXPECT_EQ(protocol::RecordBatchView::parse(scanner.entry().payload)->base_offset(), 2);
  EXPECT_EQ(scanner.next(), Step::end);
}

TEST(Entry, ASoundEntryInsideARecordIsNotFound) {
  Layout inner;
  inner.add(kP, DeletedPayload{});
  for (std::size_t filler = 0; filler < kEntryAlignment; ++filler) {  // one of them puts it on an aligned position
    Layout outer;
    outer.add_batch({.values = {std::string(filler, '.') + std::string(as_text(inner.bytes))}});
    outer.bytes[0] ^= std::byte{1};
    auto scanner = outer.scanner();
    ASSERT_EQ(scanner.next(), Step::bad);
    EXPECT_FALSE(scanner.resync()) << "the record's bytes were an entry of this segment, but at another position";
  }
}

// A kind that no build has yet, made by changing a sound entry and its CRC through the encoder.
TEST(Entry, AnUnknownKindIsRefusedUnlessItsFlagLetsItBeSkipped) {
  Layout layout;
  layout.add_raw(static_cast<EntryKind>(77), as_bytes("later"), entry_flags::may_skip_if_unknown);
  layout.add_raw(static_cast<EntryKind>(78), as_bytes("later"));
  auto scanner = layout.scanner();
  ASSERT_EQ(scanner.next(), Step::entry);
  EXPECT_FALSE(is_known(scanner.entry().header.kind));
  EXPECT_EQ(to_string(scanner.entry().header.kind), "unknown");
  ASSERT_EQ(scanner.next(), Step::bad);
  EXPECT_EQ(scanner.error(), (Error{Errc::unsupported, 78}));
}

// An atomic group of two batches with its header; `flags` of the members.
Layout atomic_group(std::uint8_t flags) {
  Layout layout;
  const auto header = layout.grow(kAtomicGroupEntrySize);
  layout.add_batch({.base_offset = 1}, flags);
  layout.add_batch({.base_offset = 2, .values = {"done"}}, flags);
  const auto members = Bytes{layout.bytes}.subspan(header.size());
  const AtomicGroupPayload payload{2, static_cast<std::uint32_t>(members.size()), atomic_members_crc(members)};
  encode_entry(MutableBytes{layout.bytes}.first(kAtomicGroupEntrySize), kSeed, kStart, kNoPartition, 1000, payload);
  return layout;
}

TEST(AtomicGroup, IsWholeOnlyWithAllMembersSoundAndFlagged) {
  const auto whole = atomic_group(entry_flags::member);
  auto scanner = whole.scanner();
  ASSERT_EQ(scanner.next(), Step::entry);
  EXPECT_TRUE(scanner.atomic_group_is_whole());
  ASSERT_EQ(scanner.next(), Step::entry) << "asking does not move the scanner";
  EXPECT_FALSE(scanner.atomic_group_is_whole()) << "a batch is no group header";

  const auto unflagged = atomic_group(0);
  auto other = unflagged.scanner();
  ASSERT_EQ(other.next(), Step::entry);
  EXPECT_FALSE(other.atomic_group_is_whole());

  for (auto size = kAtomicGroupEntrySize; size < whole.bytes.size(); ++size) {
    EntryScanner cut{Bytes{whole.bytes}.first(size), kStart, kSeed};
    ASSERT_EQ(cut.next(), Step::entry);
    EXPECT_FALSE(cut.atomic_group_is_whole()) << size;
  }
}

TEST(AtomicGroup, AnotherSoundMemberInThePlaceOfOneIsNoticed) {
  auto layout = atomic_group(entry_flags::member);
  const auto batch = make_batch({.base_offset = 1, .values = {"w"}});  // same size, another record
  const auto at = kAtomicGroupEntrySize;
  encode_batch_header(MutableBytes{layout.bytes}.subspan(at, kEntryHeaderSize), kSeed,
                      kStart + static_cast<std::int64_t>(at), kP, 1000, batch, entry_flags::member);
  std::copy(batch.begin(), batch.end(), layout.bytes.begin() + static_cast<std::ptrdiff_t>(at + kEntryHeaderSize));
  auto scanner = layout.scanner();
  ASSERT_EQ(scanner.next(), Step::entry);
  EXPECT_FALSE(scanner.atomic_group_is_whole());
  ASSERT_EQ(scanner.next(), Step::entry) << "alone it is a sound entry";
}

// Any damage: the scanner ends, stays inside the window and gives only entries that were written.
TEST(Entry, RandomDamageNeverInventsAnEntry) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{seed};
    Layout layout;
    std::map<std::int64_t, std::uint32_t> written;  // position -> header CRC
    for (int i = 0; i < 20; ++i) {
      layout.add_batch({.base_offset = i, .values = {std::string(random.below(200), 'r')}});
    }
    for (auto scanner = layout.scanner(); scanner.next() == Step::entry;) {
      written[scanner.entry().position] = scanner.entry().header.crc;
    }
    for (auto flips = 1 + random.below(8); flips > 0; --flips) {
      layout.bytes[random.below(layout.bytes.size())] ^= static_cast<std::byte>(1 + random.below(255));
    }
    auto scanner = layout.scanner();
    for (auto step = scanner.next(); step != Step::end; step = scanner.next()) {
      if (step == Step::entry) {
        const auto known = written.find(scanner.entry().position);
        ASSERT_NE(known, written.end());
        EXPECT_EQ(known->second, scanner.entry().header.crc);
      } else if (!scanner.resync()) {
        break;
      }
    }
    EXPECT_LE(scanner.position(), layout.end());
  }
}

}  // namespace
}  // namespace weir::log
