// When a batch has expired: the one rule, for the CommitLog and for memory topics. Pure, any thread.
//
// The age of a batch counts from its largest time stamp, as in Kafka. Two kinds of stamp say nothing, and then it
// counts from the append:
// - There is none (negative). Kafka takes the time of the file, which is that of the last append to it.
// - It lies more than kStampAheadMax ahead of the broker's clock as it is now: it would keep its batch, and all behind
// it,
//   until then. By default no such stamp is accepted (message.timestamp.after.max.ms).
// A stamp is judged by the clock of now, never by the clock of the append: if that one was behind, good stamps looked
// as if they lay in the future, and would be deleted for it once the clock is right.
#pragma once

#include <limits>

#include "base/ids.hpp"

namespace weir::log {

inline constexpr Millis kStampAheadMax = 3'600'000;

[[nodiscard]] constexpr bool counts_from_append(Millis max_timestamp, Millis now) {
  return max_timestamp < 0 || max_timestamp - kStampAheadMax > now;
}

// `retention_ms` below 0: no bound. Equal is not older.
[[nodiscard]] constexpr bool is_older(Millis counted_from, Millis retention_ms, Millis now) {
  return retention_ms >= 0 && now - counted_from > retention_ms;
}

[[nodiscard]] constexpr bool has_expired(Millis max_timestamp, Millis append_ms, Millis retention_ms, Millis now) {
  return is_older(counts_from_append(max_timestamp, now) ? append_ms : max_timestamp, retention_ms, now);
}

// The first time at which it is older, if the clock goes on as it should.
[[nodiscard]] constexpr Millis older_from(Millis counted_from, Millis retention_ms) {
  constexpr auto kNever = std::numeric_limits<Millis>::max();
  return retention_ms < 0 || counted_from >= kNever - retention_ms ? kNever : counted_from + retention_ms + 1;
}

// Of `size_bytes` the oldest batch may go: what is left still reaches the bound. Below 0: no bound.
[[nodiscard]] constexpr bool is_too_much(std::int64_t size_bytes, std::int64_t batch_bytes,
                                         std::int64_t retention_bytes) {
  return retention_bytes >= 0 && size_bytes - batch_bytes >= retention_bytes;
}

}  // namespace weir::log
