#include "base/listeners.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/config_row.hpp"
#include "base/tcp_address.hpp"

namespace weir {
namespace {

constexpr std::string_view kBound = "listeners";
constexpr std::string_view kAdvertised = "advertised.listeners";
constexpr std::string_view kProtocols = "listener.security.protocol.map";
constexpr std::string_view kPlaintext = "PLAINTEXT";
constexpr auto kSecurityProtocols = std::to_array<std::string_view>({kPlaintext, "SSL", "SASL_PLAINTEXT", "SASL_SSL"});

std::string capitals(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return out;
}

// The letters that Kafka's pattern of an address allows in a host.
bool is_host(std::string_view host) {
  return std::ranges::all_of(host, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view{"-%._:"}.find(c) != std::string_view::npos;
  });
}

struct Named {
  std::string name;
  std::string text;  // as written
  Endpoint endpoint;
};

class ListenerReader {
 public:
  explicit ListenerReader(const ListenerKeys& keys) : keys_(keys) {
    for (const auto& name : split_list(keys.controllers)) {
      controllers_.insert(capitals(name));
    }
  }

  Listeners run() {
    read_protocols();
    for (auto& one : read(kBound, keys_.listeners)) {
      take_bound(std::move(one));
    }
    refuse_shared_ports();
    if (result_.bound.empty() && result_.errors.empty()) {
      error(kBound, "names no address that clients can use");
    }
    if (keys_.advertised) {
      take_advertised(read(kAdvertised, *keys_.advertised));
    }
    return std::move(result_);
  }

 private:
  void error(std::string_view key, const std::string& what) {
    result_.errors.push_back(std::string(key) + ": " + what);
  }

  void read_protocols() {
    for (const auto& pair : split_list(keys_.protocols)) {
      const auto colon = pair.rfind(':');
      if (pair.empty()) {
        continue;
      }
      if (colon == std::string::npos) {
        error(kProtocols, pair + " is no pair NAME:PROTOCOL");
        continue;
      }
      const std::string_view whole{pair};
      auto protocol = capitals(trimmed(whole.substr(colon + 1)));
      if (std::ranges::find(kSecurityProtocols, protocol) == kSecurityProtocols.end()) {
        error(kProtocols, protocol + " is no security protocol; those are PLAINTEXT, SSL, SASL_PLAINTEXT and SASL_SSL");
        protocol = kPlaintext;  // one word about it is enough
      }
      protocols_[capitals(trimmed(whole.substr(0, colon)))] = protocol;
    }
  }

  // A listener that is named as a protocol has that one if the map does not name it: --listen makes such a one.
  [[nodiscard]] std::optional<std::string> protocol_of(const std::string& name) const {
    if (const auto found = protocols_.find(name); found != protocols_.end()) {
      return found->second;
    }
    const bool is_protocol = std::ranges::find(kSecurityProtocols, name) != kSecurityProtocols.end();
    return is_protocol ? std::optional(name) : std::nullopt;
  }

  // The entries of a list, without a controller's. What is wrong with one of them becomes an error.
  std::vector<Named> read(std::string_view key, std::string_view list) {
    std::vector<Named> all;
    std::set<std::string> names;
    if (trimmed(list).empty()) {
      error(key, "must not be empty");
    }
    // split_list() drops an empty last entry; Kafka refuses that too.
    if (trimmed(list).ends_with(',')) {
      error(key, "must not have an empty entry; take out the comma at the end of " + std::string(trimmed(list)));
    }
    for (const auto& text : split_list(list)) {
      const auto scheme = text.find("://");
      const auto endpoint =
          scheme == std::string::npos ? std::nullopt : endpoint_from_string(std::string_view{text}.substr(scheme + 3));
      if (!endpoint || !is_host(endpoint->host)) {
        error(key,
              text.empty() ? "must not have an empty entry" : "cannot read " + text + "; must be NAME://HOST:PORT");
        continue;
      }
      auto name = capitals(std::string_view{text}.substr(0, scheme));
      if (!names.insert(name).second) {
        error(key, "names " + name + " twice; each listener needs a name of its own");
        continue;
      }
      if (controllers_.contains(name)) {
        result_.warnings.push_back(std::string(key) + ": listener " + name +
                                   " belongs to a controller and is ignored; the controller is part of this node");
        continue;
      }
      all.push_back({std::move(name), text, *endpoint});
    }
    return all;
  }

  void take_bound(Named one) {
    const auto protocol = protocol_of(one.name);
    if (!protocol) {
      error(kBound, one.text + " has no protocol; put " + one.name + ":PLAINTEXT into " + std::string(kProtocols));
    } else if (*protocol != kPlaintext) {
      error(kBound, one.text + ": protocol " + *protocol +
                        " is not served yet, only PLAINTEXT is; take it out, or give it that protocol in " +
                        std::string(kProtocols) + " if its network is safe");
    }
    // Kept in any case: what is said next must not depend on it.
    result_.bound.push_back({.name = std::move(one.name), .endpoint = std::move(one.endpoint), .advertised = {}});
  }

  // One port is for one listener, or for two of which one is IPv4 and the other IPv6.
  void refuse_shared_ports() {
    const auto is_version_6 = [](const Endpoint& at) { return at.host.find(':') != std::string::npos; };
    const auto& all = result_.bound;
    for (auto one = all.begin(); one != all.end(); ++one) {
      for (auto other = std::next(one); other != all.end(); ++other) {
        const auto& [a, b] = std::pair{one->endpoint, other->endpoint};
        const bool both_numeric = !a.host.empty() && !b.host.empty() && is_numeric(a.host) && is_numeric(b.host);
        if (a.port == b.port && a.port != 0 && !(both_numeric && is_version_6(a) != is_version_6(b))) {
          error(kBound, one->name + " and " + other->name + " have the same port " + std::to_string(a.port) +
                            "; each listener needs one of its own");
        }
      }
    }
  }

  void take_advertised(const std::vector<Named>& all) {
    for (const auto& one : all) {
      const auto found = std::ranges::find(result_.bound, one.name, &ConfiguredListener::name);
      if (found == result_.bound.end()) {
        error(kAdvertised, one.name + " is no listener of " + std::string(kBound) + ", which names " + bound_names());
      } else if (one.endpoint.host == "0.0.0.0" || one.endpoint.host == "::") {
        error(kAdvertised, "clients cannot connect to " + to_string(one.endpoint) + "; it must name one host");
      } else {
        found->advertised = one.endpoint;
      }
    }
    if (all.empty() && result_.errors.empty()) {
      error(kAdvertised, "names no address that clients can use");
    }
    for (const auto& listener : result_.bound) {
      if (!listener.advertised && result_.errors.empty()) {
        auto text = std::string(kAdvertised);
        text += " does not name listener ";
        text += listener.name;
        text += ": clients are told the address on which they came in there";
        result_.warnings.push_back(std::move(text));
      }
    }
  }

  [[nodiscard]] std::string bound_names() const {
    std::vector<std::string> names;
    for (const auto& listener : result_.bound) {
      names.push_back(listener.name);
    }
    return names.empty() ? "none" : joined_list(names);
  }

  const ListenerKeys& keys_;
  std::map<std::string, std::string> protocols_;
  std::set<std::string> controllers_;
  Listeners result_;
};

}  // namespace

Listeners read_listeners(const ListenerKeys& keys) {
  return ListenerReader{keys}.run();
}

}  // namespace weir
