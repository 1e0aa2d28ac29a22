#include "base/connection_limits.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/config.hpp"
#include "base/tcp_address.hpp"

namespace weir {
namespace {

constexpr std::string_view kOverrides = "max.connections.per.ip.overrides";

struct Override {
  std::vector<std::string> addresses;
  std::int32_t count = 0;
};

// Names are not looked up: that would block, and what a name stands for changes.
std::vector<std::string> addresses_of(std::string_view host) {
  if (host == "localhost") {
    return {"127.0.0.1", "::1"};
  }
  if (host.empty() || !is_numeric(std::string(host))) {
    return {};
  }
  const auto found = resolve({.host = std::string(host), .port = 0}, AddressUse::connect);
  return found && !found->empty() ? std::vector{endpoint_of(found->front()).host} : std::vector<std::string>{};
}

std::optional<Override> override_from(std::string_view pair) {
  const auto colon = pair.rfind(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  const auto digits = trimmed(pair.substr(colon + 1));
  Override made{.addresses = addresses_of(trimmed(pair.substr(0, colon)))};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), made.count);
  const bool is_count = !digits.empty() && error == std::errc{} && end == digits.data() + digits.size();
  return is_count && made.count >= 0 && !made.addresses.empty() ? std::optional(std::move(made)) : std::nullopt;
}

std::int32_t number(const Config& config, std::string_view name, std::int32_t otherwise) {
  std::int32_t value = otherwise;
  if (const auto text = config.value(name)) {
    read_value(*text, value);
  }
  return value;
}

std::string lower(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

}  // namespace

ConnectionLimits connection_limits(const Config& config) {
  ConnectionLimits limits{.connections = config.max_connections,
                          .new_per_second = number(config, "max.connection.creation.rate", kNoConnectionLimit),
                          .per_address = config.max_connections_per_ip,
                          .of_address = {}};
  for (const auto& pair : split_list(config.value(kOverrides).value_or(""))) {
    if (const auto made = override_from(pair)) {
      for (const auto& address : made->addresses) {
        limits.of_address[address] = made->count;
      }
    }
  }
  // Kafka measures over so many windows, of which the last is not over yet.
  const auto windows = std::max(1, number(config, "quota.window.num", 11) - 1);
  limits.burst_ms = Millis{windows} * number(config, "quota.window.size.seconds", 1) * 1000;
  return limits;
}

ConnectionLimits connection_limits(const Config& config, std::string_view listener) {
  const auto prefix = "listener.name." + lower(listener) + ".";
  ConnectionLimits limits{.connections = number(config, prefix + "max.connections", kNoConnectionLimit),
                          .new_per_second = number(config, prefix + "max.connection.creation.rate", kNoConnectionLimit),
                          .of_address = {}};
  limits.burst_ms = connection_limits(config).burst_ms;
  return limits;
}

std::optional<std::string> refuse_connection_limits(const Config& config) {
  const auto overrides = split_list(config.value(kOverrides).value_or(""));
  for (const auto& pair : overrides) {
    if (!override_from(pair)) {
      auto text = std::string(kOverrides);
      text += " must be pairs ADDRESS:COUNT with commas between, and the address in numbers; ";
      text += pair;
      text += " is none.";
      return text;
    }
  }
  if (config.max_connections_per_ip == 0 && overrides.empty()) {
    return "max.connections.per.ip can be 0 only together with " + std::string(kOverrides) + ": nobody could connect.";
  }
  return std::nullopt;
}

}  // namespace weir
