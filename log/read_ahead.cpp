#include "log/read_ahead.hpp"

#include "log/entry.hpp"

namespace weir::log {
namespace {
constexpr std::int64_t kWindowMin = 256LL << 10;
constexpr std::size_t kReadMax = 1U << 20U;
constexpr int kStretchesMax = 64;  // of one window: so many reads at once keep a device busy
// What lies between two batches is read with them if it is this near, and not many times their size: another
// partition's reader wants it too, and one large read costs less than two.
constexpr std::int64_t kGapMin = 16LL << 10;  // the read cache takes what lies nearer as one block
constexpr std::int64_t kGapMax = 128LL << 10;
constexpr std::int64_t kGapPerByte = 16;
}  // namespace

// Twice of what is read now: the second half is there when the reader comes back.
ReadAhead::ReadAhead(const Image& image, std::size_t read_max)
    : image_(image), window_(std::max(kWindowMin, 2 * static_cast<std::int64_t>(std::min(read_max, kReadMax)))) {}

void ReadAhead::wants(const BatchCursor& cursor) {
  if (is_over_ || cursor.entry().base_offset < again_at_) {
    return;
  }
  if (!ahead_ || ahead_->entry().base_offset < cursor.entry().base_offset) {
    // First this one alone: most files do not want to be told, and then nobody walks their index.
    Stretch first;
    ahead_.emplace(cursor);
    if (!add(first) || !tell(first)) {
      return;
    }
  }
  ask();
}

void ReadAhead::ask() {
  Stretch stretch;
  int stretches = 0;
  for (std::int64_t bytes = 0; bytes < window_ && is_written();) {
    if (!add(stretch)) {
      if (!tell(stretch) || ++stretches == kStretchesMax) {
        return;
      }
      stretch = {};
      continue;
    }
    if (bytes < window_ / 2) {
      again_at_ = ahead_->end();
    }
    bytes += ahead_->entry().size;
    const auto found = ahead_->next();
    if (!found || !*found) {  // the end, or an index that whoever reads there will complain of
      if (stretch.segment) {
        tell(stretch);
      }
      is_over_ = true;
      return;
    }
  }
  if (stretch.segment) {
    tell(stretch);
  }
}

bool ReadAhead::is_written() const {
  return ahead_->position() + ahead_->entry().size <= image_.written();
}

bool ReadAhead::add(Stretch& stretch) const {
  const auto& entry = ahead_->entry();
  const auto from = entry.position - static_cast<std::int64_t>(kEntryHeaderSize);
  if (!stretch.segment) {
    stretch = {.segment = ahead_->segment(), .from = from, .to = from};
  }
  const auto gap_max = std::clamp(kGapPerByte * static_cast<std::int64_t>(entry.size), kGapMin, kGapMax);
  if (stretch.segment != ahead_->segment() || from - stretch.to > gap_max) {
    return false;
  }
  stretch.to = entry.position + static_cast<std::int64_t>(entry.size);
  return true;
}

bool ReadAhead::tell(const Stretch& stretch) {
  is_over_ = !stretch.segment->file().will_need(stretch.from, stretch.to - stretch.from);
  return !is_over_;
}

}  // namespace weir::log
