// RoleGate: the one atomic by which a role has exactly one holder. bring() says "there is work"; if nobody holds the
// role the caller becomes its holder, else the holder makes another turn for it. Any thread.
//
// The number counts calls of bring() since the role was last idle. The holder may leave only by setting it to 0 from
// the value it saw before its last turn: a call in between makes that fail, so no work is forgotten. Acquire and
// release on the number hand the role's data from holder to holder.
#pragma once

#include <atomic>
#include <cstdint>

namespace weir::log {

class RoleGate {
 public:
  // True: the caller holds the role now and must call run(). False: whoever holds it will make a turn.
  [[nodiscard]] bool bring() { return wanted_.fetch_add(1, std::memory_order_acq_rel) == 0; }

  // The holder's loop: `turn` returns true when it left work that can be done at once. False when `turns_max` turns
  // were made and the role is still held: the caller arranges that run() is called again, here or on another thread.
  template <class Turn>
  [[nodiscard]] bool run(Turn&& turn, int turns_max) {
    auto seen = wanted_.load(std::memory_order_acquire);
    for (int made = 0; made < turns_max; ++made) {
      const bool more = turn();
      if (more) {
        continue;
      }
      if (wanted_.compare_exchange_strong(seen, 0, std::memory_order_acq_rel, std::memory_order_acquire)) {
        return true;
      }
    }
    return false;
  }

 private:
  std::atomic<std::uint64_t> wanted_{0};
};

}  // namespace weir::log
