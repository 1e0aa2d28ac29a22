// SegmentScan: reads a segment file in windows and gives its entries one by one, batches with a good checksum only.
// Belongs to one thread; blocks on the disk. Used by recovery.
#pragma once

#include <vector>

#include "base/disk.hpp"
#include "log/entry.hpp"

namespace weir::log {

class SegmentScan {
 public:
  enum class Step : std::uint8_t {
    entry,  // entry() holds until the next call
    bad,    // nothing sound at position(); skip() goes on
    end,    // position() is `end` exactly
  };
  // Entries of [from, end) of the file.
  SegmentScan(const File& file, SegmentSeed seed, std::int64_t from, std::int64_t end)
      : file_(file), seed_(seed), position_(from), end_(end) {}

  Result<Step> next();  // an error only if the disk fails
  [[nodiscard]] const Entry& entry() const { return entry_; }
  [[nodiscard]] std::int64_t position() const { return position_; }  // of the bad place, or behind the entry
  // After `bad`: to the next place where a sound entry begins, or to the end.
  Result<void> skip();

 private:
  Result<bool> load(std::size_t size);  // the window holds at least `size` bytes from position_ on; false: file is over
  [[nodiscard]] Bytes rest() const {
    return Bytes{window_}.subspan(static_cast<std::size_t>(position_ - window_position_));
  }

  const File& file_;
  const SegmentSeed seed_;
  std::int64_t position_;
  const std::int64_t end_;
  std::vector<std::byte> window_;
  std::int64_t window_position_ = 0;
  Entry entry_;
};

}  // namespace weir::log
