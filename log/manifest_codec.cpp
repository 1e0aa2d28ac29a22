// The bytes of a manifest file (log/manifest.hpp).
#include "base/crc32c.hpp"
#include "log/little_endian.hpp"
#include "log/manifest_layout.hpp"

namespace weir::log {
namespace {

constexpr std::string_view kMagic = "WEIRMAN\n";
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kRecordAlignment = 8;
constexpr std::uint16_t kMayBeSkippedFrom = 128;
constexpr std::size_t kEditHeaderSize = 4;

enum class EditType : std::uint16_t {
  add_segment = 1,
  seal_segment = 2,
  remove_segment = 3,
  clean_point = 4,
  next_numbers = 5,
  start_offset = 6,
  forget_partition = 7,
  read_only = 8,
  reserve_segment = 9,
  keep_seed = 10,
};

void put_fields(std::vector<std::byte>& out, const AddSegment& edit) {
  put(out, edit.id.value);
  put(out, edit.start.value);
  put(out, edit.retention_class);
  put(out, static_cast<std::uint8_t>(edit.role));
  put(out, std::uint8_t{0});
  put(out, std::uint32_t{0});
}
void put_fields(std::vector<std::byte>& out, const SealSegment& edit) {
  put(out, edit.id.value);
  put(out, edit.valid_end);
  put(out, static_cast<std::uint8_t>(edit.has_index ? 1 : 0));
}
void put_fields(std::vector<std::byte>& out, const RemoveSegment& edit) {
  put(out, edit.id.value);
}
void put_fields(std::vector<std::byte>& out, const CleanPoint& edit) {
  put(out, edit.position.value);
}
void put_fields(std::vector<std::byte>& out, const NextNumbers& edit) {
  put(out, edit.segment.value);
  put(out, edit.local.value);
}
void put_fields(std::vector<std::byte>& out, const StartOffset& edit) {
  put(out, edit.local.value);
  put(out, edit.start.value);
}
void put_fields(std::vector<std::byte>& out, const ForgetPartition& edit) {
  put(out, edit.local.value);
}
void put_fields(std::vector<std::byte>& out, const ReadOnlyMark& edit) {
  put(out, edit.cause);
}

void put_fields(std::vector<std::byte>& out, const ReserveSegment& edit) {
  put(out, edit.id.value);
  put(out, edit.end);
}
void put_fields(std::vector<std::byte>& out, const KeepSeed& edit) {
  put(out, edit.id.value);
  put(out, edit.seed.value);
}

// An edit's type is its place in the variant, plus one: the order of the variant is on disk.
static_assert(std::is_same_v<std::variant_alternative_t<0, ManifestEdit>, AddSegment> &&
              std::is_same_v<std::variant_alternative_t<9, ManifestEdit>, KeepSeed> &&
              std::variant_size_v<ManifestEdit> == 10);

std::optional<ManifestEdit> take_edit(EditType type, Bytes bytes) {
  LittleReader reader{bytes};
  std::optional<ManifestEdit> edit;
  switch (type) {
    case EditType::add_segment: {
      AddSegment add;
      add.id.value = reader.take<std::uint64_t>();
      add.start.value = reader.take<std::int64_t>();
      add.retention_class = reader.take<std::uint16_t>();
      const auto role = reader.take<std::uint8_t>();
      const bool zero = reader.take<std::uint8_t>() == 0 && reader.take<std::uint32_t>() == 0;
      add.role = static_cast<SegmentRole>(role);
      if (zero && role >= 1 && role <= 2) {
        edit = add;
      }
      break;
    }
    case EditType::seal_segment: {
      SealSegment seal;
      seal.id.value = reader.take<std::uint64_t>();
      seal.valid_end = reader.take<std::int64_t>();
      const auto has_index = reader.take<std::uint8_t>();
      seal.has_index = has_index == 1;
      if (has_index <= 1 && seal.valid_end >= 0) {
        edit = seal;
      }
      break;
    }
    case EditType::remove_segment: edit = RemoveSegment{{reader.take<std::uint64_t>()}}; break;
    case EditType::clean_point: edit = CleanPoint{{reader.take<std::int64_t>()}}; break;
    case EditType::next_numbers: {
      NextNumbers next;
      next.segment.value = reader.take<std::uint64_t>();
      next.local.value = reader.take<std::uint32_t>();
      edit = next;
      break;
    }
    case EditType::start_offset: {
      StartOffset start;
      start.local.value = reader.take<std::uint32_t>();
      start.start.value = reader.take<std::int64_t>();
      edit = start;
      break;
    }
    case EditType::forget_partition: edit = ForgetPartition{{reader.take<std::uint32_t>()}}; break;
    case EditType::read_only: edit = ReadOnlyMark{reader.take<std::int32_t>()}; break;
    case EditType::reserve_segment: {
      ReserveSegment reserve;
      reserve.id.value = reader.take<std::uint64_t>();
      reserve.end = reader.take<std::int64_t>();
      if (reserve.end > 0) {
        edit = reserve;
      }
      break;
    }
    case EditType::keep_seed: {
      KeepSeed keep;
      keep.id.value = reader.take<std::uint64_t>();
      keep.seed.value = reader.take<std::uint64_t>();
      if (keep.seed.tag() != 0) {
        edit = keep;
      }
      break;
    }
  }
  return reader.at_end() ? edit : std::nullopt;
}

std::uint32_t record_crc(Bytes header_from_size, Bytes edits, std::uint64_t seed) {
  std::array<std::byte, 8> seeded{};
  store_le(seeded, 0, seed);
  return crc32c(edits, crc32c(header_from_size, crc32c(seeded)));
}

// A whole sound record at the start of `bytes`.
struct Record {
  std::uint64_t number = 0;
  Bytes edits;
  std::size_t whole = 0;
};
std::optional<Record> take_record(Bytes bytes, std::uint64_t seed) {
  if (bytes.size() < kManifestRecordHeaderSize) {
    return std::nullopt;
  }
  const auto size = load_le<std::uint32_t>(bytes, 4);
  const auto whole = manifest_record_size(size);
  if (size == 0 || whole > bytes.size()) {
    return std::nullopt;
  }
  const Record record{load_le<std::uint64_t>(bytes, 8), bytes.subspan(kManifestRecordHeaderSize, size), whole};
  const auto covered = bytes.subspan(4, kManifestRecordHeaderSize - 4);
  if (load_le<std::uint32_t>(bytes, 0) != record_crc(covered, record.edits, seed)) {
    return std::nullopt;
  }
  return record;
}

// True if a sound record with a later number stands anywhere behind the first bytes of `bytes`.
bool has_later_record(Bytes bytes, std::uint64_t seed, std::uint64_t number) {
  for (std::size_t at = kRecordAlignment; at + kManifestRecordHeaderSize <= bytes.size(); at += kRecordAlignment) {
    const auto found = load_le<std::uint64_t>(bytes, at + 8);
    // Numbers rise by one a record, so a lying one is told without its CRC: that keeps this loop linear.
    if (found < number || found - number > bytes.size() / kRecordAlignment) {
      continue;
    }
    if (take_record(bytes.subspan(at), seed)) {
      return true;
    }
  }
  return false;
}

Result<void> apply_record(ManifestState& state, Bytes edits) {
  LittleReader reader{edits};
  while (!reader.rest().empty()) {
    const auto type = reader.take<std::uint16_t>();
    const auto size = reader.take<std::uint16_t>();
    const auto fields = reader.take_bytes(size);
    if (reader.failed() || type == 0) {
      return {Errc::corrupt, type};
    }
    if (type > std::variant_size_v<ManifestEdit>) {
      if (type < kMayBeSkippedFrom) {
        return {Errc::unsupported, type};
      }
      continue;
    }
    const auto edit = take_edit(static_cast<EditType>(type), fields);
    if (!edit) {
      return {Errc::corrupt, type};
    }
    WEIR_TRY_VOID(state.apply(*edit));
  }
  return {};
}

}  // namespace

std::vector<std::byte> encode_manifest_header(std::uint64_t seed) {
  std::vector<std::byte> out;
  put(out, as_bytes(kMagic));
  put(out, kVersion);
  out.resize(16);
  put(out, seed);
  out.resize(kManifestHeaderSize - 4);
  put(out, crc32c(out));
  return out;
}

std::vector<std::byte> encode_manifest_record(std::span<const ManifestEdit> edits, std::uint64_t number,
                                              std::uint64_t seed) {
  std::vector<std::byte> out;
  put(out, std::uint32_t{0});  // CRC and size, below
  put(out, std::uint32_t{0});
  put(out, number);
  for (const auto& edit : edits) {
    const auto at = out.size();
    put(out, static_cast<std::uint16_t>(edit.index() + 1));
    put(out, std::uint16_t{0});
    std::visit([&out](const auto& fields) { put_fields(out, fields); }, edit);
    store_le(out, at + 2, static_cast<std::uint16_t>(out.size() - at - kEditHeaderSize));
  }
  const auto size = out.size() - kManifestRecordHeaderSize;
  store_le(out, 4, static_cast<std::uint32_t>(size));
  const Bytes all{out};
  store_le(out, 0,
           record_crc(all.subspan(4, kManifestRecordHeaderSize - 4), all.subspan(kManifestRecordHeaderSize), seed));
  out.resize(manifest_record_size(size));
  return out;
}

std::vector<std::byte> encode_manifest(const ManifestState& state, std::uint64_t seed) {
  std::vector<ManifestEdit> edits;
  edits.emplace_back(NextNumbers{state.next_segment, state.next_local});
  edits.emplace_back(CleanPoint{state.clean_point});
  edits.emplace_back(ReadOnlyMark{state.read_only_cause});
  for (const auto& [id, facts] : state.segments) {
    edits.emplace_back(AddSegment{id, facts.role, facts.retention_class, facts.start});
    if (facts.seed.value != 0) {
      edits.emplace_back(KeepSeed{id, facts.seed});
    }
    if (facts.reserved_end > 0) {
      edits.emplace_back(ReserveSegment{id, facts.reserved_end});
    }
    if (facts.sealed) {
      edits.emplace_back(SealSegment{id, facts.valid_end, facts.has_index});
    }
  }
  for (const auto& [local, start] : state.starts) {
    edits.emplace_back(StartOffset{local, start});
  }
  auto out = encode_manifest_header(seed);
  put(out, Bytes{encode_manifest_record(edits, 1, seed)});
  return out;
}

Result<ManifestContent> decode_manifest(Bytes bytes) {
  if (bytes.size() < kManifestHeaderSize) {
    return {Errc::truncated, static_cast<std::int64_t>(bytes.size())};
  }
  const auto header = bytes.first(kManifestHeaderSize);
  if (as_text(header.first(kMagic.size())) != kMagic ||
      load_le<std::uint32_t>(header, kManifestHeaderSize - 4) != crc32c(header.first(kManifestHeaderSize - 4))) {
    return Error{Errc::corrupt, 0};
  }
  if (const auto version = load_le<std::uint16_t>(header, 8); version != kVersion) {
    return Error{Errc::unsupported, version};
  }
  const auto zero = [](std::byte byte) { return byte == std::byte{0}; };
  if (!std::ranges::all_of(header.subspan(10, 6), zero) ||
      !std::ranges::all_of(header.subspan(24, kManifestHeaderSize - 28), zero)) {
    return Error{Errc::corrupt, 10};
  }
  ManifestContent content;
  content.seed = load_le<std::uint64_t>(header, 16);
  auto rest = bytes.subspan(kManifestHeaderSize);
  while (!rest.empty()) {
    const auto position = static_cast<std::int64_t>(bytes.size() - rest.size());
    const auto record = take_record(rest, content.seed);
    if (!record || record->number != content.next_number) {
      if (record || has_later_record(rest, content.seed, content.next_number)) {
        return {Errc::corrupt, position};
      }
      content.torn_bytes = static_cast<std::int64_t>(rest.size());
      break;
    }
    if (const auto applied = apply_record(content.state, record->edits); !applied) {
      return applied.error().code == Errc::unsupported ? applied.error() : Error{Errc::corrupt, position};
    }
    content.next_number += 1;
    content.records += 1;
    rest = rest.subspan(record->whole);
  }
  content.valid_size = static_cast<std::int64_t>(bytes.size()) - content.torn_bytes;
  return content;
}

}  // namespace weir::log
