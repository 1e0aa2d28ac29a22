// Why a start ended, as a person reads it: what, where, and what to do about it. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/network.hpp"

namespace weir::broker {

// `ours`: what this broker has bound already. `option`: how another address is given.
std::string cannot_listen(std::string_view key, const Endpoint& at, const Error& error,
                          const std::vector<Endpoint>& ours, std::string_view option);

}  // namespace weir::broker
