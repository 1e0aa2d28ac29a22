// Streams between loops of one simulation: data arrives in pieces, later, in order; a connection may break. Delays,
// piece sizes and breaks come from the seed. One thread; owned by the test or the world, outlives listeners and
// streams.
#pragma once

#include <map>
#include <memory>

#include "base/network.hpp"
#include "base/random.hpp"
#include "sim/seams/event_queue.hpp"

namespace weir::sim {

struct NetworkFaults {
  Millis delay_ms_max = 0;         // each piece arrives within this time (virtual)
  bool partial_reads = true;       // a read may give fewer bytes than have arrived
  std::uint64_t reset_one_in = 0;  // a piece breaks the connection, once in so many; 0 = never
};

class SimNetwork final : public Network {
 public:
  SimNetwork(EventQueue& queue, std::uint64_t seed);
  ~SimNetwork() override;

  Result<std::unique_ptr<Listener>> listen(const Endpoint& at, std::vector<IoLoop*> loops, OnAccept on_accept) override;
  // `closed` when nobody listens there.
  void connect(const Endpoint& to, IoLoop& loop, UniqueFunction<void(Result<std::unique_ptr<Stream>>)> done) override;

  void set_faults(NetworkFaults faults);
  // Breaks every connection there is, as when a host vanishes: both sides see `closed`, data under way is lost.
  void reset_all();
  // The process that runs `loop` has died: its listeners and streams close, its continuations are never called.
  void drop(IoLoop& loop);
  [[nodiscard]] std::size_t connections() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace weir::sim
