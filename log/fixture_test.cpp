// The fixture folder log/testdata/fixture-v1: files of format version 1 that every later build must open. The tests
// below also hold docs/LOG_FORMAT.md to the code: its hexdump is made here. WEIR_UPDATE_FIXTURE=1 in the environment
// writes folder and hexdump anew, for a change of the format before it has been in any release.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/posix_disk.hpp"
#include "log/index_layout.hpp"
#include "log/log_dump.hpp"
#include "log/state_entry.hpp"
#include "log/test_batch.hpp"
#include "sim/seams/sim_disk.hpp"

namespace weir::log {
namespace {

const std::string kSource = WEIR_SOURCE_DIR;
const std::string kFolder = kSource + "/log/testdata/fixture-v1";
const std::string kDocument = kSource + "/docs/LOG_FORMAT.md";
const std::vector<std::string> kFiles{"manifest",
                                      "commitlog/" + segment_file_name(SegmentId{1}),
                                      "commitlog/" + index_file_name(SegmentId{1}),
                                      "commitlog/" + segment_file_name(SegmentId{2}),
                                      "commitlog/" + index_file_name(SegmentId{2}),
                                      "commitlog/" + segment_file_name(SegmentId{3})};
constexpr std::int64_t kFileMax = 1 << 20;
constexpr Millis kTime = 1'700'000'000'000;
constexpr LocalPartition kP1{1};
constexpr LocalPartition kP2{2};
constexpr LocalPartition kP3{3};

bool update_is_asked() {
  const char* asked = std::getenv("WEIR_UPDATE_FIXTURE");
  return asked != nullptr && std::string_view{asked} == "1";
}

Uuid uuid(unsigned char fill) {
  Uuid id;
  id.bytes.fill(std::byte{fill});
  return id;
}

// A segment file put together entry by entry, and where its batches went.
class SegmentMaker {
 public:
  explicit SegmentMaker(const SegmentHeader& header) : seed_(header.seed), bytes_(kSegmentHeaderSize) {
    encode(header, bytes_);
  }
  template <class Payload>
  void add(LocalPartition partition, const Payload& payload) {
    const auto at = end();
    encode_entry(grow(entry_size(Payload::kSize)), seed_, at, partition, kTime + at, payload);
  }
  void add_raw(EntryKind kind, std::uint8_t flags, LocalPartition partition, Bytes payload) {
    const auto at = end();
    encode_entry(grow(entry_size(payload.size())), seed_, at, kind, flags, partition, kTime + at, payload);
  }
  void add_batch(LocalPartition partition, const TestBatch& facts, std::uint8_t flags = 0) {
    const auto at = end();
    const auto batch = make_batch(facts);
    const auto into = grow(entry_size(batch.size()));
    std::ranges::copy(batch, into.begin() + kEntryHeaderSize);
    encode_batch_header(into, seed_, at, partition, kTime + at, batch, flags);
    const auto last = facts.base_offset + static_cast<std::int64_t>(facts.values.size()) - 1;
    index[partition].push_back({Offset{facts.base_offset}, Offset{last},
                                at + static_cast<std::int64_t>(kEntryHeaderSize),
                                static_cast<std::uint32_t>(batch.size()), facts.timestamp});
  }
  void add_atomic_group(const std::vector<std::pair<LocalPartition, TestBatch>>& members) {
    const auto at = end();
    grow(kAtomicGroupEntrySize);
    for (const auto& [partition, batch] : members) {
      add_batch(partition, batch, entry_flags::member);
    }
    const auto bytes = Bytes{bytes_}.subspan(static_cast<std::size_t>(at) + kAtomicGroupEntrySize);
    const AtomicGroupPayload payload{static_cast<std::uint32_t>(members.size()),
                                     static_cast<std::uint32_t>(bytes.size()), atomic_members_crc(bytes)};
    encode_entry(MutableBytes{bytes_}.subspan(static_cast<std::size_t>(at), kAtomicGroupEntrySize), seed_, at,
                 kNoPartition, kTime + at, payload);
  }
  void add_pad(std::size_t alignment) {
    const auto at = end();
    const auto size = pad_entry_size(at, alignment);
    encode_pad_header(grow(size), seed_, at, size, kTime + at);
  }
  void add_garbage(std::size_t size) { bytes_.resize(bytes_.size() + size, std::byte{0xa5}); }
  [[nodiscard]] std::int64_t end() const { return static_cast<std::int64_t>(bytes_.size()); }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] std::vector<std::byte> packed(LocalPartition partition) {
    std::vector<std::byte> out(index[partition].size() * kPackedIndexEntrySize);
    for (std::size_t i = 0; i < index[partition].size(); ++i) {
      pack(index[partition][i], out.data() + i * kPackedIndexEntrySize);
    }
    return out;
  }
  std::map<LocalPartition, std::vector<IndexEntry>> index;

