#include "log/index_file.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/crc32c.hpp"
#include "log/index_layout.hpp"
#include "sim/seams/sim_disk.hpp"

namespace weir::log {
namespace {

constexpr SegmentId kSegment{9};
constexpr SegmentSeed kSeed{0x1234'5678'9abc'def0};
const IndexFileFacts kFacts{kSegment, kSeed, 1'000'000, 1'700'000'000'000};

std::vector<std::byte> packed(const std::vector<IndexEntry>& entries) {
  std::vector<std::byte> bytes(entries.size() * kPackedIndexEntrySize);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    pack(entries[i], bytes.data() + i * kPackedIndexEntrySize);
  }
  return bytes;
}

IndexRow sample_row(std::uint32_t local) {
  IndexRow row;
  row.local.value = local;
  row.next_offset.value = 100 + local;
  row.record_count = 50 + local;
  return row;
}

// A sealed index of partitions 2 (two batches), 5 (none) and 9 (one batch, with state).
class SealedIndex : public testing::Test {
 protected:
  SealedIndex() {
    EXPECT_TRUE(disk.make_directories("/d"));
    auto writer = IndexFileWriter::create(disk, "/d/x.index", kFacts);
    EXPECT_TRUE(writer);
    EXPECT_TRUE(writer->add(sample_row(2), packed(first), {}));
    EXPECT_TRUE(writer->add(sample_row(5), {}, {}));
    EXPECT_TRUE(writer->add(sample_row(9), packed(second), as_bytes("state items")));
    EXPECT_TRUE(writer->finish());
    bytes = read_file(disk, "/d/x.index", 1 << 20).value();
  }
  static Result<std::shared_ptr<const IndexFile>> open(Bytes content) {
    return IndexFile::open(SharedBytes::copy_of(content), kSegment, kSeed);
  }
  // Opens and asks for everything in it: true only if no step finds a fault.
  static bool all_is_well(Bytes content) {
    const auto file = open(content);
    for (std::size_t i = 0; file && i < (*file)->row_count(); ++i) {
      const auto row = (*file)->row(i);
      if (!(*file)->section(row) || !(*file)->state(row)) {
        return false;
      }
    }
    return file.has_value();
  }

  sim::SimDisk disk{1};
  const std::vector<IndexEntry> first{{Offset{10}, Offset{12}, 4128, 80, 5}, {Offset{20}, Offset{20}, 4300, 61, 9}};
  const std::vector<IndexEntry> second{{Offset{0}, Offset{3}, 4200, 70, 7}};
  std::vector<std::byte> bytes;
};

TEST_F(SealedIndex, GivesBackRowsSectionsAndState) {
  const auto file = open(bytes);
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->facts(), kFacts);
  EXPECT_EQ((*file)->row_count(), 3U);
  EXPECT_FALSE((*file)->find(LocalPartition{1}));
  EXPECT_FALSE((*file)->find(LocalPartition{4}));
  EXPECT_FALSE((*file)->find(LocalPartition{10}));
  const auto row = (*file)->find(LocalPartition{2});
  ASSERT_TRUE(row);
  EXPECT_EQ(row->entry_count, 2U);
  EXPECT_EQ(row->next_offset, Offset{102});
  EXPECT_EQ(row->record_count, 52);
  const auto section = (*file)->section(*row);
  ASSERT_TRUE(section);
  EXPECT_EQ(section->at(0), first[0]);
  EXPECT_EQ(section->find(Offset{12}), 0U);
  EXPECT_EQ(section->find(Offset{13}), 1U) << "the next one after a gap";
  EXPECT_EQ(section->find(Offset{21}), 2U);
  EXPECT_EQ(section->find_by_time(6), 1U);
  EXPECT_EQ(section->find_by_time(10), 2U);
  EXPECT_EQ(section->find_by_time(0, 5), 2U);
  const auto absent = (*file)->find(LocalPartition{5});
  ASSERT_TRUE(absent) << "every live partition has a row";
  EXPECT_EQ((*file)->section(*absent)->size(), 0U);
  EXPECT_EQ(as_text(*(*file)->state(*(*file)->find(LocalPartition{9}))), "state items");
  EXPECT_FALSE(disk.exists("/d/x.index.tmp"));
}

TEST_F(SealedIndex, EveryFlippedBitIsFoundByOpenOrByTheSectionItIsIn) {
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(all_is_well(bytes)) << "bit " << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_TRUE(all_is_well(bytes));
}

TEST_F(SealedIndex, NoPrefixIsTaken) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(open(Bytes{bytes}.first(size))) << size;
  }
}

TEST_F(SealedIndex, AnotherSegmentOrAnotherLifeOfTheFileIsRefused) {
  EXPECT_FALSE(IndexFile::open(SharedBytes::copy_of(bytes), SegmentId{10}, kSeed));
  EXPECT_FALSE(IndexFile::open(SharedBytes::copy_of(bytes), kSegment, SegmentSeed{kSeed.value + 1}));
}

