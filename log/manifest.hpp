// Manifest: which segment files there are. An append-only file of edits, each with a CRC and taken whole or not at all;
// rewritten when it has grown. Blocks on the disk: one owner at a time (start-up, then the write role or a pool task
// under the log's own rule). ManifestState is a plain value.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "base/disk.hpp"
#include "base/random.hpp"
#include "log/segment_header.hpp"

namespace weir::log {

// Edits. Several of them in one append() are one atomic change.
struct AddSegment {
  SegmentId id;
  SegmentRole role = SegmentRole::arrival;
  std::uint16_t retention_class = 0;
  LogPosition start;
  friend bool operator==(const AddSegment&, const AddSegment&) = default;
};
struct SealSegment {  // nothing at or above valid_end in this file will ever be served
  SegmentId id;
  std::int64_t valid_end = 0;  // file position
  bool has_index = false;
  friend bool operator==(const SealSegment&, const SealSegment&) = default;
};
struct RemoveSegment {
  SegmentId id;
  friend bool operator==(const RemoveSegment&, const RemoveSegment&) = default;
};
struct CleanPoint {  // all entries below were durable: a bad one there is damage, not a torn tail
  LogPosition position;
  friend bool operator==(const CleanPoint&, const CleanPoint&) = default;
};
struct NextNumbers {  // lower bounds; they never go down
  SegmentId segment;
  LocalPartition local;
  friend bool operator==(const NextNumbers&, const NextNumbers&) = default;
};
struct StartOffset {  // cache of start_moved entries
  LocalPartition local;
  Offset start;
  friend bool operator==(const StartOffset&, const StartOffset&) = default;
};
struct ForgetPartition {  // its cached start goes
  LocalPartition local;
  friend bool operator==(const ForgetPartition&, const ForgetPartition&) = default;
};
// The log refuses writes since a disk failure (errno). Negative: writes are allowed again, but no start has yet judged
// which bytes the disk has; 0: one has.
struct ReadOnlyMark {
  std::int32_t cause = 0;
  friend bool operator==(const ReadOnlyMark&, const ReadOnlyMark&) = default;
};
// The file is longer than what was written to it: nothing at or above `end` was written in this life of the file. So a
// start need not look there. Never goes down; none for a file that grows with what is written.
struct ReserveSegment {
  SegmentId id;
  std::int64_t end = 0;  // file position
  friend bool operator==(const ReserveSegment&, const ReserveSegment&) = default;
};
// A copy of what the segment's header says, which every entry's CRC depends on.
struct KeepSeed {
  SegmentId id;
  SegmentSeed seed;
  friend bool operator==(const KeepSeed&, const KeepSeed&) = default;
};
using ManifestEdit = std::variant<AddSegment, SealSegment, RemoveSegment, CleanPoint, NextNumbers, StartOffset,
                                  ForgetPartition, ReadOnlyMark, ReserveSegment, KeepSeed>;

struct SegmentFacts {
  SegmentId id;
  SegmentRole role = SegmentRole::arrival;
  std::uint16_t retention_class = 0;
  LogPosition start;
  bool sealed = false;
  std::int64_t valid_end = 0;  // when sealed
  bool has_index = false;
  std::int64_t reserved_end = 0;  // 0: what the file has was written
  SegmentSeed seed;               // 0: not known here
  // How much of a file of `size` bytes can be this segment's.
  [[nodiscard]] std::int64_t bounded(std::int64_t size) const {
    return reserved_end > 0 ? std::min(size, reserved_end) : size;
  }
  friend bool operator==(const SegmentFacts&, const SegmentFacts&) = default;
};

struct ManifestState {
  std::map<SegmentId, SegmentFacts> segments;
  std::map<LocalPartition, Offset> starts;
  LogPosition clean_point;
  SegmentId next_segment{1};
  LocalPartition next_local{1};
  std::int32_t read_only_cause = 0;  // of the last ReadOnlyMark
  [[nodiscard]] bool refuses_writes() const { return read_only_cause > 0; }
  // The page cache may hold bytes that no disk has.
  [[nodiscard]] bool is_cache_doubtful() const { return read_only_cause != 0; }
  // corrupt: an id twice, an unknown id, a sealed one sealed to another end, a mark that goes back.
  Result<void> apply(const ManifestEdit& edit);
  friend bool operator==(const ManifestState&, const ManifestState&) = default;
};

// What the bytes of a manifest file say. Pure.
struct ManifestContent {
  ManifestState state;
  std::uint64_t seed = 0;
  std::uint64_t next_number = 1;  // of the next record
  std::int64_t valid_size = 0;    // bytes that hold whole records; behind it a torn tail, or nothing
  std::int64_t torn_bytes = 0;
  std::int64_t records = 0;
};
// corrupt: a bad record with a good one behind it (detail: its position), or edits that contradict each other;
// unsupported: a version or edit type this build does not know.
Result<ManifestContent> decode_manifest(Bytes bytes);
std::vector<std::byte> encode_manifest(const ManifestState& state, std::uint64_t seed);  // header and one record

class Manifest {
 public:
  static constexpr std::int64_t kFileSizeMax = 256LL << 20;
  static constexpr std::int64_t kRewriteAt = 1LL << 20;  // and at least four times what a rewrite would take

  // Makes an empty one if there is none. Else writes anew what is there, without a torn tail; on a full disk it goes on
  // with the old file.
  static Result<std::unique_ptr<Manifest>> open(Disk& disk, std::string path, std::uint64_t seed);
  // Writes a new one that says `state`, in the place of any that is there.
  static Result<std::unique_ptr<Manifest>> create(Disk& disk, std::string path, std::uint64_t seed,
                                                  ManifestState state);
  [[nodiscard]] const ManifestState& state() const { return state_; }
  [[nodiscard]] std::int64_t torn_bytes() const { return torn_bytes_; }  // found and cut by open()
  // One atomic change, durable when this returns. invalid_argument if it contradicts the state (nothing is written).
  // disk_full: nothing changed, try again. After any other disk error every further call gives read_only.
  Result<void> append(std::span<const ManifestEdit> edits);
  // The log refuses writes from now on: durable if that can be had at all. Tried even after append() has failed, in a
  // file written anew: an edit that failed was never acted upon.
  Result<void> mark_read_only(std::int32_t cause);

 private:
  Manifest(Disk& disk, std::string path, std::uint64_t seed) : disk_(disk), path_(std::move(path)), random_(seed) {}
  Result<void> rewrite();
  Result<void> go_on_with(const ManifestContent& content);
  void reserve_room();
  Disk& disk_;
  std::string path_;
  Random random_;
  std::shared_ptr<File> file_;
  ManifestState state_;
  std::uint64_t seed_ = 0;
  std::uint64_t next_number_ = 1;
  std::int64_t size_ = 0;
  std::int64_t torn_bytes_ = 0;
  std::int64_t rewrite_at_ = kRewriteAt;
  bool failed_ = false;
};

}  // namespace weir::log
