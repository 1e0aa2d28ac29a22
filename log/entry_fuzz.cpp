// Any bytes as a window of a segment: the scanner ends, and what it gives lies inside the window in rising order.
#include "log/entry.hpp"
#include "log/state_entry.hpp"

namespace {
constexpr weir::log::SegmentSeed kSeed{0x0000'0001'0000'0001};

void decode_payload(const weir::log::Entry& entry) {
  using namespace weir::log;
  (void)GroupPayload::decode(entry.payload);
  (void)AtomicGroupPayload::decode(entry.payload);
  (void)PartitionCreatedPayload::decode(entry.payload);
  (void)TruncatedPayload::decode(entry.payload);
  (void)EpochStartPayload::decode(entry.payload);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto window = std::as_bytes(std::span{data, size});
  weir::log::EntryScanner scanner{window, 4096, kSeed};
  std::int64_t before = 4096;
  for (auto step = scanner.next(); step != weir::log::EntryScanner::Step::end; step = scanner.next()) {
    if (step == weir::log::EntryScanner::Step::entry) {
      const auto& entry = scanner.entry();
      const bool inside = entry.payload.data() >= window.data() && entry.payload.size() <= window.size();
      if (!inside || scanner.position() <= before) {
        __builtin_trap();
      }
      (void)scanner.atomic_group_is_whole();
      decode_payload(entry);
    } else if (!scanner.resync()) {
      break;
    }
    before = scanner.position();
  }
  // The same bytes as a state body: ends, whatever they are.
  weir::log::StateItemReader items{window};
  for (auto item = items.next(); item && *item; item = items.next()) {
  }
  return 0;
}
