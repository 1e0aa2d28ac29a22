#include "broker/dispatch.hpp"

#include <exception>

#include "base/logging.hpp"
#include "broker/services.hpp"
#include "protocol/request_header.hpp"

namespace weir::broker {
namespace {
constexpr std::int16_t kApiVersionsKey = 18;

Dispatched refuse(const Endpoint& remote, std::string_view why, std::int64_t detail) {
  WEIR_LOG(debug, "closing {}: {} ({})", to_string(remote), why, detail);
  return Dispatched::refused;
}

}  // namespace

const ServedApi* find_served(std::int16_t api_key) {
  const auto apis = served_apis();
  const auto found = std::ranges::lower_bound(apis, api_key, {}, &ServedApi::key);
  return found != apis.end() && found->key == api_key ? &*found : nullptr;
}

std::optional<std::int16_t> peek_api_key(Bytes frame) {
  if (frame.size() < sizeof(std::int16_t)) {
    return std::nullopt;
  }
  return load_be<std::int16_t>(frame, 0);
}

Dispatched dispatch(Services& services, IoLoop& loop, SharedBytes frame, RequestShare memory,
                    std::shared_ptr<const Endpoints> endpoints, const std::shared_ptr<ReplySink>& sink,
                    std::uint64_t slot) {
  auto header = protocol::parse_request(frame);
  if (!header) {
    return refuse(endpoints->remote, "not a request header", header.error().detail);
  }
  const auto* api = find_served(header->api_key);
  if (api == nullptr) {
    return refuse(endpoints->remote, "API key is not served", header->api_key);
  }
  const bool known_version = header->version >= api->version_min && header->version <= api->version_max;
  if (!known_version && header->api_key != kApiVersionsKey) {
    return refuse(endpoints->remote, "API version is not served", header->version);
  }
  services.metrics.requests.add(api->key);
  RequestContext context{.services = services,
                         .loop = loop,
                         .api_key = header->api_key,
                         .api_version = header->version,
                         .correlation_id = header->correlation_id,
                         .client_id = header->client_id ? std::optional{header->client_id->str()} : std::nullopt,
                         .frame = std::move(frame),
                         .endpoints = std::move(endpoints),
                         .received_ns = services.runtime.clock.monotonic_ns(),
                         .memory = std::move(memory)};
  try {
    api->handler(std::move(context), std::move(header->body), sink, slot);
  } catch (const std::exception& failure) {
    // The net below all handlers: a failure that no Result foresaw costs one connection and is counted.
    services.metrics.unhandled_exceptions.add();
    WEIR_LOG(error, "unhandled exception in {}: {}; the connection is closed", api->name, failure.what());
    return Dispatched::refused;
  }
  return Dispatched::handed_over;
}

}  // namespace weir::broker
