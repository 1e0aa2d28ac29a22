#include "broker/connection_quotas.hpp"

#include <algorithm>

namespace weir::broker {
namespace {
constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kMicrosPerMilli = 1'000;

std::int64_t turn_us(std::int32_t new_per_second) {
  return kMicrosPerSecond / std::max(1, new_per_second);
}
}  // namespace

std::int64_t TurnTaker::after_next(std::int64_t now_us, std::int32_t new_per_second, Millis burst_ms) const {
  const auto oldest = now_us - burst_ms * kMicrosPerMilli;
  return std::max(taken_until_us_.value_or(oldest), oldest) + turn_us(new_per_second);
}

std::int64_t TurnTaker::next_wait_us(std::int64_t now_us, std::int32_t new_per_second, Millis burst_ms) const {
  if (new_per_second == kNoConnectionLimit) {
    return 0;
  }
  return std::max<std::int64_t>(0, after_next(now_us, new_per_second, burst_ms) - now_us);
}

void TurnTaker::take(std::int64_t now_us, std::int32_t new_per_second, Millis burst_ms) {
  taken_until_us_ =
      new_per_second == kNoConnectionLimit ? std::nullopt : std::optional(after_next(now_us, new_per_second, burst_ms));
}

void ConnectionQuotas::follow_config() {
  auto now = config_.current();
  if (now == current_) {
    return;
  }
  current_ = std::move(now);
  limits_ = connection_limits(*current_);
  for (auto& [name, listener] : listeners_) {
    listener.limits = connection_limits(*current_, name);
  }
}

std::string ConnectionQuotas::refusal(const std::string& name, const OfListener& listener,
                                      const std::string& address) const {
  const auto limit = [](std::string_view key, std::int32_t value) {
    return std::string(key) + " (" + std::to_string(value) + ")";
  };
  if (open_ >= limits_.connections) {
    return limit("max.connections", limits_.connections) + " are open";
  }
  if (listener.open >= listener.limits.connections) {
    return "max.connections of listener " + limit(name, listener.limits.connections) + " are open";
  }
  const auto known = of_address_.find(address);
  if ((known == of_address_.end() ? 0 : known->second) >= limits_.at(address)) {
    return limit("max.connections.per.ip", limits_.at(address)) + " are open from this address";
  }
  return {};
}

ConnectionQuotas::Admission ConnectionQuotas::admit(const std::string& listener, const std::string& address,
                                                    std::int64_t now_ns) {
  const std::lock_guard lock{mutex_};
  const auto [place, is_new] = listeners_.try_emplace(listener);
  auto& at = place->second;
  follow_config();
  if (is_new) {
    at.limits = connection_limits(*current_, listener);
  }
  if (auto why = refusal(listener, at, address); !why.empty()) {
    return {.refused = std::move(why)};
  }
  const auto now_us = now_ns / 1'000;
  const auto wait_us = std::max(turns_.next_wait_us(now_us, limits_.new_per_second, limits_.burst_ms),
                                at.turns.next_wait_us(now_us, at.limits.new_per_second, at.limits.burst_ms));
  if (wait_us > kWaitMax * kMicrosPerMilli) {
    return {.refused = "max.connection.creation.rate: too many wait already"};
  }
  turns_.take(now_us, limits_.new_per_second, limits_.burst_ms);
  at.turns.take(now_us, at.limits.new_per_second, at.limits.burst_ms);
  ++open_;
  ++at.open;
  ++of_address_[address];
  return {.wait_ms = (wait_us + kMicrosPerMilli - 1) / kMicrosPerMilli};
}

void ConnectionQuotas::left(const std::string& listener, const std::string& address) {
  const std::lock_guard lock{mutex_};
  --open_;
  --listeners_.at(listener).open;
  const auto known = of_address_.find(address);
  if (--known->second == 0) {
    of_address_.erase(known);
  }
}

}  // namespace weir::broker
