// ConnectionQuotas: whether one more connection may be, and when it is taken up. Counts those of the broker, of each
// listener and of each address; new ones beyond the rate wait their turn, as they wait in Kafka's acceptor. Limits that
// are set while the broker runs hold for the next connection; nobody who is connected is sent away. Any thread; one
// small lock.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/connection_limits.hpp"
#include "base/effective_config.hpp"

namespace weir::broker {

// Turns of a rate. What was not taken for `burst_ms` may come at once, everything else one after the other.
class TurnTaker {
 public:
  // How long the next one waits. `new_per_second` 0 is one a second, as in Kafka, where no wait is longer.
  [[nodiscard]] std::int64_t next_wait_us(std::int64_t now_us, std::int32_t new_per_second, Millis burst_ms) const;
  void take(std::int64_t now_us, std::int32_t new_per_second, Millis burst_ms);

 private:
  [[nodiscard]] std::int64_t after_next(std::int64_t now_us, std::int32_t new_per_second, Millis burst_ms) const;
  std::optional<std::int64_t> taken_until_us_;
};

class ConnectionQuotas {
 public:
  static constexpr Millis kWaitMax = 10'000;

  explicit ConnectionQuotas(const EffectiveConfig& config) : config_(config) {}

  struct Admission {
    std::string refused = {};  // which limit, in words; empty: it may come
    Millis wait_ms = 0;        // before it is served
  };
  // One that may come is counted until left() is called with the same two.
  Admission admit(const std::string& listener, const std::string& address, std::int64_t now_ns);
  void left(const std::string& listener, const std::string& address);

 private:
  struct OfListener {
    ConnectionLimits limits;
    std::int64_t open = 0;
    TurnTaker turns;
  };
  void follow_config();
  [[nodiscard]] std::string refusal(const std::string& name, const OfListener& listener,
                                    const std::string& address) const;

  const EffectiveConfig& config_;
  std::mutex mutex_;
  std::shared_ptr<const Config> current_;  // what the limits were made from
  ConnectionLimits limits_;
  std::int64_t open_ = 0;
  TurnTaker turns_;
  std::map<std::string, OfListener> listeners_;
  std::unordered_map<std::string, std::int32_t> of_address_;  // only where there is one
};

}  // namespace weir::broker
