// The 64 header bytes that both forms of an index file begin with. Internal to log/index_file.cpp and
// log/index_delta.cpp. Pure, any thread.
#pragma once

#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "log/segment_header.hpp"

namespace weir::log {

inline constexpr std::size_t kIndexHeaderSize = 64;
enum class IndexForm : std::uint8_t { deltas = 1, sealed = 2 };

std::vector<std::byte> encode_index_header(IndexForm form, SegmentId segment, SegmentSeed seed);
// corrupt also when it is another segment's.
Result<IndexForm> decode_index_header(Bytes bytes, SegmentId segment, SegmentSeed seed);
// What the header itself says, for tools that have no segment at hand.
struct IndexHeader {
  IndexForm form = IndexForm::deltas;
  SegmentId segment;
  SegmentSeed seed;
};
Result<IndexHeader> decode_index_header(Bytes bytes);

}  // namespace weir::log
