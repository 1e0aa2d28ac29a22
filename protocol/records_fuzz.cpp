// Any bytes as one batch's records: nothing is read beyond the input, and what was read can be built and read again.
#include "protocol/record.hpp"

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
  // First two bytes: codec and count; the rest is the payload. The header around it is honest.
  if (size < 2) {
    return 0;
  }
  const BatchFacts header{.record_count = data[1], .attributes = static_cast<std::uint16_t>(data[0] & kCodecMask)};
  const auto bytes = *wrap_records(header, std::as_bytes(std::span{data, size}).subspan(2));
  constexpr std::size_t kLimit = 1U << 20U;
  const auto batch = *RecordBatchView::parse(bytes);
  RecordBatchBuilder builder;
  std::size_t read = 0;
  const auto done = for_each_record(batch, kLimit, [&](const RecordView& record, const RecordReader& reader) {
    std::vector<HeaderView> headers(record.headers.begin(), record.headers.end());
    require(std::ssize(headers) == record.headers.size());
    read += (record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0);
    builder.append({record.key, record.value, reader.timestamp_of(record), headers});
  });
  require(read <= kLimit);
  if (done && builder.count() > 0) {
    const auto again = *builder.build();
    require(for_each_record(*RecordBatchView::parse(again), kLimit * 2, [](const auto&, const auto&) {}).has_value());
  }
  return 0;
}
