#include "base/network.hpp"

#include <charconv>

namespace weir {

std::string to_string(const Endpoint& endpoint) {
  const bool brackets = endpoint.host.find(':') != std::string::npos;
  return (brackets ? "[" + endpoint.host + "]" : endpoint.host) + ":" + std::to_string(endpoint.port);
}

std::optional<Endpoint> endpoint_from_string(std::string_view text) {
  std::string_view host;
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos || end + 1 >= text.size() || text[end + 1] != ':') {
      return std::nullopt;
    }
    host = text.substr(1, end - 1);
    port = text.substr(end + 2);
  } else {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) {
      return std::nullopt;  // an IPv6 address needs its brackets: else nobody can tell where the port begins
    }
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  Endpoint endpoint{.host = std::string(host)};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (port.empty() || error != std::errc{} || end != port.data() + port.size()) {
    return std::nullopt;
  }
  return endpoint;
}

}  // namespace weir
