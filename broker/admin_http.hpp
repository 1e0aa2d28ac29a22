// AdminHttp: /metrics (Prometheus text) and /healthz on loopback (mq.http.listen). Beast parses and writes HTTP; bytes
// come and go through the Stream seam, so it runs in the simulator too. One request a connection at a time, small
// limits.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/services.hpp"

namespace weir::broker {

class AdminHttp {
 public:
  AdminHttp(Services& services, IoLoop& loop) : services_(services), loop_(loop) {}
  ~AdminHttp();

  Result<Endpoint> listen(const Endpoint& at);
  void stop();  // on its loop

 private:
  class Session;
  struct Answer {
    unsigned status;
    std::string type;
    std::string body;
  };
  // nullopt: it is being measured, and the session is told when that is done.
  [[nodiscard]] std::optional<Answer> answer(std::string_view method, std::string_view target, Session& asker);
  void measure();

  Services& services_;
  IoLoop& loop_;
  std::unique_ptr<Listener> listener_;
  std::unordered_map<Session*, std::shared_ptr<Session>> sessions_;
  std::vector<std::weak_ptr<Session>> awaiting_metrics_;
  bool measuring_ = false;  // one at a time: who asks meanwhile waits for the next one
};

}  // namespace weir::broker