 private:
  MutableBytes grow(std::size_t size) {
    bytes_.resize(bytes_.size() + size);
    return MutableBytes{bytes_}.last(size);
  }
  SegmentSeed seed_;
  std::vector<std::byte> bytes_;
};

SegmentHeader header_of(std::uint64_t id, std::int64_t start) {
  return {.id = SegmentId{id},
          .seed = SegmentSeed{0x0102'0304'0506'0700U + id},
          .start = LogPosition{start},
          .boot_id = uuid(0xb0),
          .created_ms = kTime};
}

PartitionState state_of(LocalPartition local, std::int64_t end) {
  PartitionState state;
  state.local = local;
  state.key = {uuid(0x70), static_cast<std::int32_t>(local.value) - 1};
  state.log_end.value = end;
  state.durable_end.value = end;
  state.high_watermark.value = end;
  state.record_count = end;
  state.leader_epoch.value = 1;
  state.epochs.assign(LeaderEpoch{1}, Offset{0});
  return state;
}

std::vector<std::byte> producer_snapshot() {
  ProducerTable table;
  protocol::BatchFacts facts;
  facts.producer_id = 1000;
  facts.producer_epoch = 0;
  facts.base_sequence = 0;
  facts.last_offset_delta = 1;
  facts.max_timestamp = kTime;
  table.apply(facts, Offset{5}, kTime);
  return table.encode().front();
}

std::vector<std::byte> state_chunk(std::uint32_t number, Bytes items) {
  constexpr std::size_t kHead = 8;
  std::vector<std::byte> out(kHead + items.size());
  store_le(out, 0, number);
  std::ranges::copy(items, out.begin() + kHead);
  return out;
}

// One entry of each kind that an arrival segment may have, and one of a kind that does not exist yet.
SegmentMaker make_first_segment() {
  SegmentMaker segment{header_of(1, 0)};
  std::vector<std::byte> items;
  append_item(items, NodeState{LocalPartition{3}});
  append_item(items, state_of(kP1, 5));
  segment.add_raw(EntryKind::state, entry_flags::continued, kNoPartition, state_chunk(0, items));
  items.clear();
  const auto snapshot = producer_snapshot();
  append_item(items, state_of(kP2, 0));
  append_item(items, ProducersItem{kP1, snapshot});
  segment.add_raw(EntryKind::state, 0, kNoPartition, state_chunk(1, items));
  segment.add(kNoPartition, GroupPayload{LogPosition{segment.end()}});
  segment.add(kP3, PartitionCreatedPayload{uuid(0x71), 0, LeaderEpoch{0}, Offset{0}, 0});
  segment.add_batch(kP1, {.base_offset = 5, .values = {"one", "two"}, .timestamp = kTime, .leader_epoch = 1});
  segment.add_batch(kP2, {.values = {"idempotent"},
                          .timestamp = kTime + 1,
                          .producer_id = 1000,
                          .producer_epoch = 0,
                          .base_sequence = 0,
                          .leader_epoch = 1});
  segment.add_batch(kP2, {.base_offset = 1, .values = {"to be cut"}, .timestamp = kTime + 2, .leader_epoch = 1});
  segment.add_atomic_group(
      {{kP1, {.base_offset = 7, .values = {"half"}, .timestamp = kTime + 3, .leader_epoch = 1}},
       {kP3, {.base_offset = 0, .values = {"decided"}, .timestamp = kTime + 3, .leader_epoch = 0}}});
  segment.add(kP2, TruncatedPayload{Offset{1}, LeaderEpoch{2}});
  segment.index[kP2].pop_back();
  segment.add(kP2, EpochStartPayload{LeaderEpoch{2}, Offset{1}});
  segment.add(kP1, StartMovedPayload{Offset{5}});
  segment.add(kP2, OffsetsReservedPayload{Offset{1000}});
  segment.add(kP3, DeletedPayload{uuid(0x71), 0});
  segment.add_raw(static_cast<EntryKind>(200), entry_flags::may_skip_if_unknown, kNoPartition, as_bytes("later"));
  segment.add_pad(4096);
  return segment;
}

SegmentMaker make_second_segment(std::int64_t start) {
  auto header = header_of(2, start);
  header.io = IoMode::direct;
  SegmentMaker segment{header};
  std::vector<std::byte> items;
  append_item(items, NodeState{LocalPartition{4}});
  append_item(items, state_of(kP1, 8));
  segment.add_raw(EntryKind::state, 0, kNoPartition, state_chunk(0, items));
  segment.add_batch(kP1, {.base_offset = 8, .values = {"open"}, .timestamp = kTime + 4, .leader_epoch = 1});
  return segment;
}

SegmentMaker make_sorted_segment() {
  auto header = header_of(3, 0);
  header.role = SegmentRole::sorted;
  header.retention_class = 4;
  SegmentMaker segment{header};
  auto run = make_batch({.base_offset = 0, .values = {"a", "b"}, .timestamp = kTime});
  const auto second = make_batch({.base_offset = 2, .values = {"c"}, .timestamp = kTime});
  run.insert(run.end(), second.begin(), second.end());
  segment.add_raw(EntryKind::run, 0, kP1, run);
  return segment;
}

void write(Disk& disk, const std::string& path, Bytes bytes) {
  ASSERT_TRUE(replace_file(disk, path, bytes));
}

// The whole folder as the code of today writes it.
void make_fixture(Disk& disk, const std::string& folder) {
  ASSERT_TRUE(disk.make_directories(folder + "/commitlog"));
  auto first = make_first_segment();
  write(disk, folder + "/" + kFiles[1], first.bytes());
  IndexFileFacts facts{SegmentId{1}, header_of(1, 0).seed, first.end(), kTime + first.end()};
  auto index = IndexFileWriter::create(disk, folder + "/" + kFiles[2], facts);
  ASSERT_TRUE(index);
  std::vector<std::byte> state;
  append_item(state, state_of(kP1, 8));
  append_item(state, ProducersItem{kP1, producer_snapshot()});
  IndexRow row{.local = kP1, .first_offset = Offset{5}, .next_offset = Offset{8}, .log_start = Offset{5}};
  row.record_count = 8;
  row.batch_bytes = 150;
  row.max_timestamp = kTime + 3;
  row.newest_append_ms = kTime + 5000;
  ASSERT_TRUE(index->add(row, first.packed(kP1), state));
  IndexRow other{.local = kP2, .first_offset = Offset{0}, .next_offset = Offset{1}, .log_start = Offset{0}};
  other.record_count = 1;
  ASSERT_TRUE(index->add(other, first.packed(kP2), {}));
  ASSERT_TRUE(index->finish());

  auto second = make_second_segment(first.end());
  const auto second_end = second.end();
  second.add_garbage(40);
  write(disk, folder + "/" + kFiles[3], second.bytes());
  auto deltas = IndexDeltaWriter::create(disk, folder + "/" + kFiles[4], SegmentId{2}, header_of(2, 0).seed);
  ASSERT_TRUE(deltas);
  std::vector<std::byte> items;
  append_item(items, state_of(kP1, 9));
  append_item(items, IndexItem{kP1, second.packed(kP1)});
  ASSERT_TRUE(deltas->append({static_cast<std::int64_t>(kSegmentHeaderSize), second_end, items}));

  const auto third = make_sorted_segment();
  write(disk, folder + "/" + kFiles[5], third.bytes());
  ManifestState manifest;
  for (const ManifestEdit& edit : std::initializer_list<ManifestEdit>{
           AddSegment{SegmentId{1}, SegmentRole::arrival, 0, LogPosition{0}},
           SealSegment{SegmentId{1}, first.end(), true},
           AddSegment{SegmentId{2}, SegmentRole::arrival, 0, LogPosition{first.end()}},
           AddSegment{SegmentId{3}, SegmentRole::sorted, 4, LogPosition{0}},
           SealSegment{SegmentId{3}, third.end(), false}, CleanPoint{LogPosition{first.end()}},
           NextNumbers{SegmentId{4}, LocalPartition{4}}, StartOffset{kP1, Offset{5}}}) {
    ASSERT_TRUE(manifest.apply(edit));
  }
  write(disk, folder + "/manifest", encode_manifest(manifest, 0x0102'0304'0506'0708));
}

// All that the dump says of a folder, file after file.
std::string dump_of(Disk& disk, const std::string& folder, bool json) {
  std::string text;
  const LineSink sink = [&text](std::string_view line) { text += std::string(line) + "\n"; };
  const DumpOptions options{.json = json};
  for (const auto& name : kFiles) {
    text += "== " + name + "\n";
    const auto path = folder + "/" + name;
    const auto result = name == "manifest"         ? dump_manifest(disk, path, options, sink)
                        : name.ends_with(".index") ? dump_index(disk, path, options, sink)
                                                   : dump_segment(disk, path, options, sink);
    EXPECT_TRUE(result) << name;
  }
  return text;
}

std::string hex_lines(Bytes bytes, std::size_t from, std::size_t to) {
  std::ostringstream out;
  bool gap = false;
  for (auto at = from; at < to; at += 16) {
    const auto line = bytes.subspan(at, std::min<std::size_t>(16, to - at));
    const bool zeros = std::ranges::all_of(line, [](std::byte byte) { return byte == std::byte{0}; });
    if (zeros) {
      out << (gap ? "" : "*\n");
      gap = true;
      continue;
    }
    gap = false;
    char buffer[24];
    std::snprintf(buffer, sizeof buffer, "%06zx ", at);
    out << buffer;
    for (const auto byte : line) {
      std::snprintf(buffer, sizeof buffer, " %02x", std::to_integer<unsigned>(byte));
      out << buffer;
    }
    out << "\n";
  }
  return out.str();
}

// Each file of the fixture with its parts told apart; a `*` stands for lines of zeros.
std::string document_hexdump(Disk& disk, const std::string& folder) {
  std::string text;
  for (const auto& name : kFiles) {
    const auto bytes = read_file(disk, folder + "/" + name, kFileMax).value();
    text += "## " + name + "\n";
    if (!name.ends_with(".log")) {
      text += hex_lines(bytes, 0, bytes.size());
      continue;
    }
    text += hex_lines(bytes, 0, kSegmentHeaderSize);
    const auto header = decode_segment_header(bytes).value();
    EntryScanner scanner{Bytes{bytes}.subspan(kSegmentHeaderSize), kSegmentHeaderSize, header.seed};
    while (scanner.next() == EntryScanner::Step::entry) {
      const auto& entry = scanner.entry();
      text += "# " + std::string(to_string(entry.header.kind)) + "\n" +
              hex_lines(bytes, static_cast<std::size_t>(entry.position), static_cast<std::size_t>(entry.end()));
    }
    if (scanner.position() < std::ssize(bytes)) {
      text += "# a torn tail\n" + hex_lines(bytes, static_cast<std::size_t>(scanner.position()), bytes.size());
    }
  }
  return text;
}

constexpr std::string_view kBegin = "<!-- hexdump: made by log/fixture_test.cpp -->\n```\n";
constexpr std::string_view kEnd = "```\n<!-- end of hexdump -->\n";

std::string read_text(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}
void write_text(const std::string& path, const std::string& text) {
  std::ofstream{path, std::ios::binary} << text;
}

class Fixture : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!update_is_asked()) {
      return;
    }
    PosixDisk disk;
    make_fixture(disk, kFolder);
    write_text(kFolder + "/dump.txt", dump_of(disk, kFolder, false));
    auto document = read_text(kDocument);
    const auto begin = document.find(kBegin);
    const auto end = document.find(kEnd);
    ASSERT_TRUE(begin != std::string::npos && end != std::string::npos);
    document.replace(begin + kBegin.size(), end - begin - kBegin.size(), document_hexdump(disk, kFolder));
    write_text(kDocument, document);
  }
  PosixDisk disk;
};

TEST_F(Fixture, TheCodeStillWritesTheSameBytes) {
  sim::SimDisk memory{1};
  make_fixture(memory, "/f");
  for (const auto& name : kFiles) {
    EXPECT_EQ(read_file(memory, "/f/" + name, kFileMax).value(),
              read_file(disk, kFolder + "/" + name, kFileMax).value())
        << name;
  }
}

TEST_F(Fixture, TheCommittedFilesStillDumpAsTheyDid) {
  EXPECT_EQ(dump_of(disk, kFolder, false), read_text(kFolder + "/dump.txt"));
}

TEST_F(Fixture, TheCommittedFolderVerifies) {
  std::string lines;
  const auto report = verify_folder(disk, kFolder, [&](std::string_view line) { lines += std::string(line) + "\n"; });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problems, 0) << lines;
  EXPECT_EQ(report->torn_bytes, 40);
  EXPECT_EQ(report->batches, 8);
  EXPECT_EQ(report->records, 10);
}

