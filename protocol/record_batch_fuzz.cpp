// Any bytes as a chain of batches: every batch lies inside the input, the pieces add up, and patches keep its checksum.
#include "protocol/record_batch.hpp"

namespace {
void require(bool condition) {
  if (!condition) {
    __builtin_trap();
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  using namespace weir::protocol;
  const auto bytes = std::as_bytes(std::span{data, size});
  BatchChain chain{bytes};
  std::size_t total = 0;
  for (auto next = chain.next(); next && *next; next = chain.next()) {
    const auto& batch = **next;
    total += batch.size();
    require(batch.size() >= kBatchHeaderSize && total <= size);
    require(batch.facts().size_bytes == batch.size());
    std::vector<std::byte> copy(batch.bytes().begin(), batch.bytes().end());
    const auto ok = batch.crc_ok();
    patch_base_offset(copy, Offset{12});
    patch_leader_epoch(copy, LeaderEpoch{3});
    require(RecordBatchView::parse(copy)->crc_ok() == ok);
    renew_crc(copy);
    set_max_timestamp(copy, TimestampType::log_append_time, 5);
    require(RecordBatchView::parse(copy)->crc_ok());
  }
  require(total + chain.rest().size() == size);
  return 0;
}
