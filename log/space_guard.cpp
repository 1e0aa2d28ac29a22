#include "log/space_guard.hpp"

namespace weir::log {
namespace {
constexpr std::int64_t kReserveMax = 256LL << 20;
constexpr std::int64_t kVolumeParts = 32;
}  // namespace

void SpaceGuard::look(std::optional<LogPosition> written) {
  const auto free = disk_.free_bytes(folder_);
  const auto total = disk_.total_bytes(folder_);
  if (!free || !total) {
    return;
  }
  const auto reserve = wanted_reserve_ > 0 ? wanted_reserve_ : std::min(kReserveMax, *total / kVolumeParts);
  reserve_.store(reserve, std::memory_order_relaxed);
  free_.store(*free, std::memory_order_relaxed);
  if (written) {
    limit_.store(written->value + std::max<std::int64_t>(0, *free - reserve), std::memory_order_relaxed);
  }
  const bool was_short = short_.load(std::memory_order_relaxed);
  const auto wanted = was_short ? reserve + std::max(reserve / 4, needed_.load(std::memory_order_relaxed)) : reserve;
  const auto counted = disk_.free_files(folder_);
  const auto files = counted ? *counted : kFilesNotCounted;
  const bool lacks_files =
      files < (lacks_files_.load(std::memory_order_relaxed) ? kFilesReserve + kFilesReserve / 4 : kFilesReserve);
  free_files_.store(files, std::memory_order_relaxed);
  lacks_files_.store(lacks_files, std::memory_order_relaxed);
  const bool now_short = *free < wanted || lacks_files;
  if (!now_short) {
    needed_.store(0, std::memory_order_relaxed);
  }
  short_.store(now_short, std::memory_order_relaxed);
}

}  // namespace weir::log