TEST_F(Fixture, TheDocumentShowsTheseBytes) {
  const auto document = read_text(kDocument);
  const auto begin = document.find(kBegin);
  const auto end = document.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(document.substr(begin + kBegin.size(), end - begin - kBegin.size()), document_hexdump(disk, kFolder))
      << "WEIR_UPDATE_FIXTURE=1 log_test writes it anew";
}

TEST_F(Fixture, JsonHasOneObjectALineWithTheSameNames) {
  const auto text = dump_of(disk, kFolder, true);
  EXPECT_NE(text.find(R"({"position":4096,"kind":"state","size":)"), std::string::npos);
  EXPECT_NE(text.find(R"("continued":true)"), std::string::npos);
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.starts_with("== ") || (line.starts_with('{') && line.ends_with('}'))) << line;
  }
}

// What a dump or a check finds wrong after one change to a copy of the fixture.
class DamagedFixture : public testing::Test {
 protected:
  DamagedFixture() { make_fixture(memory, "/f"); }
  VerifyReport verify() {
    problems.clear();
    const auto report = verify_folder(memory, "/f", [this](std::string_view line) { problems += line; });
    EXPECT_TRUE(report);
    return report ? *report : VerifyReport{};
  }
  sim::SimDisk memory{1};
  std::string problems;
};

