// SegmentHeader: the first 4096 bytes of every segment file (bytes: docs/LOG_FORMAT.md). Values, any thread.
// A file that is used again gets a new header with a new random seed: every entry's CRC is seeded by it, so no byte of
// the file's former life passes for an entry.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/ids.hpp"
#include "base/random.hpp"
#include "base/result.hpp"

namespace weir {
class File;
}

namespace weir::log {

inline constexpr std::size_t kSegmentHeaderSize = 4096;            // entries begin here
inline constexpr std::int64_t kSegmentBytesMax = (1LL << 32) - 8;  // positions inside a file fit 32 bits
inline constexpr std::int64_t kSegmentLimitMax = kSegmentBytesMax - (64LL << 20);  // one batch may begin just below it
inline constexpr std::uint16_t kSegmentFormatVersion = 1;

enum class SegmentRole : std::uint8_t { arrival = 1, sorted = 2 };
enum class IoMode : std::uint8_t { buffered = 1, direct = 2 };

// 64 random bits of one segment. The high half is never 0 and is repeated in each entry header as a first, cheap test.
struct SegmentSeed {
  std::uint64_t value = 0;
  [[nodiscard]] std::uint32_t tag() const { return static_cast<std::uint32_t>(value >> 32U); }
  static SegmentSeed make(Random& random);
  friend bool operator==(const SegmentSeed&, const SegmentSeed&) = default;
};

struct SegmentHeader {
  SegmentId id;
  SegmentSeed seed;
  SegmentRole role = SegmentRole::arrival;
  IoMode io = IoMode::buffered;
  std::uint16_t retention_class = 0;  // which class a merge wrote it for; 0 for arrival segments
  LogPosition start;                  // the LogPosition of file position 0; entry at file position p: start + p
  Uuid boot_id;                       // the machine's boot in which the file was opened for writing
  Millis created_ms = 0;
  friend bool operator==(const SegmentHeader&, const SegmentHeader&) = default;
};

void encode(const SegmentHeader& header, MutableBytes into);  // exactly kSegmentHeaderSize bytes
// truncated, corrupt (magic, CRC, a value no writer of ours writes) or unsupported (format version).
Result<SegmentHeader> decode_segment_header(Bytes bytes);
Result<SegmentHeader> read_segment_header(const File& file);  // the same, of a file; or the disk's error. Blocks

// "00000000000000000042.log" and ".index"; the number back, or nullopt for a name that is not ours.
std::string segment_file_name(SegmentId id);
std::string index_file_name(SegmentId id);
std::optional<SegmentId> segment_of_file_name(std::string_view name, std::string_view extension = ".log");

}  // namespace weir::log