// A writer's mistake or a forger's work: all CRCs are right, the content is not.
TEST_F(SealedIndex, OffsetsThatDoNotRiseAreRefusedThoughTheCrcFits) {
  auto writer = IndexFileWriter::create(disk, "/d/bad.index", kFacts);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->add(sample_row(1), packed({first[1], first[0]}), {}));
  ASSERT_TRUE(writer->finish());
  const auto content = read_file(disk, "/d/bad.index", 1 << 20).value();
  const auto file = open(content);
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->section((*file)->row(0)).error().code, Errc::corrupt);
}

TEST_F(SealedIndex, ADirectoryThatContradictsItselfIsRefusedThoughTheCrcsFit) {
  constexpr std::size_t kTrailer = 64;  // docs/LOG_FORMAT.md
  constexpr std::size_t kRow = 96;
  const auto trailer_at = bytes.size() - kTrailer;
  const auto directory_at = static_cast<std::size_t>(load_le<std::int64_t>(bytes, trailer_at + 8));
  ASSERT_EQ(trailer_at - directory_at, 3 * kRow);
  const auto section_end = static_cast<std::int64_t>(directory_at);
  const auto is_taken = [&](std::size_t at, auto value) {
    auto forged = bytes;
    store_le(forged, at, value);
    store_le(forged, trailer_at + 20, crc32c(Bytes{forged}.subspan(directory_at, 3 * kRow)));
    store_le(forged, trailer_at + 60, crc32c(Bytes{forged}.subspan(trailer_at, 60)));
    return open(forged).has_value();
  };
  const auto second_row = directory_at + kRow;
  for (const auto local : {1U, 2U, 3U, 8U, 9U, 10U}) {
    EXPECT_EQ(is_taken(second_row, local), local > 2 && local < 9)
        << "of the row between partitions 2 and 9: " << local;
  }
  for (const std::size_t at : {std::size_t{64}, std::size_t{72}}) {  // where its entries and its state items begin
    EXPECT_FALSE(is_taken(second_row + at, std::int64_t{63})) << "in the header";
    EXPECT_TRUE(is_taken(second_row + at, std::int64_t{64}));
    EXPECT_TRUE(is_taken(second_row + at, section_end)) << "nothing, at the very end";
    EXPECT_FALSE(is_taken(second_row + at, section_end + 1)) << "in the directory";
  }
  EXPECT_TRUE(is_taken(second_row + 84,
                       static_cast<std::uint32_t>(section_end - load_le<std::int64_t>(bytes, second_row + 72))));
  EXPECT_FALSE(is_taken(second_row + 84,
                        static_cast<std::uint32_t>(section_end - load_le<std::int64_t>(bytes, second_row + 72) + 1)));
  EXPECT_FALSE(is_taken(second_row + 92, 1U)) << "of a later build";
  EXPECT_FALSE(is_taken(trailer_at + 8, section_end - 1));
  EXPECT_FALSE(is_taken(trailer_at + 16, 2U)) << "a row too few";
  EXPECT_FALSE(is_taken(trailer_at + 56, 1U)) << "of a later build";
  EXPECT_TRUE(is_taken(trailer_at + 24, std::int64_t{5}))
      << "the end of its segment is judged by who knows the segment";
}

TEST_F(SealedIndex, ARowOfAnotherFileIsRefused) {
  const auto file = open(bytes);
  ASSERT_TRUE(file);
  auto row = (*file)->row(0);
  row.entry_count = 1'000'000;
  EXPECT_EQ((*file)->section(row).error().code, Errc::invalid_argument);
  EXPECT_EQ((*file)->state(row).error().code, Errc::invalid_argument);
}

TEST(IndexFile, AgreesWithASimpleMapOnRandomPartitions) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{seed};
    sim::SimDisk disk{seed};
    ASSERT_TRUE(disk.make_directories("/d"));
    auto writer = IndexFileWriter::create(disk, "/d/x.index", kFacts);
    ASSERT_TRUE(writer);
    std::map<std::uint32_t, std::map<std::int64_t, IndexEntry>> model;  // by last offset
    for (std::uint32_t local = 0; local < 200; local += 1 + static_cast<std::uint32_t>(random.below(4))) {
      std::vector<IndexEntry> entries;
      std::int64_t offset = 0;
      for (auto count = random.below(50); count > 0; --count) {
        offset += static_cast<std::int64_t>(random.below(3));
        const auto last = offset + static_cast<std::int64_t>(random.below(4));
        entries.push_back({Offset{offset}, Offset{last}, 4096, 61, static_cast<Millis>(random.below(99))});
        model[local][last] = entries.back();
        offset = last + 1;
      }
      model[local];
      ASSERT_TRUE(writer->add(sample_row(local), packed(entries), {}));
    }
    ASSERT_TRUE(writer->finish());
    const auto bytes = read_file(disk, "/d/x.index", 1 << 20).value();
    const auto file = IndexFile::open(SharedBytes::copy_of(bytes), kSegment, kSeed);
    ASSERT_TRUE(file);
    for (std::uint32_t local = 0; local < 210; ++local) {
      const auto row = (*file)->find(LocalPartition{local});
      ASSERT_EQ(row.has_value(), model.contains(local)) << local;
      if (!row) {
        continue;
      }
      const auto section = (*file)->section(*row);
      ASSERT_TRUE(section);
      for (std::int64_t offset = 0; offset < 200; ++offset) {
        const auto expected = model[local].lower_bound(offset);
        const auto found = section->find(Offset{offset});
        ASSERT_EQ(found == section->size(), expected == model[local].end());
        if (found < section->size()) {
          EXPECT_EQ(section->at(found), expected->second);
        }
      }
    }
  }
}

