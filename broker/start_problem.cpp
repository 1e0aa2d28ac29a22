#include "broker/start_problem.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace weir::broker {
namespace {
constexpr std::uint16_t kFirstOpenPort = 1024;

std::string why_not(const Endpoint& at, const Error& error) {
  if (error.code == Errc::not_found) {
    return "nobody knows the host " + at.host + "; name an address of this machine, or 0.0.0.0 for all of them";
  }
  const auto number = static_cast<int>(error.detail);
  if (number == EACCES || number == EPERM) {
    return at.port < kFirstOpenPort
               ? "permission denied; ports below 1024 are for root, or for who has CAP_NET_BIND_SERVICE"
               : "permission denied";
  }
  if (number == EADDRNOTAVAIL) {
    return "no interface of this machine has that address; listen on one that it has, or on 0.0.0.0 for all of them, "
           "and name what clients connect to in advertised.listeners";
  }
  return number > 0 ? std::generic_category().message(number) : to_string(error);
}

}  // namespace

std::string cannot_listen(std::string_view key, const Endpoint& at, const Error& error,
                          const std::vector<Endpoint>& ours, std::string_view option) {
  const std::string head = std::string(key) + ": ";
  if (error.code != Errc::in_use) {
    return head + "cannot listen on " + to_string(at) + ": " + why_not(at, error);
  }
  const bool is_ours = std::ranges::any_of(ours, [&](const Endpoint& bound) { return bound.port == at.port; });
  const auto port = "port " + std::to_string(at.port) + (at.host.empty() ? "" : " on " + at.host);
  return is_ours
             ? head + port + " is another address of this broker already; choose another with " + std::string(option)
             : head + port + " is taken by another process; stop it or choose another with " + std::string(option);
}

}  // namespace weir::broker
