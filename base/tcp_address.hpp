// Endpoints to kernel addresses and back. Stateless; any thread. resolve() of a name may block.
#pragma once

#include <sys/socket.h>

#include <vector>

#include "base/network.hpp"

namespace weir {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

enum class AddressUse : std::uint8_t { bind, connect };
bool is_numeric(const std::string& host);
// In the order in which they should be tried. not_found for a name that nobody knows.
Result<std::vector<SocketAddress>> resolve(const Endpoint& endpoint, AddressUse use);
Endpoint endpoint_of(const SocketAddress& address);
Endpoint local_endpoint_of(int socket);
Endpoint remote_endpoint_of(int socket);

}  // namespace weir
