// The payload structs of log/entry.hpp, byte by byte.
#include "log/entry.hpp"
#include "log/little_endian.hpp"

namespace weir::log {
namespace {

// The value if `reader` was used up exactly; reserved fields have been checked by the caller.
template <class Payload>
Result<Payload> whole(const LittleReader& reader, Bytes bytes, const Payload& payload, bool reserved_is_zero = true) {
  if (!reader.at_end() || !reserved_is_zero) {
    return {Errc::corrupt, static_cast<std::int64_t>(bytes.size())};
  }
  return payload;
}

}  // namespace

void GroupPayload::encode(MutableBytes into) const {
  store_le(into, 0, synced.value);
}
Result<GroupPayload> GroupPayload::decode(Bytes bytes) {
  LittleReader reader{bytes};
  GroupPayload payload;
  payload.synced.value = reader.take<std::int64_t>();
  return whole(reader, bytes, payload);
}

void AtomicGroupPayload::encode(MutableBytes into) const {
  store_le(into, 0, count);
  store_le(into, 4, bytes);
  store_le(into, 8, members_crc);
  store_le(into, 12, std::uint32_t{0});
}
Result<AtomicGroupPayload> AtomicGroupPayload::decode(Bytes encoded) {
  LittleReader reader{encoded};
  AtomicGroupPayload payload;
  payload.count = reader.take<std::uint32_t>();
  payload.bytes = reader.take<std::uint32_t>();
  payload.members_crc = reader.take<std::uint32_t>();
  const bool zero = reader.take<std::uint32_t>() == 0;
  return whole(reader, encoded, payload, zero);
}

void OffsetsReservedPayload::encode(MutableBytes into) const {
  store_le(into, 0, end.value);
}
Result<OffsetsReservedPayload> OffsetsReservedPayload::decode(Bytes bytes) {
  LittleReader reader{bytes};
  OffsetsReservedPayload payload;
  payload.end.value = reader.take<std::int64_t>();
  return whole(reader, bytes, payload);
}

void PartitionCreatedPayload::encode(MutableBytes into) const {
  std::copy(topic_id.bytes.begin(), topic_id.bytes.end(), into.begin());
  store_le(into, 16, index);
  store_le(into, 20, epoch.value);
  store_le(into, 24, start.value);
  store_le(into, 32, attributes);
  store_le(into, 36, std::uint32_t{0});
}
Result<PartitionCreatedPayload> PartitionCreatedPayload::decode(Bytes bytes) {
  LittleReader reader{bytes};
  PartitionCreatedPayload payload;
  payload.topic_id = reader.take_uuid();
  payload.index = reader.take<std::int32_t>();
  payload.epoch.value = reader.take<std::int32_t>();
  payload.start.value = reader.take<std::int64_t>();
  payload.attributes = reader.take<std::uint32_t>();
  const bool zero = reader.take<std::uint32_t>() == 0;
  return whole(reader, bytes, payload, zero);
}

void StartMovedPayload::encode(MutableBytes into) const {
  store_le(into, 0, start.value);
}
Result<StartMovedPayload> StartMovedPayload::decode(Bytes bytes) {
  LittleReader reader{bytes};
  StartMovedPayload payload;
  payload.start.value = reader.take<std::int64_t>();
  return whole(reader, bytes, payload);
}

void TruncatedPayload::encode(MutableBytes into) const {
  store_le(into, 0, end.value);
  store_le(into, 8, epoch.value);
  store_le(into, 12, std::uint32_t{0});
}
Result<TruncatedPayload> TruncatedPayload::decode(Bytes bytes) {
  LittleReader reader{bytes};
  TruncatedPayload payload;
  payload.end.value = reader.take<std::int64_t>();
  payload.epoch.value = reader.take<std::int32_t>();
  const bool zero = reader.take<std::uint32_t>() == 0;
  return whole(reader, bytes, payload, zero);
}

void DeletedPayload::encode(MutableBytes into) const {
  std::copy(topic_id.bytes.begin(), topic_id.bytes.end(), into.begin());
  store_le(into, 16, index);
  store_le(into, 20, std::uint32_t{0});
}
Result<DeletedPayload> DeletedPayload::decode(Bytes bytes) {
  LittleReader reader{bytes};
  DeletedPayload payload;
  payload.topic_id = reader.take_uuid();
  payload.index = reader.take<std::int32_t>();
  const bool zero = reader.take<std::uint32_t>() == 0;
  return whole(reader, bytes, payload, zero);
}

void EpochStartPayload::encode(MutableBytes into) const {
  store_le(into, 0, epoch.value);
  store_le(into, 4, std::uint32_t{0});
  store_le(into, 8, start.value);
}
Result<EpochStartPayload> EpochStartPayload::decode(Bytes bytes) {
  LittleReader reader{bytes};
  EpochStartPayload payload;
  payload.epoch.value = reader.take<std::int32_t>();
  const bool zero = reader.take<std::uint32_t>() == 0;
  payload.start.value = reader.take<std::int64_t>();
  return whole(reader, bytes, payload, zero);
}

}  // namespace weir::log
