#include "broker/server.hpp"

#include "base/logging.hpp"

namespace weir::broker {

namespace {
constexpr Millis kSilentMs = 1'000;  // between two lines about refused connections
}

Server::Server(Services& services)
    : services_(services), loops_(services.runtime.io), quotas_(services.effective), refusal_told_ms_(-kSilentMs) {}

// After stop() nothing is left. Without it the world has ended (the simulator kills processes) and nobody is told.
Server::~Server() = default;

Result<Endpoint> Server::listen(const ConfiguredListener& listener) {
  WEIR_TRY(auto opened,
           services_.runtime.network.listen(listener.endpoint, services_.runtime.io,
                                            [this, &listener](std::unique_ptr<Stream> stream, IoLoop& loop) {
                                              accept(listener, std::move(stream), loop);
                                            }));
  listeners_.push_back(std::move(opened));
  return listeners_.back()->bound();
}

// Many may be refused in a second: one line tells of the first, the counter of all.
void Server::refused(const std::string& address, const std::string& why) {
  services_.metrics.connections_refused.add();
  const auto now = services_.runtime.clock.monotonic_ms();
  auto told = refusal_told_ms_.load(std::memory_order_relaxed);
  if (now - told >= kSilentMs && refusal_told_ms_.compare_exchange_strong(told, now, std::memory_order_relaxed)) {
    WEIR_LOG(warn, "refusing {}: {}", address, why);
  }
}

void Server::accept(const ConfiguredListener& listener, std::unique_ptr<Stream> stream, IoLoop& loop) {
  auto& state = loops_.of(loop);
  if (state.stopping) {
    return;
  }
  const auto& clock = services_.runtime.clock;
  const auto remote = stream->remote_endpoint();
  const auto admission = quotas_.admit(listener.name, remote.host, clock.monotonic_ns());
  if (!admission.refused.empty()) {
    return refused(to_string(remote), admission.refused);
  }
  if (admission.wait_ms == 0) {
    return begin(listener, std::move(stream), state);
  }
  loop.timers().schedule(clock.monotonic_ms() + admission.wait_ms,
                         [this, &listener, &state, stream = std::move(stream)]() mutable {
                           if (!state.stopping) {
                             begin(listener, std::move(stream), state);
                           }
                         });
}

void Server::begin(const ConfiguredListener& listener, std::unique_ptr<Stream> stream, LoopState& state) {
  open_.fetch_add(1, std::memory_order_relaxed);
  services_.metrics.connections_accepted.add();
  services_.metrics.connections_open.add(1);
  const auto address = stream->remote_endpoint().host;
  auto connection = std::make_shared<Connection>(
      services_, state.loop, listener, std::move(stream), [this, &listener, &state, address](Connection& closed) {
        // Destroyed in a later turn: a stream may be in the middle of a continuation that led here.
        auto node = state.connections.extract(&closed);
        state.loop.post([this, &listener, address, connection = std::move(node.mapped())]() mutable {
          connection.reset();
          quotas_.left(listener.name, address);
          open_.fetch_sub(1, std::memory_order_relaxed);
          services_.metrics.connections_open.add(-1);
        });
      });
  state.connections.emplace(connection.get(), connection);
  connection->start();
}

void Server::close_all(LoopState& state) {
  state.stopping = true;
  while (!state.connections.empty()) {
    const auto connection = state.connections.begin()->second;
    connection->close();
  }
}

void Server::stop(Task done) {
  listeners_.clear();
  const auto left = std::make_shared<std::atomic<std::size_t>>(loops_.size());
  const auto finished = std::make_shared<Task>(std::move(done));
  loops_.for_each([&](LoopState& state) {
    state.loop.post([this, &state, left, finished] {
      close_all(state);
      // After the destructions that close_all has posted to this loop.
      state.loop.post([this, left, finished] {
        if (left->fetch_sub(1) == 1) {
          services_.runtime.io.front()->post([finished] { (*finished)(); });
        }
      });
    });
  });
}

}  // namespace weir::broker
