#include "protocol/record_messages.hpp"

#include <limits>

namespace weir::protocol {
namespace {
constexpr std::uint32_t kFrameVersion = 1;
constexpr std::uint32_t kInt16Max = std::numeric_limits<std::int16_t>::max();
}  // namespace

Result<std::int16_t> peek_record_type(Bytes key) {
  Reader in{key};
  const auto type = in.read_int16();
  WEIR_TRY_VOID(in.result());
  return type;
}

Result<MetadataFrame> peek_metadata_record(Bytes record) {
  Reader in{record};
  const auto frame_version = in.read_uvarint();
  const auto api_key = in.read_uvarint();
  const auto version = in.read_uvarint();
  WEIR_TRY_VOID(in.result());
  if (frame_version != kFrameVersion) {
    return {Errc::unsupported, static_cast<std::int64_t>(frame_version)};
  }
  if (api_key > kInt16Max || version > kInt16Max) {
    return {Errc::corrupt, static_cast<std::int64_t>(in.position())};
  }
  return MetadataFrame{static_cast<std::int16_t>(api_key), static_cast<std::int16_t>(version), in.rest()};
}

void write_metadata_frame(Writer& out, std::int16_t api_key, std::int16_t version) {
  out.write_uvarint(kFrameVersion);
  out.write_uvarint(static_cast<std::uint32_t>(api_key));
  out.write_uvarint(static_cast<std::uint32_t>(version));
}

}  // namespace weir::protocol