TEST_F(DamagedFixture, EveryFlippedBitOfTheSealedSegmentIsFound) {
  const auto path = "/f/" + kFiles[1];
  const auto size = memory.open(path, {.read_only = true}).value()->size().value();
  const auto bytes = read_file(memory, path, kFileMax).value();
  EntryScanner scanner{Bytes{bytes}.subspan(kSegmentHeaderSize), kSegmentHeaderSize, header_of(1, 0).seed};
  std::vector<bool> matters(static_cast<std::size_t>(size), false);
  std::fill_n(matters.begin(), kSegmentHeaderSize, true);
  while (scanner.next() == EntryScanner::Step::entry) {
    const auto& entry = scanner.entry();
    const auto covered = kEntryHeaderSize + (entry.header.kind == EntryKind::pad ? 0 : entry.payload.size());
    std::fill_n(matters.begin() + entry.position, covered, true);  // not: padding
  }
  for (std::int64_t at = 0; at < size; at += 11) {
    const auto mask = std::byte{1} << static_cast<unsigned>(at % 8);
    ASSERT_TRUE(memory.damage(path, at, mask));
    EXPECT_EQ(verify().problems > 0, static_cast<bool>(matters[static_cast<std::size_t>(at)])) << "byte " << at;
    ASSERT_TRUE(memory.damage(path, at, mask));
  }
  EXPECT_EQ(verify().problems, 0);
}

