// FlushTimer: when the log has to be synced though nobody waits for a sync (flush.ms of async topics). One deadline for
// the whole log, the earliest, since a sync covers all that was written; at most one timer for it.
//
// Owner: the engine of CommitLog. Write role only; a timer that fires is brought there by the engine.
#pragma once

#include <optional>

#include "base/ids.hpp"
#include "log/partition.hpp"

namespace weir::log {

class FlushTimer {
 public:
  // Something was written at `now` (monotonic) and may stay unsynced for `ms`. The time at which a timer has to fire,
  // if none fires by then.
  std::optional<Millis> written(Millis now, Millis ms) {
    const auto by = ms < kNoFlushMs - now ? now + ms : kNoFlushMs;
    deadline_ = std::min(deadline_, by);
    return arm();
  }
  void all_is_synced() { deadline_ = kNoFlushMs; }
  // The timer fired. True: it is time to sync. Else next() says when the next timer has to fire, if ever.
  bool is_due(Millis now) {
    armed_ = kNoFlushMs;
    return deadline_ <= now;
  }
  std::optional<Millis> next() { return arm(); }

 private:
  std::optional<Millis> arm() {
    if (deadline_ >= armed_) {
      return std::nullopt;
    }
    armed_ = deadline_;
    return armed_;
  }
  Millis deadline_ = kNoFlushMs;
  Millis armed_ = kNoFlushMs;  // of the timer that is set
};

}  // namespace weir::log
