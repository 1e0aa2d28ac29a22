// MemoryPartition: what a LogPartition of a memory topic has instead of entries in the log. log/memory_topics.hpp says
// who does what with it.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>

#include "log/commit_log.hpp"
#include "log/memory_store.hpp"

namespace weir::log {

struct MemoryPartition {
  explicit MemoryPartition(Offset begin) : store(begin) {}

  std::mutex mutex;  // guards all but `cost`; held for a look-up, a copy of one batch, or the dropping of some
  MemoryStore store;
  std::deque<Append> waiting;  // for offsets, in order, each without its partition; nothing is appended past them
  bool is_asked = false;       // a reservation is under way
  std::atomic<std::int64_t> cost{0};  // the store's, for whoever looks for the largest
};

}  // namespace weir::log
