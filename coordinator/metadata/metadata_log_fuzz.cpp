// Any bytes as a log file and as a snapshot: refused, or an image that its own records make again.
#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/metadata_log.hpp"

namespace {
void check_rebuilds(weir::metadata::ImageBuilder& builder) {
  using namespace weir::metadata;
  if (builder.in_transaction()) {
    return;
  }
  const auto image = builder.build();
  ImageBuilder again{MetadataImage{}};
  if (!again.apply_all(weir::Offset{0}, records_of(*image))) {
    __builtin_trap();
  }
  again.set_end_offset(image->end_offset());
  if (!(*again.build() == *image)) {
    __builtin_trap();
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::metadata;
  const auto bytes = std::as_bytes(std::span{data, size});
  ImageBuilder from_log{MetadataImage{}};
  if (const auto scanned = scan_log(bytes, weir::Offset{0}, weir::Offset{0}, from_log)) {
    if (scanned->good_bytes > static_cast<std::int64_t>(size) || (scanned->torn && scanned->damaged)) {
      __builtin_trap();
    }
    check_rebuilds(from_log);
  }
  ImageBuilder from_snapshot{MetadataImage{}};
  if (read_snapshot(bytes, from_snapshot)) {
    check_rebuilds(from_snapshot);
  }
  // The same bytes as one record, so that the fuzzer need not guess checksums.
  ImageBuilder from_record{MetadataImage{}};
  if (from_record.apply(weir::Offset{0}, bytes)) {
    check_rebuilds(from_record);
  }
  return 0;
}
