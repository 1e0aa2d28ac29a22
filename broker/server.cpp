#include "broker/server.hpp"

#include "base/logging.hpp"

namespace weir::broker {

Server::Server(Services& services) : services_(services), loops_(services.runtime.io) {}

// After stop() nothing is left. Without it the world has ended (the simulator kills processes) and nobody is told.
Server::~Server() = default;

Result<Endpoint> Server::listen(const Endpoint& at) {
  WEIR_TRY(auto listener, services_.runtime.network.listen(at, services_.runtime.io,
                                                           [this](std::unique_ptr<Stream> stream, IoLoop& loop) {
                                                             accept(std::move(stream), loop);
                                                           }));
  listeners_.push_back(std::move(listener));
  return listeners_.back()->bound();
}

void Server::accept(std::unique_ptr<Stream> stream, IoLoop& loop) {
  auto& state = loops_.of(loop);
  if (state.stopping) {
    return;
  }
  const auto most = services_.effective.current()->max_connections;
  if (open_.load(std::memory_order_relaxed) >= most) {
    services_.metrics.connections_refused.add();
    WEIR_LOG(warn, "refusing {}: max.connections ({}) are open", to_string(stream->remote_endpoint()), most);
    return;
  }
  open_.fetch_add(1, std::memory_order_relaxed);
  services_.metrics.connections_accepted.add();
  services_.metrics.connections_open.add(1);
  auto connection =
      std::make_shared<Connection>(services_, loop, std::move(stream), [this, &state](Connection& closed) {
        // Destroyed in a later turn: a stream may be in the middle of a continuation that led here.
        auto node = state.connections.extract(&closed);
        state.loop.post([this, connection = std::move(node.mapped())]() mutable {
          connection.reset();
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
