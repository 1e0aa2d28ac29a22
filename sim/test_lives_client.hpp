// A client of broker_lives_sim_test: a connection that is opened again when it breaks, and each request on it until it
// has been answered or its connection closed. Lives in the world.
#pragma once

#include <algorithm>
#include <list>
#include <memory>
#include <string>

#include "sim/world.hpp"

namespace weir::sim {

class LivesClient {
 public:
  LivesClient(World& world, std::string name) : world_(world), name_(std::move(name)) {}
  ~LivesClient() {
    *alive_ = false;
    close();
  }
  LivesClient(const LivesClient&) = delete;
  LivesClient& operator=(const LivesClient&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool ready() const { return connection_ != nullptr && !connection_->closed(); }
  // Counts connections: what was asked on an older one is lost.
  [[nodiscard]] std::uint64_t session() const { return session_; }
  [[nodiscard]] std::size_t unanswered() const { return under_way_.size(); }
  void close() {
    if (connection_) {
      connection_->close();
    }
  }

  // Begins to connect unless it does or is.
  void connect() {
    if (ready() || connecting_) {
      return;
    }
    connecting_ = true;
    client::Connection::open(world_.network(), world_.client_loop(), world_.address(), name_,
                             [this, alive = alive_](Result<std::shared_ptr<client::Connection>> opened) {
                               if (!*alive) {
                                 return;
                               }
                               connecting_ = false;
                               if (opened) {
                                 connection_ = std::move(*opened);
                                 ++session_;
                               }
                             });
  }
  // `done` hears null when the connection closes before the answer. Only if ready().
  template <class Request, class Response>
  void ask(const std::string& what, const Request& request, std::int16_t version,
           std::function<void(const Response*)> done) {
    under_way_.push_back({what, world_.queue().clock().monotonic_ms()});
    const auto mine = std::prev(under_way_.end());
    const auto connection = connection_;  // a callback may close it
    connection->call_version<Request, Response>(
        request, version, [this, alive = alive_, mine, done](const Result<client::Answered<Response>>& answer) {
          if (*alive) {
            under_way_.erase(mine);
            done(answer ? &answer->response : nullptr);
          }
        });
  }
  template <class Request>
  void tell(const Request& request) {
    connection_->tell(request);
  }
  // What nobody has answered for a minute, or "".
  [[nodiscard]] std::string forgotten() const {
    constexpr Millis kPatienceMs = 60'000;
    const auto now = world_.queue().clock().monotonic_ms();
    for (const auto& one : under_way_) {
      if (now - one.begun_ms > kPatienceMs) {
        return name_ + " asked " + one.what + " at " + std::to_string(one.begun_ms) + " and hears nothing";
      }
    }
    return "";
  }

 private:
  struct UnderWay {
    std::string what;
    Millis begun_ms;
  };
  World& world_;
  std::string name_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::shared_ptr<client::Connection> connection_;
  std::list<UnderWay> under_way_;
  std::uint64_t session_ = 0;
  bool connecting_ = false;
};

}  // namespace weir::sim
