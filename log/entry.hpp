// Entry: what a segment consists of after its header: a 32-byte entry header, a payload, zero bytes up to the next
// multiple of 8 (bytes: docs/LOG_FORMAT.md). Pure functions over memory, any thread; encode_batch_header() is the hot
// path of the log role. The header's CRC is seeded by the segment's seed and the entry's position in its file; it
// covers the header and, of a batch, the first 21 bytes, which Kafka's own CRC leaves out. The payload of every other
// kind has a CRC of its own inside the header.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/bytes.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "log/segment_header.hpp"

namespace weir::log {

inline constexpr std::size_t kEntryHeaderSize = 32;
inline constexpr std::size_t kEntryAlignment = 8;
inline constexpr std::size_t kBatchPrefixSize = 21;           // base offset, length, leader epoch, magic, CRC
inline constexpr std::size_t kBatchSizeMin = 61;              // a batch header without records
inline constexpr std::size_t kEntryPayloadMax = 1U << 30U;    // of batch, pad and run
inline constexpr std::size_t kControlPayloadMax = 1U << 20U;  // of every other kind
inline constexpr LocalPartition kNoPartition{0xFFFF'FFFFU};   // entries that belong to the whole log

enum class EntryKind : std::uint8_t {  // 0 is never a kind; numbers are on disk and never change
  group = 1,                           // first in each written group: the synced position known then
  batch = 2,                           // one record batch as it goes to a client
  pad = 3,                             // nothing, up to a block border
  atomic_group = 4,                    // its n member entries follow at once: all or none
  state = 5,                           // chunk of the state that every arrival segment begins with
  offsets_reserved = 6,                // no offset below the given end will be given again (memory topics)
  partition_created = 7,               // binds the local partition number to (topic id, index)
  start_moved = 8,                     // log start offset
  truncated = 9,                       // records at and above an offset are gone
  deleted = 10,                        // the local partition is gone for ever
  epoch_start = 11,                    // a leader epoch begins at an offset
  run = 12,  // sorted segments only: batches of one partition side by side, so that one sendfile can serve them
};
[[nodiscard]] std::string_view to_string(EntryKind kind);  // "batch"; "unknown" for a number that has no name
[[nodiscard]] bool is_known(EntryKind kind);

namespace entry_flags {
inline constexpr std::uint8_t may_skip_if_unknown = 1;
inline constexpr std::uint8_t continued = 2;  // another chunk of the same state follows
inline constexpr std::uint8_t member = 4;     // belongs to the atomic group before it; worth nothing without it
}  // namespace entry_flags

struct EntryHeader {
  EntryKind kind = EntryKind::pad;
  std::uint8_t flags = 0;
  LocalPartition partition = kNoPartition;
  std::uint32_t size = 0;         // payload bytes, without header and padding
  Millis append_ms = 0;           // wall time of the append; a merge keeps it (a run carries its newest)
  std::uint32_t payload_crc = 0;  // CRC32C of the payload; 0 for batch and pad; run: over each batch's first 21 bytes
  std::uint32_t crc = 0;
  friend bool operator==(const EntryHeader&, const EntryHeader&) = default;
};

// Bytes that an entry with this payload takes in the file.
[[nodiscard]] constexpr std::size_t entry_size(std::size_t payload_size) {
  return (kEntryHeaderSize + payload_size + kEntryAlignment - 1) & ~(kEntryAlignment - 1);
}
// Size of the whole pad entry that takes `position` (a multiple of 8) to a multiple of `alignment`: 0 if it is there
// already; one alignment more where less than an entry header would be left.
[[nodiscard]] constexpr std::size_t pad_entry_size(std::int64_t position, std::size_t alignment) {
  const auto rest = static_cast<std::size_t>(position) % alignment;
  const auto gap = rest == 0 ? 0 : alignment - rest;
  return gap == 0 || gap >= kEntryHeaderSize ? gap : gap + alignment;
}

// Writes the 32 header bytes of a batch entry to be placed at `position` of its file. `batch` must already carry its
// final base offset and leader epoch; only its size and first 21 bytes are looked at. The caller zeroes the padding.
void encode_batch_header(MutableBytes into, SegmentSeed seed, std::int64_t position, LocalPartition partition,
                         Millis append_ms, Bytes batch, std::uint8_t flags = 0);
// Writes the 32 header bytes of a pad entry that takes `whole_size` bytes (pad_entry_size()); the rest is zeros.
void encode_pad_header(MutableBytes into, SegmentSeed seed, std::int64_t position, std::size_t whole_size,
                       Millis append_ms);
// Writes a whole entry (header, payload, padding): entry_size(payload.size()) bytes. Not for batch and pad.
void encode_entry(MutableBytes into, SegmentSeed seed, std::int64_t position, EntryKind kind, std::uint8_t flags,
                  LocalPartition partition, Millis append_ms, Bytes payload);

// Payloads. encode() fills exactly kSize bytes; decode() refuses any other size (corrupt).
struct GroupPayload {
  static constexpr auto kKind = EntryKind::group;
  static constexpr std::size_t kSize = 8;
  LogPosition synced;  // everything below was durable when this group was put together
  void encode(MutableBytes into) const;
  static Result<GroupPayload> decode(Bytes bytes);
  friend bool operator==(const GroupPayload&, const GroupPayload&) = default;
};
struct AtomicGroupPayload {
  static constexpr auto kKind = EntryKind::atomic_group;
  static constexpr std::size_t kSize = 16;
  std::uint32_t count = 0;        // member entries
  std::uint32_t bytes = 0;        // of all members with headers and padding; they follow this entry at once
  std::uint32_t members_crc = 0;  // CRC32C over the members' 32-byte headers in order
  void encode(MutableBytes into) const;
  static Result<AtomicGroupPayload> decode(Bytes bytes);
  friend bool operator==(const AtomicGroupPayload&, const AtomicGroupPayload&) = default;
};
struct OffsetsReservedPayload {
  static constexpr auto kKind = EntryKind::offsets_reserved;
  static constexpr std::size_t kSize = 8;
  Offset end;
  void encode(MutableBytes into) const;
  static Result<OffsetsReservedPayload> decode(Bytes bytes);
  friend bool operator==(const OffsetsReservedPayload&, const OffsetsReservedPayload&) = default;
};
struct PartitionCreatedPayload {
  static constexpr auto kKind = EntryKind::partition_created;
  static constexpr std::size_t kSize = 40;
  Uuid topic_id;
  std::int32_t index = 0;
  LeaderEpoch epoch;
  Offset start;                  // first offset it will ever have
  std::uint32_t attributes = 0;  // none defined; kept as found
  void encode(MutableBytes into) const;
  static Result<PartitionCreatedPayload> decode(Bytes bytes);
  friend bool operator==(const PartitionCreatedPayload&, const PartitionCreatedPayload&) = default;
};
struct StartMovedPayload {
  static constexpr auto kKind = EntryKind::start_moved;
  static constexpr std::size_t kSize = 8;
  Offset start;
  void encode(MutableBytes into) const;
  static Result<StartMovedPayload> decode(Bytes bytes);
  friend bool operator==(const StartMovedPayload&, const StartMovedPayload&) = default;
};
struct TruncatedPayload {
  static constexpr auto kKind = EntryKind::truncated;
  static constexpr std::size_t kSize = 16;
  Offset end;  // the new log end: records at and above it are gone
  LeaderEpoch epoch;
  void encode(MutableBytes into) const;
  static Result<TruncatedPayload> decode(Bytes bytes);
  friend bool operator==(const TruncatedPayload&, const TruncatedPayload&) = default;
};
struct DeletedPayload {
  static constexpr auto kKind = EntryKind::deleted;
  static constexpr std::size_t kSize = 24;
  Uuid topic_id;  // of the partition that is gone; the number in the header decides, this names it for people
  std::int32_t index = 0;
  void encode(MutableBytes into) const;
  static Result<DeletedPayload> decode(Bytes bytes);
  friend bool operator==(const DeletedPayload&, const DeletedPayload&) = default;
};
struct EpochStartPayload {
  static constexpr auto kKind = EntryKind::epoch_start;
  static constexpr std::size_t kSize = 16;
  LeaderEpoch epoch;
  Offset start;
  void encode(MutableBytes into) const;
  static Result<EpochStartPayload> decode(Bytes bytes);
  friend bool operator==(const EpochStartPayload&, const EpochStartPayload&) = default;
};

// A whole entry with one of the payloads above: entry_size(Payload::kSize) bytes.
template <class Payload>
void encode_entry(MutableBytes into, SegmentSeed seed, std::int64_t position, LocalPartition partition,
                  Millis append_ms, const Payload& payload, std::uint8_t flags = 0) {
  std::array<std::byte, Payload::kSize> bytes{};
  payload.encode(bytes);
  encode_entry(into, seed, position, Payload::kKind, flags, partition, append_ms, bytes);
}
inline constexpr std::size_t kGroupEntrySize = entry_size(GroupPayload::kSize);
inline constexpr std::size_t kAtomicGroupEntrySize = entry_size(AtomicGroupPayload::kSize);

// CRC over the headers of the entries that stand side by side in `members` (their sizes are trusted: our own memory, or
// entries a scanner has accepted).
[[nodiscard]] std::uint32_t atomic_members_crc(Bytes members);

struct Entry {
  std::int64_t position = 0;  // in its file
  EntryHeader header;
  Bytes payload;
  [[nodiscard]] std::int64_t end() const { return position + static_cast<std::int64_t>(entry_size(payload.size())); }
};

// The header at `position` of its file. `bytes` begin with it and hold, of a batch, 21 bytes more: its CRC covers them.
// truncated, corrupt.
Result<EntryHeader> decode_entry_header(Bytes bytes, SegmentSeed seed, std::int64_t position);
inline constexpr std::size_t kEntryHeaderAndPrefixSize = kEntryHeaderSize + 21;

// Walks the entries in a window of a segment file. It reads nothing but the window, checks header CRCs and the payload
// CRC of all kinds but batch and pad (a batch's records: protocol/record_batch), and never trusts a size. Members of an
// atomic group come out one by one; atomic_group_is_whole() tells whether they are complete.
class EntryScanner {
 public:
  enum class Step : std::uint8_t {
    entry,  // entry() is valid, position() behind it
    bad,    // no entry at position(): error() says why; resync() goes on
    end,    // position() is the end of the window exactly
  };
  // `window` holds the file's bytes from `window_position` (a multiple of 8) on.
  EntryScanner(Bytes window, std::int64_t window_position, SegmentSeed seed)
      : window_(window), window_position_(window_position), position_(window_position), seed_(seed) {}

  Step next();
  [[nodiscard]] const Entry& entry() const { return entry_; }
  [[nodiscard]] std::int64_t position() const { return position_; }
  // truncated: the entry (or its header) runs over the window's end, detail = bytes needed from position() on;
  // corrupt; unsupported: a sound entry of a kind that this build does not know and may not skip.
  [[nodiscard]] Error error() const { return error_; }
  // After `bad`: moves to the next position at which an entry header fits; false (position() = end) if there is none.
  bool resync();
  // After `entry` of kind atomic_group: true if all members are in the window, sound, flagged and of the promised CRC.
  // Does not move the scanner.
  [[nodiscard]] bool atomic_group_is_whole() const;

 private:
  Step fail(Errc code, std::int64_t detail);
  [[nodiscard]] Bytes rest() const { return window_.subspan(static_cast<std::size_t>(position_ - window_position_)); }

  Bytes window_;
  std::int64_t window_position_;
  std::int64_t position_;
  SegmentSeed seed_;
  Entry entry_;
  Error error_{Errc::corrupt};
};

}  // namespace weir::log
