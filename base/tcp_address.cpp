#include "base/tcp_address.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

namespace weir {

bool is_numeric(const std::string& host) {
  std::array<std::byte, sizeof(in6_addr)> ignored;
  return host.empty() || ::inet_pton(AF_INET, host.c_str(), ignored.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
}

Result<std::vector<SocketAddress>> resolve(const Endpoint& endpoint, AddressUse use) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags =
      AI_NUMERICSERV | (use == AddressUse::bind ? AI_PASSIVE : 0) | (is_numeric(endpoint.host) ? AI_NUMERICHOST : 0);
  addrinfo* found = nullptr;
  const auto port = std::to_string(endpoint.port);
  const auto* host = endpoint.host.empty() ? nullptr : endpoint.host.c_str();
  if (const auto error = ::getaddrinfo(host, port.c_str(), &hints, &found); error != 0) {
    return Error{Errc::not_found, error};
  }
  std::vector<SocketAddress> all;
  for (const auto* entry = found; entry != nullptr; entry = entry->ai_next) {
    SocketAddress address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
    all.push_back(address);
  }
  ::freeaddrinfo(found);
  return all;
}

Endpoint endpoint_of(const SocketAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.storage.ss_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &address.storage, sizeof(ipv4));
    ::inet_ntop(AF_INET, &ipv4.sin_addr, text.data(), text.size());
    return {.host = text.data(), .port = ntohs(ipv4.sin_port)};
  }
  if (address.storage.ss_family == AF_INET6) {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, &address.storage, sizeof(ipv6));
    ::inet_ntop(AF_INET6, &ipv6.sin6_addr, text.data(), text.size());
    constexpr std::string_view kMapped = "::ffff:";  // an IPv4 peer of a socket that serves both families
    const std::string_view host{text.data()};
    const bool mapped = IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr) != 0;
    return {.host = std::string(mapped ? host.substr(kMapped.size()) : host), .port = ntohs(ipv6.sin6_port)};
  }
  return {};
}

Endpoint local_endpoint_of(int socket) {
  SocketAddress address{.size = sizeof(sockaddr_storage)};
  return ::getsockname(socket, address.get(), &address.size) == 0 ? endpoint_of(address) : Endpoint{};
}

Endpoint remote_endpoint_of(int socket) {
  SocketAddress address{.size = sizeof(sockaddr_storage)};
  return ::getpeername(socket, address.get(), &address.size) == 0 ? endpoint_of(address) : Endpoint{};
}

}  // namespace weir
