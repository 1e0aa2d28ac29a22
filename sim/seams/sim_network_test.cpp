#include "sim/seams/sim_network.hpp"

#include <gtest/gtest.h>

#include "sim/seams/seeds.hpp"
#include "sim/seams/sim_runtime.hpp"

namespace weir::sim {
namespace {

// Reads until the end and sends back all it gets; lives in the test.
struct Echo {
  std::unique_ptr<Stream> stream;
  std::vector<std::byte> buffer = std::vector<std::byte>(100);
  bool ended = false;
  void read() {
    stream->read_some(buffer, [this](Result<std::size_t> got) {
      if (!got) {
        ended = true;
        return;
      }
      stream->write(BufferChain{SharedBytes::copy_of(Bytes{buffer}.first(*got))}, [this](Result<void> wrote) {
        if (wrote) {
          read();
        } else {
          ended = true;
        }
      });
    });
  }
};

struct Client {
  std::unique_ptr<Stream> stream;
  std::vector<std::byte> buffer = std::vector<std::byte>(777);
  std::vector<std::byte> got;
  std::optional<Error> error;
  void read() {
    stream->read_some(buffer, [this](Result<std::size_t> count) {
      if (!count) {
        error = count.error();
        return;
      }
      got.insert(got.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*count));
      read();
    });
  }
};

struct Outcome {
  std::size_t echoed = 0;
  bool equal = false;
  std::uint64_t trace = 0;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome echo_run(std::uint64_t seed, std::size_t size, NetworkFaults faults) {
  SimMachine machine{seed};
  machine.network.set_faults(faults);
  Echo echo;
  Client client;
  const auto listener = machine.network
                            .listen({"127.0.0.1", 0}, machine.process.runtime().io,
                                    [&](std::unique_ptr<Stream> stream, IoLoop&) {
                                      echo.stream = std::move(stream);
                                      echo.read();
                                    })
                            .value();
  std::vector<std::byte> sent(size);
  Random random{seed};
  for (auto& byte : sent) {
    byte = static_cast<std::byte>(random.below(256));
  }
  machine.network.connect(listener->bound(), machine.process.io(0), [&](Result<std::unique_ptr<Stream>> stream) {
    client.stream = std::move(*stream);
    client.read();
    client.stream->write(BufferChain{SharedBytes::copy_of(sent)}, [](Result<void>) {});
  });
  machine.queue.run_until([&] { return client.got.size() == size || client.error.has_value(); }, 1'000'000);
  return {client.got.size(), client.got == sent, machine.queue.trace()};
}

TEST(SimNetwork, BytesComeBackInOrderWhateverThePiecesAndDelays) {
  for (const auto seed : seeds(30)) {
    EXPECT_TRUE(echo_run(seed, 100'000, {.delay_ms_max = 20}).equal) << "seed " << seed;
  }
}

TEST(SimNetwork, TheSameSeedGivesTheSameRun) {
  int different = 0;
  for (const auto seed : seeds(10)) {
    const NetworkFaults faults{.delay_ms_max = 50, .reset_one_in = 200};
    const auto first = echo_run(seed, 50'000, faults);
    EXPECT_EQ(first, echo_run(seed, 50'000, faults)) << "seed " << seed;
    different += first.trace == echo_run(seed + 1, 50'000, faults).trace ? 0 : 1;
  }
  EXPECT_GT(different, 0);
}

TEST(SimNetwork, AResetEndsBothSidesAndSomeRunsSeeOne) {
  int broken = 0;
  for (const auto seed : seeds(20)) {
    broken += echo_run(seed, 50'000, {.reset_one_in = 50}).equal ? 0 : 1;
  }
  EXPECT_GT(broken, 5);
}

struct Pair {
  explicit Pair(std::uint64_t seed) : machine(seed) {
    listener = machine.network
                   .listen({"127.0.0.1", 0}, machine.process.runtime().io,
                           [this](std::unique_ptr<Stream> stream, IoLoop&) { server = std::move(stream); })
                   .value();
    machine.network.connect(listener->bound(), machine.process.io(0),
                            [this](Result<std::unique_ptr<Stream>> stream) { client = std::move(*stream); });
    machine.queue.run_until_idle();
    EXPECT_TRUE(server && client);
  }
  SimMachine machine;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Stream> server;
  std::unique_ptr<Stream> client;
};

TEST(SimNetwork, TheEndOfAStreamFollowsItsData) {
  for (const auto seed : seeds(20)) {
    Pair pair{seed};
    pair.machine.network.set_faults({.delay_ms_max = 10});
    Client reader;
    reader.stream = std::move(pair.server);
    reader.read();
    pair.client->write(BufferChain{SharedBytes::copy_of(as_bytes("last words"))},
                       [&](Result<void>) { pair.client.reset(); });
    pair.machine.queue.run_until([&] { return reader.error.has_value(); }, 1000);
    EXPECT_EQ(as_text(reader.got), "last words") << "seed " << seed;
    EXPECT_EQ(reader.error->code, Errc::closed);
  }
}

TEST(SimNetwork, AWriterWaitsWhileTheWindowIsFullAndCloseEndsWhatIsPending) {
  Pair pair{1};
  std::optional<Result<void>> written;
  pair.client->write(BufferChain{SharedBytes::adopt(std::vector<std::byte>(1 << 20))},
                     [&](Result<void> r) { written = r; });
  pair.machine.queue.run_until_idle();
  EXPECT_FALSE(written.has_value()) << "nobody reads";
  pair.client->close();
  EXPECT_FALSE(written.has_value()) << "never called inside close()";
  pair.machine.queue.run_until_idle();
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(written->error().code, Errc::closed);
}

TEST(SimNetwork, ADestroyedStreamCallsNothing) {
  Pair pair{1};
  std::vector<std::byte> buffer(10);
  bool called = false;
  pair.server->read_some(buffer, [&](Result<std::size_t>) { called = true; });
  pair.client->write(BufferChain{SharedBytes::copy_of(as_bytes("x"))}, [](Result<void>) {});
  pair.server.reset();
  pair.machine.queue.run_until_idle();
  EXPECT_FALSE(called);
}

TEST(SimNetwork, APortHasOneListenerAndNobodyAnswersWithoutOne) {
  Pair pair{1};
  const auto at = pair.listener->bound();
  EXPECT_EQ(pair.machine.network.listen(at, pair.machine.process.runtime().io, {}).error(),
            (Error{Errc::in_use, at.port}));
  pair.listener.reset();
  std::optional<Error> refused;
  pair.machine.network.connect(at, pair.machine.process.io(0),
                               [&](Result<std::unique_ptr<Stream>> stream) { refused = stream.error(); });
  pair.machine.queue.run_until_idle();
  EXPECT_EQ(refused->code, Errc::closed);
}

TEST(SimRuntime, AKilledProcessClosesItsConnectionsCallsNothingAndFreesItsPort) {
  Pair pair{1};
  SimRuntime remote{pair.machine.queue, pair.machine.disk, pair.machine.network, 9};
  Client reader;
  pair.machine.network.connect(pair.listener->bound(), remote.io(0), [&](Result<std::unique_ptr<Stream>> stream) {
    reader.stream = std::move(*stream);
    reader.read();
  });
  pair.machine.queue.run_until_idle();
  // A session that only its own pending read keeps alive, as a real one may be.
  const auto session = std::make_shared<Client>();
  session->stream = std::move(pair.server);
  session->stream->read_some(session->buffer, [session](Result<std::size_t>) { FAIL() << "the process is dead"; });
  EXPECT_FALSE(reader.error.has_value());
  pair.machine.process.kill();
  pair.machine.queue.run_until_idle();
  ASSERT_TRUE(reader.error.has_value());
  EXPECT_EQ(reader.error->code, Errc::closed);
  EXPECT_EQ(session.use_count(), 1) << "nothing else holds it";
  const auto next = pair.machine.network.listen(pair.listener->bound(), remote.runtime().io, {});
  ASSERT_TRUE(next);
  pair.listener.reset();
  EXPECT_EQ(pair.machine.network.listen((*next)->bound(), remote.runtime().io, {}).error().code, Errc::in_use)
      << "the dead process's listener does not take the new one's port away";
}

}  // namespace
}  // namespace weir::sim
