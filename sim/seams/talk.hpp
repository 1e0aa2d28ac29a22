// talk(): what a simulated peer answers to a text until it closes. For tests of servers that speak text (HTTP); runs
// the queue.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/seams/event_queue.hpp"
#include "sim/seams/sim_network.hpp"

namespace weir::sim {

// nullopt: no connection, or not closed within a virtual minute.
std::optional<std::string> talk(EventQueue& queue, SimNetwork& network, SimLoop& loop, const Endpoint& to,
                                std::string_view text);

}  // namespace weir::sim
