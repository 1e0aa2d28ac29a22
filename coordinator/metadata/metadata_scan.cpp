// scan_log, read_snapshot and make_snapshot: the bytes of the metadata files, without files.
#include <algorithm>

#include "base/count_of.hpp"
#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/metadata_log.hpp"
#include "protocol/gen/snapshot_footer_record.hpp"
#include "protocol/gen/snapshot_header_record.hpp"
#include "protocol/record.hpp"

namespace weir::metadata {
namespace {

constexpr std::size_t kSnapshotBatchBytes = 256 * 1024;
constexpr std::int16_t kControlVersion = 0;
constexpr std::int16_t kSnapshotHeader = 3;  // Kafka's control record types
constexpr std::int16_t kSnapshotFooter = 4;

// A valid batch at the front of `bytes`, uncompressed as all of ours are; nullopt if there is none.
std::optional<protocol::RecordBatchView> valid_batch(Bytes bytes) {
  const auto batch = protocol::RecordBatchView::parse(bytes);
  if (!batch || batch->is_compressed() || !batch->crc_ok() || batch->record_count() <= 0 ||
      batch->record_count() != batch->last_offset_delta() + 1) {
    return std::nullopt;
  }
  return *batch;
}

// Looks for a batch that was written after the bad bytes at the front: then those are damage, not a torn tail.
bool holds_later_batch(Bytes rest, Offset expected) {
  for (std::size_t at = 1; at + protocol::kBatchHeaderSize <= rest.size(); ++at) {
    if (rest[at + protocol::kMagicAt] != std::byte{protocol::kMagic}) {
      continue;
    }
    const auto base = load_be<std::int64_t>(rest, at + protocol::kBaseOffsetAt);
    if (base > expected.value && valid_batch(rest.subspan(at))) {
      return true;
    }
  }
  return false;
}

Result<void> apply_batch(const protocol::RecordBatchView& batch, Offset from, ImageBuilder& builder) {
  protocol::RecordCursor cursor{batch.payload()};
  for (std::int32_t i = 0; i < batch.record_count(); ++i) {
    WEIR_TRY(const auto record, cursor.next());
    if (!record || !record->value || record->offset_delta != i) {
      return Error{Errc::corrupt, batch.base_offset() + i};
    }
    if (const Offset offset{batch.base_offset() + i}; offset >= from && !batch.is_control()) {
      WEIR_TRY_VOID(builder.apply(offset, *record->value));
    }
  }
  return cursor.rest().empty() ? Result<void>{} : Result<void>{Errc::corrupt, batch.base_offset()};
}

Result<void> add_control(std::vector<std::byte>& out, Offset at, std::int16_t type, Bytes value, Millis now) {
  std::array<std::byte, 4> key{};
  store_be(key, 0, kControlVersion);
  store_be(key, 2, type);
  auto options = batch_options(at);
  options.control = true;
  protocol::RecordBatchBuilder builder{options};
  builder.append({.key = Bytes{key}, .value = value, .timestamp = now, .headers = {}});
  WEIR_TRY(const auto batch, builder.build());
  out.insert(out.end(), batch.begin(), batch.end());
  return {};
}

bool is_control_of(const protocol::RecordBatchView& batch, std::int16_t type) {
  if (!batch.is_control() || batch.record_count() != 1) {
    return false;
  }
  protocol::RecordCursor cursor{batch.payload()};
  const auto record = cursor.next();
  return record && *record && (*record)->key && (*record)->key->size() == 4 &&
         load_be<std::int16_t>(*(*record)->key, 2) == type;
}

}  // namespace

protocol::BatchOptions batch_options(Offset base_offset) {
  protocol::BatchOptions options;
  options.base_offset = base_offset;
  options.leader_epoch = kMetadataEpoch;
  return options;
}

Result<ScannedLog> scan_log(Bytes content, Offset base, Offset from, ImageBuilder& builder) {
  ScannedLog scanned{.good_bytes = 0, .end_offset = base, .torn = false, .damaged = false};
  while (static_cast<std::size_t>(scanned.good_bytes) < content.size()) {
    const auto rest = content.subspan(static_cast<std::size_t>(scanned.good_bytes));
    const auto batch = valid_batch(rest);
    if (!batch || batch->base_offset() != scanned.end_offset.value) {
      scanned.damaged = batch.has_value() || holds_later_batch(rest, scanned.end_offset);
      scanned.torn = !scanned.damaged;
      return scanned;
    }
    WEIR_TRY_VOID(apply_batch(*batch, from, builder));
    scanned.good_bytes += static_cast<std::int64_t>(batch->size());
    scanned.end_offset = Offset{batch->last_offset() + 1};
  }
  return scanned;
}

SalvagedLog salvage_log(Bytes content, Offset base, Offset from, ImageBuilder& builder) {
  SalvagedLog out{.end_offset = base, .lost_records = 0, .findings = {}};
  auto& next = out.end_offset;
  std::size_t skipped = 0;
  // No batch is smaller, and the records of one are believed to be as many as the offsets say.
  const auto lost_in = [](std::size_t bytes) {
    return static_cast<std::int64_t>(bytes / protocol::kBatchHeaderSize) + 1;
  };
  for (std::size_t at = 0; at < content.size();) {
    const auto batch = valid_batch(content.subspan(at));
    if (!batch) {
      ++at;
      ++skipped;
      continue;
    }
    // No checksum covers the base offset: it is believed only behind a gap, and only if the gap can have held so much.
    const auto jump = batch->base_offset() - next.value;
    if (skipped > 0) {
      const auto lost = jump > 0 && std::cmp_less_equal(jump, skipped) ? jump : 0;
      out.findings.push_back(count_of(static_cast<std::int64_t>(skipped), "byte") + " before byte " +
                             std::to_string(at) + " cannot be read" +
                             (lost > 0 ? ": " + count_of(lost, "record is", "records are") + " lost" : ""));
      out.lost_records += std::max(lost, lost_in(skipped));
      next += lost;
      skipped = 0;
    }
    protocol::RecordCursor cursor{batch->payload()};
    for (std::int32_t i = 0; i < batch->record_count(); ++i, ++next) {
      const auto record = cursor.next();
      const bool is_whole = record && *record && (*record)->value;
      if (next >= from && !batch->is_control() && (!is_whole || !builder.apply(next, *(*record)->value))) {
        out.lost_records += 1;
        out.findings.push_back("record " + std::to_string(next.value) +
                               " is left out: it is about something that a lost record made");
      }
    }
    at += batch->size();
  }
  if (skipped > 0) {
    out.lost_records += lost_in(skipped);
    out.findings.push_back("the last " + count_of(static_cast<std::int64_t>(skipped), "byte") + " cannot be read");
  }
  return out;
}

Result<void> read_snapshot(Bytes content, ImageBuilder& builder) {
  Offset next{0};
  bool ended = false;
  while (!content.empty()) {
    const auto batch = valid_batch(content);
    if (!batch || ended || batch->base_offset() != next.value ||
        (next.value == 0 && !is_control_of(*batch, kSnapshotHeader))) {
      return Error{Errc::corrupt, next.value};
    }
    ended = is_control_of(*batch, kSnapshotFooter);
    WEIR_TRY_VOID(apply_batch(*batch, Offset{0}, builder));
    content = content.subspan(batch->size());
    next = Offset{batch->last_offset() + 1};
  }
  if (!ended || builder.in_transaction()) {
    return Error{Errc::truncated, next.value};
  }
  return {};
}

Result<std::vector<std::byte>> make_snapshot(const MetadataImage& image, Millis now) {
  std::vector<std::byte> out;
  Offset next{0};
  protocol::SnapshotHeaderRecord header;
  header.last_contained_log_timestamp = now;
  WEIR_TRY(const auto header_bytes, protocol::encode_all(header, 0));
  WEIR_TRY_VOID(add_control(out, next, kSnapshotHeader, header_bytes, now));
  ++next;
  const auto records = records_of(image);
  for (std::size_t i = 0; i < records.size();) {
    protocol::RecordBatchBuilder builder{batch_options(next)};
    for (; i < records.size() && (builder.count() == 0 || builder.size() < kSnapshotBatchBytes); ++i) {
      builder.append({.key = {}, .value = records[i], .timestamp = now, .headers = {}});
    }
    next += builder.count();
    WEIR_TRY(const auto batch, builder.build());
    out.insert(out.end(), batch.begin(), batch.end());
  }
  WEIR_TRY(const auto footer_bytes, protocol::encode_all(protocol::SnapshotFooterRecord{}, 0));
  WEIR_TRY_VOID(add_control(out, next, kSnapshotFooter, footer_bytes, now));
  return out;
}

}  // namespace weir::metadata
