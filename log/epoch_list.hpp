// EpochList: which leader epoch began at which offset, of one partition. A value that the log role owns; copies may go
// anywhere. Epochs and offsets rise strictly; an epoch without records is replaced by the next one.
#pragma once

#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"

namespace weir::log {

struct EpochStart {
  LeaderEpoch epoch;
  Offset start;
  friend bool operator==(const EpochStart&, const EpochStart&) = default;
};

class EpochList {
 public:
  static constexpr std::size_t kEpochsMax = 16'384;  // the oldest are forgotten beyond it

  // A new epoch begins at `start`. Ignored (false) unless `epoch` is above the latest; entries at or above `start` go.
  bool assign(LeaderEpoch epoch, Offset start);
  [[nodiscard]] std::optional<EpochStart> latest() const;
  // Kafka's OffsetForLeaderEpoch: the largest known epoch <= `epoch` and the offset where the next one begins; log_end
  // for the latest; an epoch below the first known ended where that one begins; {-1, -1} for -1 and above the latest.
  [[nodiscard]] EpochStart end_of(LeaderEpoch epoch, Offset log_end) const;
  // Epoch of the batch that holds `offset`; -1 if it is before all.
  [[nodiscard]] LeaderEpoch epoch_at(Offset offset) const;
  void truncate_to(Offset log_end);        // epochs that begin at or above it are gone
  void truncate_before(Offset log_start);  // the epoch that holds log_start then begins there
  [[nodiscard]] const std::vector<EpochStart>& entries() const { return entries_; }

  [[nodiscard]] std::size_t encoded_size() const { return 4 + entries_.size() * 12; }
  void encode(std::vector<std::byte>& out) const;
  // Of the list that `bytes` begin with, as its count says; all of them if there is no count.
  [[nodiscard]] static std::size_t size_of(Bytes bytes);
  // Takes exactly all of `bytes`.
  static Result<EpochList> decode(Bytes bytes);
  friend bool operator==(const EpochList&, const EpochList&) = default;

 private:
  std::vector<EpochStart> entries_;
};

}  // namespace weir::log
