#include "log/entry.hpp"

#include "base/crc32c.hpp"
#include "protocol/record_batch.hpp"

namespace weir::log {
namespace {

static_assert(kBatchSizeMin == protocol::kBatchHeaderSize && kBatchPrefixSize == protocol::kCrcFrom);

// Where the fields of an entry header lie.
constexpr std::size_t kCrcAt = 0;
constexpr std::size_t kSizeAt = 4;
constexpr std::size_t kKindAt = 8;
constexpr std::size_t kFlagsAt = 9;
constexpr std::size_t kReservedAt = 10;
constexpr std::size_t kPartitionAt = 12;
constexpr std::size_t kAppendMsAt = 16;
constexpr std::size_t kPayloadCrcAt = 24;
constexpr std::size_t kTagAt = 28;
constexpr std::uint8_t kKnownFlags = entry_flags::may_skip_if_unknown | entry_flags::continued | entry_flags::member;

bool carries_batches(EntryKind kind) {
  return kind == EntryKind::batch || kind == EntryKind::run;
}
bool has_payload_crc(EntryKind kind) {
  return kind != EntryKind::batch && kind != EntryKind::pad;
}

// CRC over seed, position, the header without its CRC, and `prefix` (the first bytes of a batch, or nothing). One call
// over one small buffer: this runs for every batch.
std::uint32_t header_crc(Bytes header, SegmentSeed seed, std::int64_t position, Bytes prefix) {
  std::array<std::byte, 16 + (kEntryHeaderSize - 4) + kBatchPrefixSize> all;
  std::memcpy(all.data(), &seed.value, 8);
  std::memcpy(all.data() + 8, &position, 8);
  std::memcpy(all.data() + 16, header.data() + 4, kEntryHeaderSize - 4);
  const auto prefix_at = 16 + (kEntryHeaderSize - 4);
  if (!prefix.empty()) {
    std::memcpy(all.data() + prefix_at, prefix.data(), kBatchPrefixSize);
  }
  return crc32c(Bytes{all}.first(prefix_at + prefix.size()));
}

void store_header(MutableBytes into, SegmentSeed seed, std::int64_t position, const EntryHeader& header, Bytes prefix) {
  WEIR_CHECK(into.size() >= kEntryHeaderSize && position % static_cast<std::int64_t>(kEntryAlignment) == 0);
  store_le(into, kSizeAt, header.size);
  store_le(into, kKindAt, static_cast<std::uint8_t>(header.kind));
  store_le(into, kFlagsAt, header.flags);
  store_le(into, kReservedAt, std::uint16_t{0});
  store_le(into, kPartitionAt, header.partition.value);
  store_le(into, kAppendMsAt, header.append_ms);
  store_le(into, kPayloadCrcAt, header.payload_crc);
  store_le(into, kTagAt, seed.tag());
  store_le(into, kCrcAt, header_crc(into, seed, position, prefix));
}

// CRC over the first 21 bytes of each batch of a run; nullopt if they do not fill it exactly.
std::optional<std::uint32_t> run_crc(Bytes batches) {
  std::uint32_t crc = 0;
  while (!batches.empty()) {
    const auto batch = protocol::RecordBatchView::parse(batches);
    if (!batch) {
      return std::nullopt;
    }
    crc = crc32c(batch->bytes().first(kBatchPrefixSize), crc);
    batches = batches.subspan(batch->size());
  }
  return crc;
}

std::optional<std::uint32_t> payload_crc(EntryKind kind, Bytes payload) {
  return kind == EntryKind::run ? run_crc(payload) : crc32c(payload);
}

bool size_is_possible(EntryKind kind, std::uint32_t size) {
  switch (kind) {
    case EntryKind::batch:
    case EntryKind::run: return size >= kBatchSizeMin && size <= kEntryPayloadMax;
    case EntryKind::pad: return size <= kEntryPayloadMax;
    default: return size <= kControlPayloadMax;
  }
}

// The header at the start of `bytes`, if one fits there. truncated when more bytes are needed to tell.
}  // namespace

Result<EntryHeader> decode_entry_header(Bytes bytes, SegmentSeed seed, std::int64_t position) {
  if (bytes.size() < kEntryHeaderSize) {
    return {Errc::truncated, static_cast<std::int64_t>(kEntryHeaderSize)};
  }
  if (load_le<std::uint32_t>(bytes, kTagAt) != seed.tag()) {
    return {Errc::corrupt, position};
  }
  EntryHeader header;
  header.crc = load_le<std::uint32_t>(bytes, kCrcAt);
  header.size = load_le<std::uint32_t>(bytes, kSizeAt);
  header.kind = static_cast<EntryKind>(load_le<std::uint8_t>(bytes, kKindAt));
  header.flags = load_le<std::uint8_t>(bytes, kFlagsAt);
  header.partition.value = load_le<std::uint32_t>(bytes, kPartitionAt);
  header.append_ms = load_le<std::int64_t>(bytes, kAppendMsAt);
  header.payload_crc = load_le<std::uint32_t>(bytes, kPayloadCrcAt);
  if (header.kind == EntryKind{0} || !size_is_possible(header.kind, header.size)) {
    return {Errc::corrupt, position};
  }
  Bytes prefix;
  if (carries_batches(header.kind)) {
    if (bytes.size() < kEntryHeaderSize + kBatchPrefixSize) {
      return {Errc::truncated, static_cast<std::int64_t>(kEntryHeaderSize + kBatchPrefixSize)};
    }
    prefix = bytes.subspan(kEntryHeaderSize, kBatchPrefixSize);
  }
  if (header.crc != header_crc(bytes, seed, position, prefix)) {
    return {Errc::corrupt, position};
  }
  // From here on a writer of ours meant it: what is odd is a newer build's doing, not damage.
  if (load_le<std::uint16_t>(bytes, kReservedAt) != 0 || (header.flags & ~kKnownFlags) != 0) {
    return {Errc::unsupported, static_cast<std::int64_t>(header.kind)};
  }
  return header;
}

std::string_view to_string(EntryKind kind) {
  switch (kind) {
    case EntryKind::group: return "group";
    case EntryKind::batch: return "batch";
    case EntryKind::pad: return "pad";
    case EntryKind::atomic_group: return "atomic_group";
    case EntryKind::state: return "state";
    case EntryKind::offsets_reserved: return "offsets_reserved";
    case EntryKind::partition_created: return "partition_created";
    case EntryKind::start_moved: return "start_moved";
    case EntryKind::truncated: return "truncated";
    case EntryKind::deleted: return "deleted";
    case EntryKind::epoch_start: return "epoch_start";
    case EntryKind::run: return "run";
  }
  return "unknown";
}

bool is_known(EntryKind kind) {
  return kind >= EntryKind::group && kind <= EntryKind::run;
}

void encode_batch_header(MutableBytes into, SegmentSeed seed, std::int64_t position, LocalPartition partition,
                         Millis append_ms, Bytes batch, std::uint8_t flags) {
  WEIR_CHECK(batch.size() >= kBatchSizeMin && batch.size() <= kEntryPayloadMax);
  const EntryHeader header{.kind = EntryKind::batch,
                           .flags = flags,
                           .partition = partition,
                           .size = static_cast<std::uint32_t>(batch.size()),
                           .append_ms = append_ms};
  store_header(into, seed, position, header, batch.first(kBatchPrefixSize));
}

void encode_pad_header(MutableBytes into, SegmentSeed seed, std::int64_t position, std::size_t whole_size,
                       Millis append_ms) {
  WEIR_CHECK(whole_size >= kEntryHeaderSize && whole_size % kEntryAlignment == 0 &&
             whole_size - kEntryHeaderSize <= kEntryPayloadMax);
  const EntryHeader header{.kind = EntryKind::pad,
                           .flags = entry_flags::may_skip_if_unknown,
                           .size = static_cast<std::uint32_t>(whole_size - kEntryHeaderSize),
                           .append_ms = append_ms};
  store_header(into, seed, position, header, {});
}

void encode_entry(MutableBytes into, SegmentSeed seed, std::int64_t position, EntryKind kind, std::uint8_t flags,
                  LocalPartition partition, Millis append_ms, Bytes payload) {
  WEIR_CHECK(has_payload_crc(kind) && size_is_possible(kind, static_cast<std::uint32_t>(payload.size())) &&
             into.size() == entry_size(payload.size()));
  const auto crc = payload_crc(kind, payload);
  WEIR_CHECK(crc.has_value());
  const EntryHeader header{.kind = kind,
                           .flags = flags,
                           .partition = partition,
                           .size = static_cast<std::uint32_t>(payload.size()),
                           .append_ms = append_ms,
                           .payload_crc = *crc};
  std::copy(payload.begin(), payload.end(), into.begin() + kEntryHeaderSize);
  std::fill(into.begin() + static_cast<std::ptrdiff_t>(kEntryHeaderSize + payload.size()), into.end(), std::byte{0});
  store_header(into, seed, position, header, carries_batches(kind) ? payload.first(kBatchPrefixSize) : Bytes{});
}

std::uint32_t atomic_members_crc(Bytes members) {
  std::uint32_t crc = 0;
  while (!members.empty()) {
    WEIR_CHECK(members.size() >= kEntryHeaderSize);
    const auto whole = entry_size(load_le<std::uint32_t>(members, kSizeAt));
    WEIR_CHECK(whole <= members.size());
    crc = crc32c(members.first(kEntryHeaderSize), crc);
    members = members.subspan(whole);
  }
  return crc;
}

EntryScanner::Step EntryScanner::fail(Errc code, std::int64_t detail) {
  error_ = {code, detail};
  return Step::bad;
}

EntryScanner::Step EntryScanner::next() {
  const auto bytes = rest();
  if (bytes.empty()) {
    return Step::end;
  }
  const auto header = decode_entry_header(bytes, seed_, position_);
  if (!header) {
    return fail(header.error().code, header.error().detail);
  }
  const auto whole = entry_size(header->size);
  if (whole > bytes.size()) {
    return fail(Errc::truncated, static_cast<std::int64_t>(whole));
  }
  if (!is_known(header->kind) && (header->flags & entry_flags::may_skip_if_unknown) == 0) {
    return fail(Errc::unsupported, static_cast<std::int64_t>(header->kind));
  }
  const auto payload = bytes.subspan(kEntryHeaderSize, header->size);
  if (has_payload_crc(header->kind) && payload_crc(header->kind, payload) != header->payload_crc) {
    return fail(Errc::corrupt, position_);
  }
  entry_ = {position_, *header, payload};
  position_ += static_cast<std::int64_t>(whole);
  return Step::entry;
}

bool EntryScanner::resync() {
  // One comparison of four bytes a step, until the segment's own tag turns up.
  const auto bytes = rest();
  for (std::size_t at = kEntryAlignment; at + kEntryHeaderSize <= bytes.size(); at += kEntryAlignment) {
    if (load_le<std::uint32_t>(bytes, at + kTagAt) != seed_.tag()) {
      continue;
    }
    const auto here = position_ + static_cast<std::int64_t>(at);
    if (decode_entry_header(bytes.subspan(at), seed_, here)) {
      position_ = here;
      return true;
    }
  }
  position_ += static_cast<std::int64_t>(bytes.size());
  return false;
}

bool EntryScanner::atomic_group_is_whole() const {
  const auto group = AtomicGroupPayload::decode(entry_.payload);
  if (entry_.header.kind != EntryKind::atomic_group || !group || group->bytes > rest().size()) {
    return false;
  }
  const auto members = rest().first(group->bytes);
  EntryScanner scanner{members, position_, seed_};
  std::uint32_t count = 0;
  auto step = scanner.next();
  for (; step == Step::entry; step = scanner.next()) {
    count += 1;
    if ((scanner.entry().header.flags & entry_flags::member) == 0) {
      return false;
    }
  }
  return step == Step::end && count == group->count && atomic_members_crc(members) == group->members_crc;
}

}  // namespace weir::log
