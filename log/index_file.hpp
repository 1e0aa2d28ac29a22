// Index files, one a segment (bytes: docs/LOG_FORMAT.md). While the segment is open: deltas, appended every 64 MiB by
// the pool, so that a start need not scan the whole segment. Once it is sealed: IndexFile, written anew in one go and
// renamed over the deltas: the batches of each partition in offset order, and a directory of every live partition.
// Writers belong to one pool task; an IndexFile is immutable and may be read by any thread.
#pragma once

#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/disk.hpp"
#include "log/offset_index.hpp"
#include "log/segment_header.hpp"

namespace weir::log {

// The newest append time of batches that a start took from deltas, which do not tell theirs: above every other, so that
// no batch is taken for older than it is. A clock that was set back has none that would do.
inline constexpr Millis kAppendUnknownMs = std::numeric_limits<Millis>::max();

// One partition in the directory of a sealed segment, present or not.
struct IndexRow {
  LocalPartition local;
  std::uint32_t entry_count = 0;      // 0: no batch of it is in this segment
  Offset first_offset{-1};            // base offset of its first batch here; -1 if none
  Offset next_offset;                 // its log end where this segment ends
  Offset log_start;                   // as known when the file was written
  std::int64_t record_count = 0;      // data records appended up to its end since the last truncation, in all segments
  std::int64_t batch_bytes = 0;       // of its batches in this segment
  Millis max_timestamp = -1;          // in this segment; -1 if none
  Millis newest_append_ms = -1;       // in this segment; -1 if none, or kAppendUnknownMs
  std::int64_t section_position = 0;  // filled by the writer: packed entries
  std::uint32_t section_crc = 0;
  std::int64_t state_position = 0;  // filled by the writer: state items (epochs, producers)
  std::uint32_t state_size = 0;
  std::uint32_t state_crc = 0;
  friend bool operator==(const IndexRow&, const IndexRow&) = default;
};

struct IndexFileFacts {
  SegmentId segment;
  SegmentSeed seed;              // the segment's: an index never serves a file that was used again
  std::int64_t valid_end = 0;    // file position up to which the segment is covered (and valid)
  Millis newest_append_ms = -1;  // over all partitions
  friend bool operator==(const IndexFileFacts&, const IndexFileFacts&) = default;
};

class IndexFileWriter {
 public:
  // Writes under a temporary name until finish().
  static Result<IndexFileWriter> create(Disk& disk, std::string path, const IndexFileFacts& facts);
  // Rising local numbers. `packed`: the entries in offset order (OffsetIndex::copy_packed); `state`: state items.
  Result<void> add(IndexRow row, Bytes packed, Bytes state);
  // Directory and trailer, sync, rename to `path`, sync of the folder.
  Result<void> finish();

 private:
  IndexFileWriter() = default;
  Result<void> put(Bytes bytes);
  Result<void> flush();
  Disk* disk_ = nullptr;
  std::string path_;
  std::shared_ptr<File> file_;
  IndexFileFacts facts_;
  std::vector<IndexRow> rows_;
  std::vector<std::byte> buffer_;
  std::int64_t position_ = 0;  // of the end of buffer_ in the file
};

// The entries of one partition in a sealed segment. Valid as long as its IndexFile.
class IndexSection {
 public:
  explicit IndexSection(Bytes packed) : packed_(packed) {}
  [[nodiscard]] std::size_t size() const { return packed_.size() / kPackedIndexEntrySize; }
  [[nodiscard]] IndexEntry at(std::size_t number) const {
    return unpack(packed_.subspan(number * kPackedIndexEntrySize, kPackedIndexEntrySize).data());
  }
  // As OffsetIndex::find and find_by_time.
  [[nodiscard]] std::size_t find(Offset offset) const;
  [[nodiscard]] std::size_t find_by_time(Millis timestamp, std::size_t from = 0) const;
  [[nodiscard]] Bytes packed() const { return packed_; }

 private:
  Bytes packed_;
};

class IndexFile {
 public:
  // Checks header, trailer and directory (CRC, order, bounds); sections are checked when first asked for. corrupt also
  // when the file belongs to another segment or seed; not_found when it holds deltas only (the segment is open).
  static Result<std::shared_ptr<const IndexFile>> open(SharedBytes bytes, SegmentId segment, SegmentSeed seed);
  // The same of the file at `path`, which is mapped; or the disk's error. Blocks.
  static Result<std::shared_ptr<const IndexFile>> open(Disk& disk, const std::string& path, SegmentId segment,
                                                       SegmentSeed seed);

  [[nodiscard]] const IndexFileFacts& facts() const { return facts_; }
  [[nodiscard]] std::size_t row_count() const { return row_count_; }
  [[nodiscard]] IndexRow row(std::size_t number) const;  // number < row_count(); rising local numbers
  [[nodiscard]] std::optional<IndexRow> find(LocalPartition local) const;
  [[nodiscard]] Result<IndexSection> section(const IndexRow& row) const;
  [[nodiscard]] Result<Bytes> state(const IndexRow& row) const;  // state items
  // A section or a state was found to be damaged, by these calls or by who read the file: it has to be made again.
  [[nodiscard]] bool is_damaged() const { return is_damaged_.load(std::memory_order_relaxed); }
  void set_damaged() const { is_damaged_.store(true, std::memory_order_relaxed); }

 private:
  IndexFile() = default;
  SharedBytes bytes_;
  IndexFileFacts facts_;
  Bytes directory_;
  std::size_t row_count_ = 0;
  std::size_t number_of(LocalPartition local) const;
  mutable std::atomic<bool> is_damaged_{false};
  std::unique_ptr<std::atomic<std::uint8_t>[]> checked_;  // per row: its section's CRC was right
};

// Deltas of an open segment.
struct IndexDelta {
  std::int64_t from = 0;  // file positions: covers entries in [from, to)
  std::int64_t to = 0;
  Bytes items;  // state items: index entries of [from, to), partitions and producers that changed in it
};

class IndexDeltaWriter {
 public:
  static Result<IndexDeltaWriter> create(Disk& disk, std::string path, SegmentId segment, SegmentSeed seed);
  // from = the last delta's `to` (the first: kSegmentHeaderSize). Written and synced; after an error no more is taken.
  Result<void> append(const IndexDelta& delta);

 private:
  IndexDeltaWriter() = default;
  std::shared_ptr<File> file_;
  SegmentSeed seed_;
  std::int64_t position_ = 0;
  std::int64_t covered_ = static_cast<std::int64_t>(kSegmentHeaderSize);
  bool failed_ = false;
};

struct IndexDeltas {
  std::vector<IndexDelta> deltas;  // an unbroken chain from kSegmentHeaderSize on
  std::optional<Error> damage;     // why the chain ends before the file does
  [[nodiscard]] std::int64_t covered_end() const {
    return deltas.empty() ? static_cast<std::int64_t>(kSegmentHeaderSize) : deltas.back().to;
  }
};
// Views into `bytes`. An error only if the header is not one of this segment's open index file.
Result<IndexDeltas> read_index_deltas(Bytes bytes, SegmentId segment, SegmentSeed seed);

}  // namespace weir::log