TEST_F(DamagedFixture, EveryFlippedBitOfTheSealedIndexIsFound) {
  const auto path = "/f/" + kFiles[2];
  const auto size = memory.open(path, {.read_only = true}).value()->size().value();
  for (std::int64_t at = 0; at < size; at += 3) {
    ASSERT_TRUE(memory.damage(path, at, std::byte{0x10}));
    EXPECT_GT(verify().problems, 0) << "byte " << at;
    ASSERT_TRUE(memory.damage(path, at, std::byte{0x10}));
  }
}

TEST_F(DamagedFixture, TornIndexDeltasAreNoProblemAndDamagedOnesAre) {
  const auto path = "/f/" + kFiles[4];
  const auto bytes = read_file(memory, path, kFileMax).value();
  for (auto size = bytes.size(); size >= kIndexHeaderSize; size -= 7) {
    write(memory, path, Bytes{bytes}.first(size));
    EXPECT_EQ(verify().problems, 0) << size << ": " << problems;
  }
  write(memory, path, bytes);
  for (std::size_t at = 0; at < bytes.size(); at += 5) {
    if (at >= kIndexHeaderSize + 8 && at < kIndexHeaderSize + 16) {
      continue;  // a larger size is as good as a torn tail
    }
    ASSERT_TRUE(memory.damage(path, static_cast<std::int64_t>(at), std::byte{1}));
    EXPECT_EQ(verify().problems, 1) << at << ": " << problems;
    ASSERT_TRUE(memory.damage(path, static_cast<std::int64_t>(at), std::byte{1}));
  }
  ASSERT_TRUE((*memory.open("/f/" + kFiles[3], {}))->truncate(kSegmentHeaderSize + 8));
  EXPECT_EQ(verify().problems, 1);
  EXPECT_NE(problems.find("its index deltas cover more than it has"), std::string::npos) << problems;
}

