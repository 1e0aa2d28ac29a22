#include "log/segment_header.hpp"

#include <charconv>

#include "base/crc32c.hpp"
#include "base/disk.hpp"

namespace weir::log {
namespace {

constexpr std::string_view kMagic = "WEIRSEG\n";
constexpr std::size_t kUsed = 64;  // bytes with a meaning; from here to the CRC all zero
constexpr std::size_t kCrcAt = kSegmentHeaderSize - 4;
constexpr std::size_t kNameDigits = 20;

std::string file_name(SegmentId id, std::string_view extension) {
  auto digits = std::to_string(id.value);
  return std::string(kNameDigits - digits.size(), '0') + digits + std::string(extension);
}

}  // namespace

SegmentSeed SegmentSeed::make(Random& random) {
  SegmentSeed seed;
  while (seed.tag() == 0) {
    seed.value = random.next();
  }
  return seed;
}

void encode(const SegmentHeader& header, MutableBytes into) {
  WEIR_CHECK(into.size() == kSegmentHeaderSize && header.seed.tag() != 0);
  std::fill(into.begin(), into.end(), std::byte{0});
  std::memcpy(into.data(), kMagic.data(), kMagic.size());
  store_le(into, 8, kSegmentFormatVersion);
  store_le(into, 10, static_cast<std::uint8_t>(header.role));
  store_le(into, 11, static_cast<std::uint8_t>(header.io));
  store_le(into, 12, header.retention_class);
  store_le(into, 16, header.id.value);
  store_le(into, 24, header.seed.value);
  store_le(into, 32, header.start.value);
  std::memcpy(into.data() + 40, header.boot_id.bytes.data(), header.boot_id.bytes.size());
  store_le(into, 56, header.created_ms);
  store_le(into, kCrcAt, crc32c(into.first(kCrcAt)));
}

Result<SegmentHeader> decode_segment_header(Bytes bytes) {
  if (bytes.size() < kSegmentHeaderSize) {
    return {Errc::truncated, static_cast<std::int64_t>(bytes.size())};
  }
  bytes = bytes.first(kSegmentHeaderSize);
  if (as_text(bytes.first(kMagic.size())) != kMagic) {
    return Error{Errc::corrupt, 0};
  }
  if (load_le<std::uint32_t>(bytes, kCrcAt) != crc32c(bytes.first(kCrcAt))) {
    return {Errc::corrupt, static_cast<std::int64_t>(kCrcAt)};
  }
  // The CRC holds, so an unknown version is a newer build's and not damage.
  if (const auto version = load_le<std::uint16_t>(bytes, 8); version != kSegmentFormatVersion) {
    return Error{Errc::unsupported, version};
  }
  SegmentHeader header;
  const auto role = load_le<std::uint8_t>(bytes, 10);
  const auto io = load_le<std::uint8_t>(bytes, 11);
  header.retention_class = load_le<std::uint16_t>(bytes, 12);
  header.id.value = load_le<std::uint64_t>(bytes, 16);
  header.seed.value = load_le<std::uint64_t>(bytes, 24);
  header.start.value = load_le<std::int64_t>(bytes, 32);
  std::memcpy(header.boot_id.bytes.data(), bytes.data() + 40, header.boot_id.bytes.size());
  header.created_ms = load_le<std::int64_t>(bytes, 56);
  const auto zero = [](std::byte byte) { return byte == std::byte{0}; };
  const auto unused = bytes.subspan(kUsed, kCrcAt - kUsed);
  if (role < 1 || role > 2 || io < 1 || io > 2 || load_le<std::uint16_t>(bytes, 14) != 0 || header.seed.tag() == 0 ||
      header.start.value < 0 || !std::all_of(unused.begin(), unused.end(), zero)) {
    return Error{Errc::corrupt, 10};
  }
  header.role = static_cast<SegmentRole>(role);
  header.io = static_cast<IoMode>(io);
  return header;
}

Result<SegmentHeader> read_segment_header(const File& file) {
  std::vector<std::byte> bytes(kSegmentHeaderSize);
  WEIR_TRY(const auto count, file.read_at(0, bytes));
  return decode_segment_header(Bytes{bytes}.first(count));
}

std::string segment_file_name(SegmentId id) {
  return file_name(id, ".log");
}
std::string index_file_name(SegmentId id) {
  return file_name(id, ".index");
}

std::optional<SegmentId> segment_of_file_name(std::string_view name, std::string_view extension) {
  if (name.size() != kNameDigits + extension.size() || !name.ends_with(extension)) {
    return std::nullopt;
  }
  SegmentId id;
  const auto* end = name.data() + kNameDigits;
  const auto parsed = std::from_chars(name.data(), end, id.value);
  if (parsed.ec != std::errc{} || parsed.ptr != end) {
    return std::nullopt;
  }
  return id;
}

}  // namespace weir::log
