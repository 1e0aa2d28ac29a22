// The address that answers name for this broker: the advertised listener if one is set, else the one the client came in
// on.
#pragma once

#include "broker/request_context.hpp"
#include "broker/services.hpp"

namespace weir::broker {

inline Endpoint advertised_endpoint(const RequestContext& context) {
  const auto& told = context.services.config.told_listeners();
  return told.empty() ? context.endpoints->local : told.front().endpoint;
}

// What authorized-operations fields say without an authorizer: every operation that the resource has, as bits.
inline constexpr std::int32_t kAllTopicOperations = 3576;
inline constexpr std::int32_t kAllClusterOperations = 8096;
inline constexpr std::int32_t kAllGroupOperations = 3400;

}  // namespace weir::broker
