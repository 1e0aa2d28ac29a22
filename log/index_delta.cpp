// Index file header and deltas (log/index_file.hpp).
#include "base/crc32c.hpp"
#include "log/index_file.hpp"
#include "log/index_layout.hpp"
#include "log/little_endian.hpp"

namespace weir::log {
namespace {

constexpr std::string_view kMagic = "WEIRIDX\n";
constexpr std::uint16_t kVersion = 1;
constexpr std::uint32_t kDeltaMagic = 0x544c'4457;  // "WDLT"
constexpr std::size_t kDeltaHeaderSize = 40;
constexpr std::size_t kDeltaItemsMax = 1U << 30U;

// The seed goes in, so that a delta of the file's former life is none.
std::uint32_t delta_crc(Bytes header_from_size, Bytes items, SegmentSeed seed) {
  std::array<std::byte, 8> seeded{};
  store_le(seeded, 0, seed.value);
  return crc32c(items, crc32c(header_from_size, crc32c(seeded)));
}

}  // namespace

std::vector<std::byte> encode_index_header(IndexForm form, SegmentId segment, SegmentSeed seed) {
  std::vector<std::byte> out;
  put(out, as_bytes(kMagic));
  put(out, kVersion);
  put(out, static_cast<std::uint8_t>(form));
  out.resize(16);
  put(out, segment.value);
  put(out, seed.value);
  out.resize(kIndexHeaderSize - 4);
  put(out, crc32c(out));
  return out;
}

Result<IndexHeader> decode_index_header(Bytes bytes) {
  if (bytes.size() < kIndexHeaderSize) {
    return {Errc::truncated, static_cast<std::int64_t>(bytes.size())};
  }
  bytes = bytes.first(kIndexHeaderSize);
  if (as_text(bytes.first(kMagic.size())) != kMagic ||
      load_le<std::uint32_t>(bytes, kIndexHeaderSize - 4) != crc32c(bytes.first(kIndexHeaderSize - 4))) {
    return Error{Errc::corrupt, 0};
  }
  if (const auto version = load_le<std::uint16_t>(bytes, 8); version != kVersion) {
    return Error{Errc::unsupported, version};
  }
  IndexHeader header;
  const auto form = load_le<std::uint8_t>(bytes, 10);
  header.segment.value = load_le<std::uint64_t>(bytes, 16);
  header.seed.value = load_le<std::uint64_t>(bytes, 24);
  const auto zero = [](std::byte byte) { return byte == std::byte{0}; };
  if (form < 1 || form > 2 || !std::ranges::all_of(bytes.subspan(11, 5), zero) ||
      !std::ranges::all_of(bytes.subspan(32, kIndexHeaderSize - 36), zero)) {
    return Error{Errc::corrupt, 10};
  }
  header.form = static_cast<IndexForm>(form);
  return header;
}

Result<IndexForm> decode_index_header(Bytes bytes, SegmentId segment, SegmentSeed seed) {
  WEIR_TRY(const auto header, decode_index_header(bytes));
  if (header.segment != segment || header.seed != seed) {
    return Error{Errc::corrupt, 16};
  }
  return header.form;
}

Result<IndexDeltaWriter> IndexDeltaWriter::create(Disk& disk, std::string path, SegmentId segment, SegmentSeed seed) {
  IndexDeltaWriter writer;
  writer.seed_ = seed;
  WEIR_TRY(writer.file_, disk.open(path, {.create = true}));
  WEIR_TRY_VOID(writer.file_->truncate(0));
  const auto header = encode_index_header(IndexForm::deltas, segment, seed);
  const Bytes part{header};
  WEIR_TRY_VOID(writer.file_->write_at(0, {&part, 1}));
  writer.position_ = static_cast<std::int64_t>(header.size());
  return writer;
}

Result<void> IndexDeltaWriter::append(const IndexDelta& delta) {
  WEIR_CHECK(delta.from == covered_ && delta.to > delta.from && delta.items.size() <= kDeltaItemsMax);
  if (failed_) {
    return {Errc::read_only, 0};
  }
  std::vector<std::byte> header;
  put(header, kDeltaMagic);
  put(header, std::uint32_t{0});  // CRC, below
  put(header, static_cast<std::uint64_t>(delta.items.size()));
  put(header, delta.from);
  put(header, delta.to);
  put(header, std::uint64_t{0});
  store_le(header, 4, delta_crc(Bytes{header}.subspan(8), delta.items, seed_));
  const std::array<Bytes, 2> parts{Bytes{header}, delta.items};
  failed_ = true;  // until both steps have gone well: a chain with a hole would be worth nothing
  if (auto written = file_->write_at(position_, parts); !written) {
    failed_ = !is_shortage(written.error());  // what of it is there is written over when there is room
    return written;
  }
  WEIR_TRY_VOID(file_->sync());
  failed_ = false;
  position_ += static_cast<std::int64_t>(header.size() + delta.items.size());
  covered_ = delta.to;
  return {};
}

Result<IndexDeltas> read_index_deltas(Bytes bytes, SegmentId segment, SegmentSeed seed) {
  WEIR_TRY(const auto form, decode_index_header(bytes, segment, seed));
  if (form != IndexForm::deltas) {
    return Error{Errc::not_found, 0};
  }
  IndexDeltas found;
  auto rest = bytes.subspan(kIndexHeaderSize);
  while (!rest.empty()) {
    const auto position = static_cast<std::int64_t>(bytes.size() - rest.size());
    if (rest.size() < kDeltaHeaderSize) {
      found.damage = Error{Errc::truncated, position};
      break;
    }
    LittleReader reader{rest};
    const auto magic = reader.take<std::uint32_t>();
    const auto crc = reader.take<std::uint32_t>();
    const auto size = reader.take<std::uint64_t>();
    IndexDelta delta;
    delta.from = reader.take<std::int64_t>();
    delta.to = reader.take<std::int64_t>();
    const auto reserved = reader.take<std::uint64_t>();
    if (magic == kDeltaMagic && size > reader.rest().size() && size <= kDeltaItemsMax) {
      found.damage = Error{Errc::truncated, position};
      break;
    }
    if (magic != kDeltaMagic || reserved != 0 || size > kDeltaItemsMax) {
      found.damage = Error{Errc::corrupt, position};
      break;
    }
    delta.items = reader.take_bytes(size);
    if (crc != delta_crc(rest.subspan(8, kDeltaHeaderSize - 8), delta.items, seed) ||
        delta.from != found.covered_end() || delta.to <= delta.from) {
      found.damage = Error{Errc::corrupt, position};
      break;
    }
    rest = reader.rest();
    found.deltas.push_back(delta);
  }
  return found;
}

}  // namespace weir::log
