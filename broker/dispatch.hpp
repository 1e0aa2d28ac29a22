// Dispatch: frame -> header -> handler. The table of served APIs (served_apis.cpp) is the only list of what this broker
// serves; ApiVersions, docs/PROTOCOL.md and the tests read it. Any key or version outside it ends the connection, as
// Kafka does; only ApiVersions answers a version it does not know (in body version 0, error 35).
#pragma once

#include <span>

#include "broker/request_context.hpp"
#include "protocol/reader.hpp"

namespace weir::broker {

using Handler = void (*)(RequestContext context, protocol::Reader body, std::weak_ptr<ReplySink> sink,
                         std::uint64_t slot);

struct ServedApi {
  std::int16_t key;
  std::int16_t version_min;  // served
  std::int16_t version_max;
  std::int16_t advertised_min;  // differs for Produce alone: listed from 0, because old librdkafka looks there
  std::string_view name;
  Handler handler;
};

std::span<const ServedApi> served_apis();
const ServedApi* find_served(std::int16_t api_key);

enum class Dispatched : std::uint8_t { handed_over, refused };

// The key of a frame, or nothing when it is shorter than a header.
std::optional<std::int16_t> peek_api_key(Bytes frame);

// What the handler throws costs its connection. What connections share (the log, groups, fetch sessions, waiters,
// producer ids) is noexcept below it: nothing of that goes on half done. Memory that runs out: base/out_of_memory.hpp.
// Parses the header and calls the handler, which answers through `sink` at `slot` now or later. `refused`: the header,
// key, version or body is not one that we serve (the reason is logged at debug with the peer's address).
Dispatched dispatch(Services& services, IoLoop& loop, SharedBytes frame, RequestShare memory,
                    std::shared_ptr<const Endpoints> endpoints, const std::shared_ptr<ReplySink>& sink,
                    std::uint64_t slot);

}  // namespace weir::broker
