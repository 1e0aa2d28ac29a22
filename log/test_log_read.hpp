// Reading everything back in tests; see test_log.hpp.
#pragma once

#include "log/test_log.hpp"
#include "protocol/record.hpp"

namespace weir::log {

inline Result<std::vector<TestLog::Record>> TestLog::read_all(const Partition& partition, std::optional<Offset> from,
                                                              ReadFrom mode, std::size_t bytes_max) const {
  std::vector<Record> records;
  auto at = from.value_or(partition.log_start());
  const auto bound = partition.high_watermark();
  while (at < bound) {
    WEIR_TRY(auto outcome, log->read(partition, at, {bytes_max, true, bound}, mode));
    if (outcome.batches.empty()) {
      return {outcome.needs_disk ? Errc::not_found : Errc::truncated, at.value};
    }
    const auto bytes = outcome.batches.flatten();
    protocol::BatchChain chain{bytes};
    for (;;) {
      WEIR_TRY(const auto batch, chain.next());
      if (!batch) {
        break;
      }
      if (!batch->crc_ok()) {
        return {Errc::corrupt, batch->base_offset()};
      }
      WEIR_TRY_VOID(protocol::for_each_record(*batch, 1U << 30U, [&](const auto& record, const auto& reader) {
        if (reader.offset_of(record) >= at) {
          records.push_back({reader.offset_of(record), std::string(as_text(record.value.value_or(Bytes{})))});
        }
      }));
      at = Offset{batch->last_offset() + 1};
    }
    if (chain.has_partial()) {
      return {Errc::truncated, at.value};
    }
  }
  return records;
}

}  // namespace weir::log
