// Any bytes as a producer snapshot: refused, or a table that writes an equal snapshot again.
#include "log/producer_state.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::log::ProducerTable table;
  if (!table.merge(std::as_bytes(std::span{data, size}))) {
    if (!table.empty()) {
      __builtin_trap();
    }
    return 0;
  }
  weir::log::ProducerTable copy;
  for (const auto& piece : table.encode()) {
    if (!copy.merge(piece)) {
      __builtin_trap();
    }
  }
  if (!(copy == table)) {
    __builtin_trap();
  }
  return 0;
}
