// Any bytes as an index file, sealed or open: refused, or every look-up stays inside them.
#include "log/index_file.hpp"
#include "log/index_layout.hpp"
#include "log/state_entry.hpp"

namespace {

void walk_items(weir::Bytes body) {
  weir::log::StateItemReader reader{body};
  for (auto item = reader.next(); item && *item; item = reader.next()) {
  }
}

void walk_sealed(const weir::log::IndexFile& file) {
  for (std::size_t i = 0; i < file.row_count(); ++i) {
    const auto row = file.row(i);
    if (!file.find(row.local)) {
      __builtin_trap();
    }
    if (const auto section = file.section(row); section && section->size() > 0) {
      const auto last = section->at(section->size() - 1);
      if (section->find(last.last_offset) != section->size() - 1) {
        __builtin_trap();
      }
      (void)section->find_by_time(last.max_timestamp);
    }
    if (const auto state = file.state(row)) {
      walk_items(*state);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto header = weir::log::decode_index_header(bytes);
  if (!header) {
    return 0;
  }
  if (const auto file = weir::log::IndexFile::open(weir::SharedBytes::copy_of(bytes), header->segment, header->seed)) {
    walk_sealed(**file);
  }
  if (const auto deltas = weir::log::read_index_deltas(bytes, header->segment, header->seed)) {
    for (const auto& delta : deltas->deltas) {
      walk_items(delta.items);
    }
  }
  return 0;
}