TEST_F(DamagedFixture, AMissingSegmentOrIndexIsNamed) {
  ASSERT_TRUE(memory.remove("/f/" + kFiles[2]));
  EXPECT_EQ(verify().problems, 1);
  EXPECT_NE(problems.find(kFiles[2]), std::string::npos);
  ASSERT_TRUE(memory.remove("/f/" + kFiles[1]));
  EXPECT_EQ(verify().problems, 1);
  EXPECT_NE(problems.find(kFiles[1]), std::string::npos);
}

TEST_F(DamagedFixture, AnIndexThatMissesABatchOrNamesAWrongPlaceIsFound) {
  auto first = make_first_segment();
  const IndexFileFacts facts{SegmentId{1}, header_of(1, 0).seed, first.end(), kTime};
  const auto rewrite = [&](const std::vector<IndexEntry>& entries) {
    first.index[kP1] = entries;
    auto writer = IndexFileWriter::create(memory, "/f/" + kFiles[2], facts);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add({.local = kP1, .next_offset = Offset{8}}, first.packed(kP1), {}));
    ASSERT_TRUE(writer->finish());
  };
  auto entries = first.index[kP1];
  rewrite({entries[0]});
  EXPECT_EQ(verify().problems, 1);
  EXPECT_NE(problems.find("names 1 of 2"), std::string::npos) << problems;
  entries[1].position += 8;
  rewrite(entries);
  EXPECT_EQ(verify().problems, 1);
  EXPECT_NE(problems.find("not where it says"), std::string::npos) << problems;
}

