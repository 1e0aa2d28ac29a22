#include "coordinator/replay.hpp"

#include "protocol/record.hpp"

namespace weir::group {
namespace {
constexpr std::size_t kDecompressedMax = std::size_t{256} << 20;  // our own batches are far smaller
}

Result<ReplayCount> replay_batches(Bytes bytes, const EachRecord& each) {
  ReplayCount count;
  protocol::BatchChain chain{bytes};
  while (true) {
    WEIR_TRY(const auto batch, chain.next());
    if (!batch) {
      break;
    }
    if (!batch->crc_ok()) {
      return {Errc::corrupt, batch->base_offset()};
    }
    ++count.batches;
    if (batch->is_control()) {
      continue;
    }
    WEIR_TRY_VOID(protocol::for_each_record(*batch, kDecompressedMax, [&](const auto& record, const auto& reader) {
      each(reader.offset_of(record), record.key.value_or(Bytes{}), record.value);
      ++count.records;
    }));
  }
  if (chain.has_partial()) {
    return {Errc::truncated, count.batches};
  }
  return count;
}

}  // namespace weir::group
