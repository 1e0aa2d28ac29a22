#include "coordinator/metadata/record_frame.hpp"

#include <limits>

#include "base/varint.hpp"

namespace weir::metadata {
namespace {
constexpr std::uint32_t kFrameVersion = 1;
}

Result<RecordFrame> parse_frame(Bytes frame) {
  std::uint32_t numbers[3] = {};
  for (auto& number : numbers) {
    const auto used = decode_uvarint32(frame, number);
    if (used == 0) {
      return {Errc::corrupt};
    }
    frame = frame.subspan(used);
  }
  const auto [frame_version, kind, version] = numbers;
  constexpr std::uint32_t kMax = std::numeric_limits<std::int16_t>::max();
  if (frame_version != kFrameVersion || kind > kMax || version > kMax) {
    return Error{Errc::corrupt, frame_version};
  }
  return RecordFrame{
      .kind = static_cast<std::int32_t>(kind), .version = static_cast<std::int16_t>(version), .body = frame};
}

void RecordList::add_frame(Bytes frame) {
  bytes_.insert(bytes_.end(), frame.begin(), frame.end());
  ends_.push_back(bytes_.size());
}

void RecordList::add_framed(std::int32_t kind, std::int16_t version, Bytes body) {
  append_uvarint(bytes_, kFrameVersion);
  append_uvarint(bytes_, static_cast<std::uint64_t>(kind));
  append_uvarint(bytes_, static_cast<std::uint64_t>(version));
  add_frame(body);
}

}  // namespace weir::metadata