TEST(IndexFile, AnIndexThatWasNotFinishedLeavesTheOldFileInItsPlace) {
  sim::SimDisk disk{1};
  ASSERT_TRUE(disk.make_directories("/d"));
  ASSERT_TRUE(IndexDeltaWriter::create(disk, "/d/x.index", kSegment, kSeed));
  auto writer = IndexFileWriter::create(disk, "/d/x.index", kFacts);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->add(sample_row(1), {}, {}));
  const auto bytes = read_file(disk, "/d/x.index", 1 << 20).value();
  EXPECT_EQ(IndexFile::open(SharedBytes::copy_of(bytes), kSegment, kSeed).error().code, Errc::not_found);
  EXPECT_TRUE(read_index_deltas(bytes, kSegment, kSeed));
}

class Deltas : public testing::Test {
 protected:
  Deltas() {
    EXPECT_TRUE(disk.make_directories("/d"));
    auto writer = IndexDeltaWriter::create(disk, "/d/x.index", kSegment, kSeed);
    EXPECT_TRUE(writer);
    EXPECT_TRUE(writer->append({4096, 10'000, as_bytes("first")}));
    EXPECT_TRUE(writer->append({10'000, 30'000, as_bytes("second one")}));
    bytes = read_file(disk, "/d/x.index", 1 << 20).value();
  }
  sim::SimDisk disk{1};
  std::vector<std::byte> bytes;
};

TEST_F(Deltas, ComeBackAsAChain) {
  const auto found = read_index_deltas(bytes, kSegment, kSeed);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->damage);
  ASSERT_EQ(found->deltas.size(), 2U);
  EXPECT_EQ(as_text(found->deltas[1].items), "second one");
  EXPECT_EQ(found->covered_end(), 30'000);
}

TEST_F(Deltas, AnyFlippedBitOrCutEndsTheChainBeforeIt) {
  const auto first_size = static_cast<std::size_t>(40 + 5);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto found = read_index_deltas(bytes, kSegment, kSeed);
    if (bit / 8 < kIndexHeaderSize) {
      EXPECT_FALSE(found) << "bit " << bit;
    } else {
      ASSERT_TRUE(found);
      EXPECT_TRUE(found->damage) << "bit " << bit;
      EXPECT_EQ(found->deltas.size(), bit / 8 < kIndexHeaderSize + first_size ? 0U : 1U) << "bit " << bit;
    }
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  for (auto size = kIndexHeaderSize; size < bytes.size(); ++size) {
    const auto found = read_index_deltas(Bytes{bytes}.first(size), kSegment, kSeed);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->deltas.size(), size < kIndexHeaderSize + first_size ? 0U : 1U);
    EXPECT_EQ(found->damage.has_value(), size != kIndexHeaderSize && size != kIndexHeaderSize + first_size) << size;
  }
}

TEST_F(Deltas, AMissingOneInTheMiddleIsNoticed) {
  bytes.erase(bytes.begin() + kIndexHeaderSize, bytes.begin() + kIndexHeaderSize + 45);
  const auto found = read_index_deltas(bytes, kSegment, kSeed);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->deltas.empty());
  EXPECT_EQ(found->damage->code, Errc::corrupt);
  EXPECT_EQ(found->covered_end(), 4096);
}

TEST_F(Deltas, AfterAFailedWriteNoMoreAreTaken) {
  auto writer = IndexDeltaWriter::create(disk, "/d/y.index", kSegment, kSeed);
  ASSERT_TRUE(writer);
  disk.set_fault_hook([](sim::DiskOperation operation, const std::string&) {
    return operation == sim::DiskOperation::sync ? std::optional{Error{Errc::disk_failed, 5}} : std::nullopt;
  });
  EXPECT_EQ(writer->append({4096, 5000, {}}).error().code, Errc::disk_failed);
  disk.set_fault_hook({});
  EXPECT_EQ(writer->append({4096, 5000, {}}).error().code, Errc::read_only);
}

}  // namespace
}  // namespace weir::log
