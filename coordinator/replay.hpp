// Replay: feeds the records of one coordinator partition, read batch by batch, to whoever rebuilds state from them.
// Pure; the caller reads the batches (cold reads on the pool) and owns the thread.
#pragma once

#include <functional>
#include <optional>

#include "base/bytes.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"

namespace weir::group {

struct ReplayCount {
  std::int64_t batches = 0;
  std::int64_t records = 0;
};

// Gives each record of the batches in `bytes` (whole batches, one behind the other) to `each`, in order. Control
// batches are passed over. A batch with a bad checksum or malformed records is an error; what came before was given.
using EachRecord = std::function<void(Offset offset, Bytes key, std::optional<Bytes> value)>;
Result<ReplayCount> replay_batches(Bytes bytes, const EachRecord& each);

}  // namespace weir::group
