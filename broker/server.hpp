// Server: the listeners and the open connections, a set for each io loop. Started and stopped by Broker; the sets
// belong to their loops. Stop order: listeners, then connections; what handlers still hold is dead weak references.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/connection.hpp"
#include "broker/connection_quotas.hpp"
#include "broker/per_loop.hpp"

namespace weir::broker {

class Server {
 public:
  explicit Server(Services& services);
  ~Server();

  // One call for each of the config's listeners. in_use when somebody else has the port.
  Result<Endpoint> listen(const ConfiguredListener& listener);
  // Closes listeners and connections; `done` runs on the first loop when all are gone.
  void stop(Task done);
  [[nodiscard]] std::int64_t connections() const { return open_.load(std::memory_order_relaxed); }

 private:
  struct LoopState {
    explicit LoopState(IoLoop& owner) : loop(owner) {}
    IoLoop& loop;
    std::unordered_map<Connection*, std::shared_ptr<Connection>> connections;
    bool stopping = false;
  };
  void accept(const ConfiguredListener& listener, std::unique_ptr<Stream> stream, IoLoop& loop);
  void begin(const ConfiguredListener& listener, std::unique_ptr<Stream> stream, LoopState& state);
  void refused(const std::string& address, const std::string& why);
  void close_all(LoopState& state);

  Services& services_;
  PerLoop<LoopState> loops_;
  ConnectionQuotas quotas_;
  std::atomic<Millis> refusal_told_ms_{0};
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::atomic<std::int64_t> open_{0};
};

}  // namespace weir::broker