TEST_F(DamagedFixture, AnIndexThatEndsElsewhereThanItsSegmentIsFound) {
  auto first = make_first_segment();
  for (const auto end : {first.end() - 8, first.end(), first.end() + 8}) {
    auto writer = IndexFileWriter::create(memory, "/f/" + kFiles[2], {SegmentId{1}, header_of(1, 0).seed, end, kTime});
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add({.local = kP1, .next_offset = Offset{8}}, first.packed(kP1), {}));
    ASSERT_TRUE(writer->finish());
    EXPECT_EQ(verify().problems, end == first.end() ? 0 : 1) << problems;
    EXPECT_EQ(problems.find("covers it up to " + std::to_string(end)) != std::string::npos, end != first.end());
  }
}

TEST_F(DamagedFixture, AnAtomicGroupWithoutItsHeaderOrAMemberIsFound) {
  SegmentMaker segment{header_of(1, 0)};
  segment.add_batch(kP1, {.base_offset = 5});
  const auto group = segment.end();
  segment.add_atomic_group({{kP1, {.base_offset = 6}}, {kP2, {.base_offset = 0}}});
  const auto first_member = group + static_cast<std::int64_t>(kAtomicGroupEntrySize);
  segment.add_batch(kP1, {.base_offset = 7});
  const auto verify_with_damage_at = [&](std::int64_t at) {
    problems.clear();
    write(memory, "/f/x.log", segment.bytes());
    if (at > 0) {
      EXPECT_TRUE(memory.damage("/f/x.log", at, std::byte{1}));
    }
    return verify_segment(memory, "/f/x.log", -1, 0,
                          [this](std::string_view line) { problems += std::string(line) + "\n"; })
        .value();
  };
  EXPECT_EQ(verify_with_damage_at(0).problems, 0) << problems;
  EXPECT_EQ(verify_with_damage_at(group).problems, 3) << problems;
  const auto says = [this](std::int64_t at, const std::string& what) {
    return problems.find("position " + std::to_string(at) + ": " + what) != std::string::npos;
  };
  EXPECT_TRUE(says(first_member, "a member of an atomic group that is not whole")) << problems;
  verify_with_damage_at(first_member);
  EXPECT_TRUE(says(group, "an atomic group that is not whole")) << problems;
}

TEST_F(DamagedFixture, TheSameOffsetTwiceIsFound) {
  SegmentMaker segment{header_of(1, 0)};
  segment.add_batch(kP1, {.base_offset = 5});
  segment.add_batch(kP1, {.base_offset = 5});
  write(memory, "/f/x.log", segment.bytes());
  const auto report = verify_segment(memory, "/f/x.log", -1, 0, [this](std::string_view line) { problems += line; });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problems, 1);
  EXPECT_NE(problems.find("does not follow"), std::string::npos) << problems;
}

TEST_F(DamagedFixture, ADumpFromThePlaceAskedForStartsAtTheNextEntryAndKeepsToItsLimits) {
  std::vector<std::string> lines;
  const LineSink sink = [&lines](std::string_view line) { lines.emplace_back(line); };
  ASSERT_TRUE(dump_segment(memory, "/f/" + kFiles[1], {.partition = kP1, .from = 4104, .entries_max = 2}, sink));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].starts_with("segment=1 "));
  EXPECT_NE(lines[1].find("base=5 last=6"), std::string::npos);
  EXPECT_NE(lines[2].find("base=7 last=7"), std::string::npos);
  EXPECT_EQ(dump_segment(memory, "/f/" + kFiles[1], {.from = kFileMax}, sink).error().code, Errc::out_of_range);
}

}  // namespace
}  // namespace weir::log
