// One side of a simulated connection. sim_network makes them in pairs; see there.
#pragma once

#include <deque>
#include <memory>

#include "base/network.hpp"
#include "sim/seams/sim_network.hpp"

namespace weir::sim {

// What both sides and the packets under way share. One of its two directions belongs to each sender.
struct SimConnection {
  static constexpr std::size_t kWindowBytes = 64 * 1024;  // sent and not read; more makes the writer wait

  struct Direction {
    std::deque<std::pair<Millis, std::vector<std::byte>>> under_way;  // in sending order, with the time of arrival
    std::vector<std::byte> arrived;
    std::size_t taken = 0;      // of `arrived`, from its front
    std::size_t in_window = 0;  // bytes of both
    bool end_sent = false;
    Millis last_arrival_ms = 0;
  };
  struct Side {
    IoLoop* loop = nullptr;  // null once the stream is destroyed: nothing more is called
    bool closed = false;     // by its owner
    MutableBytes read_into;
    UniqueFunction<void(Result<std::size_t>)> on_read;
    std::vector<std::byte> to_send;
    std::size_t sent = 0;
    UniqueFunction<void(Result<void>)> on_written;
    Endpoint endpoint;
  };
  SimConnection(EventQueue& event_queue, std::uint64_t seed, NetworkFaults network_faults)
      : queue(event_queue), random(seed), faults(network_faults) {}

  EventQueue& queue;
  Random random;
  NetworkFaults faults;
  bool reset = false;
  Direction directions[2];  // [side that sends]
  Side sides[2];
};

using ConnectionPointer = std::shared_ptr<SimConnection>;
void reset_connection(const ConnectionPointer& connection);
// The process of this side has died: its continuations are dropped, the peer sees the end.
void drop_side(const ConnectionPointer& connection, int side);
// Closes its side when destroyed.
std::unique_ptr<Stream> make_sim_stream(ConnectionPointer connection, int side);

}  // namespace weir::sim
