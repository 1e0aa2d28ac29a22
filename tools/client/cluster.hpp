// Cluster: the brokers behind one address, as a client sees them: topics with their leaders, one connection to each
// node that is needed, opened again when it broke, and calls that end in time. Belongs to its loop; only tasks of that
// loop may use it. Made as a shared_ptr, because answers may come after its user has gone.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "tools/client/connection.hpp"

namespace weir::client {

struct PartitionInfo {
  std::int32_t index = 0;
  std::int32_t leader = -1;
  std::int32_t leader_epoch = -1;
  std::int16_t error = 0;
};

struct TopicInfo {
  std::string name;
  Uuid id;
  std::int16_t error = 0;
  bool internal = false;
  std::vector<PartitionInfo> partitions;  // by index
};

class Cluster : public std::enable_shared_from_this<Cluster> {
 public:
  static constexpr std::int32_t kAnyNode = -1;  // an address that the user named
  static constexpr std::int16_t kNewest = INT16_MAX;

  struct Options {
    std::vector<Endpoint> bootstrap;  // at least one; asked in turn until one answers, which is then asked on
    std::string client_id = "weir-cli";
    Millis timeout_ms = 10'000;  // of one call, and of opening a connection
  };
  using OnTopics = UniqueFunction<void(Result<std::vector<TopicInfo>>)>;

  static std::shared_ptr<Cluster> make(Network& network, IoLoop& loop, const Clock& clock, Options options) {
    return std::shared_ptr<Cluster>{new Cluster(network, loop, clock, std::move(options))};
  }

  // `done` runs once. timed_out closes the connection: answers come in order, so nothing behind a lost one is of use.
  template <class Request, class Response>
  void call(std::int32_t node, std::shared_ptr<const Request> request,
            UniqueFunction<void(Result<Answered<Response>>)> done, std::int16_t version_max = kNewest) {
    connect(node, [self = shared_from_this(), request = std::move(request), version_max,
                   done = std::move(done)](const Result<std::shared_ptr<Connection>>& ready) mutable {
      if (!ready) {
        return done(ready.error());
      }
      const auto connection = *ready;
      const auto version = connection->common_version(Request::kApiKey, Request::kMinVersion,
                                                      std::min(version_max, Request::kMaxVersion));
      if (!version) {
        return done(version.error());
      }
      const auto late = std::make_shared<bool>(false);
      const auto timer = self->after(self->options_.timeout_ms, [connection, late] {
        *late = true;
        connection->close();
      });
      connection->call_version<Request, Response>(
          *request, *version, [self, late, timer, done = std::move(done)](Result<Answered<Response>> answer) mutable {
            self->loop_.timers().cancel(timer);
            if (*late) {
              return done(Errc::timed_out);
            }
            done(std::move(answer));
          });
    });
  }

  // An open connection to a node: the one there is, or a new one.
  void connect(std::int32_t node, Connection::OnReady done);
  // Learns nodes and leaders. No names: all topics. `create`: a topic that is not there is made, if the broker does
  // that.
  void topics(std::optional<std::vector<std::string>> names, bool create, OnTopics done);
  TimerQueue::TimerId after(Millis delay_ms, Task task);
  void close();  // all connections

  [[nodiscard]] IoLoop& loop() { return loop_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  Cluster(Network& network, IoLoop& loop, const Clock& clock, Options options)
      : network_(network), loop_(loop), clock_(clock), options_(std::move(options)) {}
  void connect_to(const Endpoint& at, Connection::OnReady done);
  void connect_to_any(std::size_t tries, Connection::OnReady done);

  Network& network_;
  IoLoop& loop_;
  const Clock& clock_;
  Options options_;
  std::map<std::int32_t, Endpoint> nodes_;
  std::map<std::string, std::shared_ptr<Connection>> connections_;  // by address
  std::size_t bootstrap_at_ = 0;
  bool closed_ = false;
};

}  // namespace weir::client
