#include "sim/seams/sim_network.hpp"

#include "sim/seams/sim_stream.hpp"

namespace weir::sim {
namespace {
constexpr std::uint16_t kFirstFreePort = 40000;
constexpr std::string_view kSimHost = "127.0.0.1";
}  // namespace

struct SimNetwork::State {
  struct Bound {
    std::vector<IoLoop*> loops;
    OnAccept on_accept;
    std::size_t next_loop = 0;
  };
  State(EventQueue& event_queue, std::uint64_t seed) : queue(event_queue), random(seed) {}

  std::uint16_t free_port() {
    while (bound.contains(next_port)) {
      ++next_port;
    }
    return next_port++;
  }

  EventQueue& queue;
  Random random;
  NetworkFaults faults;
  std::map<std::uint16_t, std::shared_ptr<Bound>> bound;
  std::vector<std::pair<std::uint64_t, IoLoop*>> connecting;  // a loop that was dropped meanwhile is null
  std::uint64_t next_connect = 0;
  std::vector<std::weak_ptr<SimConnection>> connections;
  std::uint16_t next_port = kFirstFreePort;
};

namespace {
class SimListener final : public Listener {
 public:
  SimListener(std::shared_ptr<SimNetwork::State> state, Endpoint at, std::shared_ptr<SimNetwork::State::Bound> mine)
      : state_(std::move(state)), at_(std::move(at)), mine_(std::move(mine)) {}
  ~SimListener() override {
    const auto found = state_->bound.find(at_.port);
    if (found != state_->bound.end() && found->second == mine_) {  // not that of a process that came later
      state_->bound.erase(found);
    }
  }
  SimListener(const SimListener&) = delete;
  SimListener& operator=(const SimListener&) = delete;
  [[nodiscard]] Endpoint bound() const override { return at_; }

 private:
  std::shared_ptr<SimNetwork::State> state_;
  Endpoint at_;
  std::shared_ptr<SimNetwork::State::Bound> mine_;
};

// A stream on its way to the task that hands it out: if that task is dropped, the stream closes.
void accept(const std::shared_ptr<SimNetwork::State>& state, const Endpoint& to, IoLoop& client_loop,
            UniqueFunction<void(Result<std::unique_ptr<Stream>>)> done) {
  const auto found = state->bound.find(to.port);
  if (found == state->bound.end()) {
    client_loop.post([done = std::move(done)]() mutable { done(Errc::closed); });
    return;
  }
  const auto bound = found->second;
  auto& server_loop = *bound->loops[bound->next_loop++ % bound->loops.size()];
  const auto connection = std::make_shared<SimConnection>(state->queue, state->random.next(), state->faults);
  std::erase_if(state->connections, [](const auto& weak) { return weak.expired(); });
  state->connections.push_back(connection);
  connection->sides[0].loop = &client_loop;
  connection->sides[0].endpoint = {.host = std::string(kSimHost), .port = state->free_port()};
  connection->sides[1].loop = &server_loop;
  connection->sides[1].endpoint = {.host = std::string(kSimHost), .port = to.port};
  server_loop.post([bound, &server_loop, stream = make_sim_stream(connection, 1)]() mutable {
    bound->on_accept(std::move(stream), server_loop);
  });
  client_loop.post(
      [done = std::move(done), stream = make_sim_stream(connection, 0)]() mutable { done(std::move(stream)); });
}
}  // namespace

SimNetwork::SimNetwork(EventQueue& queue, std::uint64_t seed) : state_(std::make_shared<State>(queue, seed)) {}
SimNetwork::~SimNetwork() = default;

Result<std::unique_ptr<Listener>> SimNetwork::listen(const Endpoint& at, std::vector<IoLoop*> loops,
                                                     OnAccept on_accept) {
  WEIR_CHECK(!loops.empty());
  const auto port = at.port == 0 ? state_->free_port() : at.port;
  if (state_->bound.contains(port)) {
    return {Errc::in_use, port};
  }
  auto bound = std::make_shared<State::Bound>();
  bound->loops = std::move(loops);
  bound->on_accept = std::move(on_accept);
  state_->bound.emplace(port, bound);
  return std::unique_ptr<Listener>(
      std::make_unique<SimListener>(state_, Endpoint{.host = at.host, .port = port}, std::move(bound)));
}

void SimNetwork::connect(const Endpoint& to, IoLoop& loop, UniqueFunction<void(Result<std::unique_ptr<Stream>>)> done) {
  const auto delay_max = static_cast<std::uint64_t>(state_->faults.delay_ms_max);
  const auto delay_ms = static_cast<Millis>(state_->random.below(delay_max + 1));
  const auto id = state_->next_connect++;
  state_->connecting.emplace_back(id, &loop);
  state_->queue.after(delay_ms, [state = state_, to, id, done = std::move(done)]() mutable {
    const auto found = std::ranges::find(state->connecting, id, [](const auto& entry) { return entry.first; });
    auto* alive = found->second;
    state->connecting.erase(found);
    if (alive != nullptr) {
      accept(state, to, *alive, std::move(done));
    }
  });
}

void SimNetwork::set_faults(NetworkFaults faults) {
  state_->faults = faults;
  for (const auto& weak : state_->connections) {
    if (const auto connection = weak.lock()) {
      connection->faults = faults;
    }
  }
}

void SimNetwork::reset_all() {
  for (const auto& weak : state_->connections) {
    if (const auto connection = weak.lock()) {
      reset_connection(connection);
    }
  }
}

void SimNetwork::drop(IoLoop& loop) {
  std::erase_if(state_->bound, [&](const auto& entry) {
    return std::ranges::find(entry.second->loops, &loop) != entry.second->loops.end();
  });
  for (auto& [id, connecting] : state_->connecting) {
    connecting = connecting == &loop ? nullptr : connecting;
  }
  const auto all = state_->connections;  // what a continuation owned may call back while it is destroyed
  for (const auto& weak : all) {
    const auto connection = weak.lock();
    for (int side = 0; connection && side < 2; ++side) {
      if (connection->sides[side].loop == &loop) {
        drop_side(connection, side);
      }
    }
  }
}

std::size_t SimNetwork::connections() const {
  return static_cast<std::size_t>(std::ranges::count_if(state_->connections, [](const auto& weak) {
    const auto connection = weak.lock();
    return connection && !connection->reset && !connection->sides[0].closed && !connection->sides[1].closed;
  }));
}

}  // namespace weir::sim
