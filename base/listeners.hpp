// The addresses of this broker out of listeners, advertised.listeners and listener.security.protocol.map, read and
// refused as Kafka 4.4 reads and refuses them. Names are kept in capitals. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/network.hpp"

namespace weir {

struct ConfiguredListener {
  std::string name;  // "PLAINTEXT", or one that listener.security.protocol.map knows
  Endpoint endpoint;
  // What its clients are told: no host, or port 0, is that of the address they came in on. Nullopt: all of that
  // address.
  std::optional<Endpoint> advertised;
  friend bool operator==(const ConfiguredListener&, const ConfiguredListener&) = default;
};

struct ListenerKeys {
  std::string_view listeners;
  std::optional<std::string_view> advertised;  // nullopt: the key is not set
  std::string_view protocols;
  std::string_view controllers;  // controller.listener.names
};

struct Listeners {
  std::vector<ConfiguredListener> bound;
  std::vector<std::string> errors;  // sentences; with any the broker must not start
  std::vector<std::string> warnings;
};

Listeners read_listeners(const ListenerKeys& keys);

}  // namespace weir
