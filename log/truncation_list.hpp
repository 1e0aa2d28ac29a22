// TruncationList: where a partition's log was truncated, as far as segments before that place hold batches that are
// gone by it. A value that the log role owns; copies may go anywhere. Positions and ends rise strictly: a truncation
// that reaches lower makes the ones before it that reach less low needless.
#pragma once

#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"

namespace weir::log {

struct Truncation {
  LogPosition at;  // of its entry: batches before it that reach to `end` or beyond are gone
  Offset end;
  Offset reach;  // in segments before its own no batch lay at or above it
  friend bool operator==(const Truncation&, const Truncation&) = default;
};

class TruncationList {
 public:
  static constexpr std::size_t kTruncationsMax = 4'096;

  void add(Truncation truncation);  // behind all others; not if is_full()
  // Batches before `position` count only if they end below it, as far as truncations at or behind `position` go.
  // The largest offset if there are none.
  [[nodiscard]] Offset end_behind(LogPosition position) const;
  // A new segment begins, and the oldest one that is left begins at `oldest_begin`: forgets truncations in removed
  // segments, and those that took nothing out of segments before their own.
  void forget_needless(LogPosition oldest_begin);
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] bool is_full() const { return entries_.size() >= kTruncationsMax; }
  [[nodiscard]] const std::vector<Truncation>& entries() const { return entries_; }

  // Nothing if it is empty; takes exactly all of `bytes`, or none for an empty list.
  void encode(std::vector<std::byte>& out) const;
  static Result<TruncationList> decode(Bytes bytes);
  friend bool operator==(const TruncationList&, const TruncationList&) = default;

 private:
  std::vector<Truncation> entries_;
};

}  // namespace weir::log
