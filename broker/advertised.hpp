// What answers say about this broker: the address that the client's own listener tells, and what a client may do.
#pragma once

#include "base/listeners.hpp"
#include "broker/request_context.hpp"
#include "broker/services.hpp"

namespace weir::broker {

// For a client of `listener` that came in on `local`.
inline Endpoint advertised_endpoint(const ConfiguredListener& listener, const Endpoint& local) {
  const auto told = listener.advertised.value_or(Endpoint{});
  return {.host = told.host.empty() ? local.host : told.host, .port = told.port == 0 ? local.port : told.port};
}

inline const Endpoint& advertised_endpoint(const RequestContext& context) {
  return context.endpoints->told;
}

// Nullopt: none is set.
inline std::optional<protocol::Text> rack_of(const RequestContext& context) {
  const auto rack = context.services.config.value("broker.rack");
  return rack ? std::optional<protocol::Text>{*rack} : std::nullopt;
}

// What authorized-operations fields say without an authorizer: every operation that the resource has, as bits.
inline constexpr std::int32_t kAllTopicOperations = 3576;
inline constexpr std::int32_t kAllClusterOperations = 8096;
inline constexpr std::int32_t kAllGroupOperations = 3400;

}  // namespace weir::broker
