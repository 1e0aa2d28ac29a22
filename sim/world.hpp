// World: one broker, its machine and its clients on one thread, from one seed. The broker is the real one, handlers and
// connections included; only disk, network, clock and executors are simulated (sim/seams). A crash ends the process or
// cuts the power; start_broker() then starts the next process on what is left of the disk.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "broker/broker.hpp"
#include "sim/seams/sim_runtime.hpp"
#include "tools/client/connection.hpp"

namespace weir::sim {

struct WorldOptions {
  std::size_t io_loops = 2;
  NetworkFaults network;
  Config config;
  // Puts something between the broker and its disk: how a test plants a bug.
  std::function<std::unique_ptr<Disk>(SimDisk&)> wrap_disk;
};

// Small segments and a small image, so that a short run sees rolls and reads from files. `more` wins.
Config small_broker_config(const std::vector<ConfigInput>& more = {});

class World {
 public:
  explicit World(std::uint64_t seed, WorldOptions options = {.config = small_broker_config()});
  ~World();

  // False: it did not start (the armed crash came first, or `why` says more).
  bool start_broker();
  void crash(CrashMode mode);
  // Orderly; true when it ended within a virtual minute.
  bool stop_broker();
  // The same in pieces, for what happens meanwhile: the answer becomes true when the broker has stopped; then its
  // process may end.
  std::shared_ptr<bool> begin_stop();
  void end_process();
  [[nodiscard]] bool running() const { return broker_ != nullptr; }
  [[nodiscard]] const std::string& why() const { return why_; }

  [[nodiscard]] EventQueue& queue() { return queue_; }
  [[nodiscard]] SimDisk& disk() { return disk_; }
  [[nodiscard]] SimNetwork& network() { return network_; }
  [[nodiscard]] SimLoop& client_loop() { return client_loop_; }
  [[nodiscard]] SimRuntime& process() { return *process_; }
  [[nodiscard]] Config& config() { return options_.config; }           // of the next start
  void set_io_loops(std::size_t loops) { options_.io_loops = loops; }  // the same
  [[nodiscard]] broker::Broker& broker() { return *broker_; }
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] const Endpoint& address() const { return address_; }

  // Client calls that run the world until they are answered, for `patience_ms` of virtual time at most (timed_out).
  static constexpr Millis kPatienceMs = 60'000;
  Result<std::shared_ptr<client::Connection>> connect();
  template <class Request, class Response>
  Result<client::Answered<Response>> call(client::Connection& connection, const Request& request,
                                          Millis patience_ms = kPatienceMs) {
    auto answer = std::make_shared<std::optional<Result<client::Answered<Response>>>>();
    connection.call<Request, Response>(request,
                                       [answer](Result<client::Answered<Response>> got) { *answer = std::move(got); });
    if (!run_until([&] { return answer->has_value(); }, patience_ms)) {
      return Errc::timed_out;
    }
    return std::move(**answer);
  }
  // Also ends when the armed crash of the disk has been reached.
  bool run_until(const std::function<bool()>& done, Millis patience_ms);

 private:
  Random random_;
  EventQueue queue_;
  SimDisk disk_;
  SimNetwork network_;
  SimLoop client_loop_;
  WorldOptions options_;
  Endpoint address_{"127.0.0.1", 9092};
  Uuid boot_id_;  // of the machine; a new one after a power cut
  std::string why_;
  std::unique_ptr<Disk> wrapped_;
  std::unique_ptr<SimRuntime> process_;
  std::optional<Runtime> runtime_;
  std::unique_ptr<broker::Broker> broker_;
};

}  // namespace weir::sim
