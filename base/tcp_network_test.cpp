#include "base/tcp_network.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <future>
#include <thread>

#include "base/logging.hpp"
#include "base/random.hpp"
#include "base/real_runtime.hpp"
#include "base/temporary_folder.hpp"

namespace weir {
namespace {

SharedBytes random_bytes(std::size_t size, std::uint64_t seed) {
  Random random{seed};
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) {
    byte = static_cast<std::byte>(random.next());
  }
  return SharedBytes::adopt(std::move(bytes));
}

// A session that lives by its own continuations, as a careless one would: it must end with its stream all the same.
struct Echo : std::enable_shared_from_this<Echo> {
  explicit Echo(std::unique_ptr<Stream> s) : stream(std::move(s)) {}
  void read() {
    stream->read_some(buffer, [self = shared_from_this()](Result<std::size_t> got) {
      if (got) {
        self->stream->write(BufferChain{SharedBytes::copy_of(Bytes{self->buffer}.first(*got))},
                            [self](Result<void> wrote) {
                              if (wrote) {
                                self->read();
                              }
                            });
      }
    });
  }
  std::unique_ptr<Stream> stream;
  std::vector<std::byte> buffer = std::vector<std::byte>(64 * 1024);
};

// Blocking calls on a stream, from the test's thread.
class Peer {
 public:
  Peer(Network& network, const Endpoint& to, IoLoop& loop) : loop_(loop) {
    std::promise<Result<std::unique_ptr<Stream>>> connected;
    network.connect(to, loop, [&](Result<std::unique_ptr<Stream>> stream) { connected.set_value(std::move(stream)); });
    auto result = connected.get_future().get();
    if (result) {
      stream_ = std::move(*result);
    } else {
      error_ = result.error();
    }
  }
  ~Peer() { end(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void end() {
    if (stream_ == nullptr) {
      return;
    }
    on_loop<int>([this](std::promise<int>& done) {
      stream_.reset();
      done.set_value(0);
    });
  }
  Result<void> write(BufferChain data) {
    return on_loop<Result<void>>([&](std::promise<Result<void>>& done) {
      stream_->write(std::move(data), [&done](Result<void> wrote) { done.set_value(wrote); });
    });
  }
  std::vector<std::byte> read(std::size_t size) {
    std::vector<std::byte> all(size);
    std::size_t got = 0;
    while (got < size) {
      const auto count = on_loop<Result<std::size_t>>([&](std::promise<Result<std::size_t>>& done) {
        stream_->read_some(MutableBytes{all}.subspan(got), [&done](Result<std::size_t> n) { done.set_value(n); });
      });
      if (!count) {
        error_ = count.error();
        break;
      }
      got += *count;
    }
    all.resize(got);
    return all;
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  Stream& stream() { return *stream_; }
  std::unique_ptr<Stream> take() { return std::move(stream_); }
  IoLoop& loop() { return loop_; }

 private:
  template <class T, class Start>
  T on_loop(Start start) {
    std::promise<T> done;
    loop_.post([&] { start(done); });
    return done.get_future().get();
  }
  IoLoop& loop_;
  std::unique_ptr<Stream> stream_;
  std::optional<Error> error_;
};

struct Fixture {
  std::unique_ptr<Listener> echo(const Endpoint& at) {
    return runtime.network
        .listen(at, runtime.io,
                [](std::unique_ptr<Stream> stream, IoLoop&) {
                  const auto session = std::make_shared<Echo>(std::move(stream));
                  session->read();
                })
        .value();
  }
  RealRuntime real{2};
  Runtime runtime = real.runtime();
};

TEST(TcpNetwork, AnEchoComesBackOverBothFamiliesAndNames) {
  Fixture world;
  for (const auto* host : {"127.0.0.1", "::1", "localhost"}) {
    const auto listener = world.echo({host, 0});
    EXPECT_NE(listener->bound().port, 0);
    Peer peer{world.runtime.network, {host, listener->bound().port}, *world.runtime.io[0]};
    ASSERT_FALSE(peer.error()) << host;
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(peer.write(BufferChain{SharedBytes::copy_of(as_bytes("ping"))}));
      EXPECT_EQ(as_text(peer.read(4)), "ping") << host;
    }
    EXPECT_EQ(peer.stream().remote_endpoint(), listener->bound());
    EXPECT_NE(peer.stream().local_endpoint().port, 0);
  }
}

// Answers the first bytes of each connection with `answer` and then closes.
std::unique_ptr<Listener> answering(Fixture& world, const BufferChain& answer) {
  struct Session {
    std::unique_ptr<Stream> stream;
    std::vector<std::byte> buffer = std::vector<std::byte>(16);
  };
  return world.runtime.network
      .listen({"127.0.0.1", 0}, world.runtime.io,
              [answer](std::unique_ptr<Stream> stream, IoLoop&) {
                const auto session = std::make_shared<Session>();
                session->stream = std::move(stream);
                session->stream->read_some(session->buffer, [session, answer](Result<std::size_t>) {
                  session->stream->write(answer, [session](Result<void>) { session->stream->close(); });
                });
              })
      .value();
}

TEST(TcpNetwork, ManyPiecesAndFileRunsArriveInOrder) {
  Fixture world;
  TemporaryFolder folder;
  const auto content = random_bytes(5'000'000, 1);
  const auto file = world.runtime.disk.open(folder.file("a"), {.create = true}).value();
  const auto view = content.view();
  ASSERT_TRUE(file->write_at(0, std::span{&view, 1}));
  BufferChain chain;
  std::vector<std::byte> expected;
  const auto memory = [&](std::size_t from, std::size_t size) {
    chain.append(content.part(from, size));
    expected.insert(expected.end(), view.begin() + static_cast<std::ptrdiff_t>(from),
                    view.begin() + static_cast<std::ptrdiff_t>(from + size));
  };
  const auto run = [&](std::int64_t from, std::size_t size) {
    chain.append(FileRun{.handle = file->handle(), .position = from, .size = size, .owner = file});
    expected.insert(expected.end(), view.begin() + from, view.begin() + from + static_cast<std::ptrdiff_t>(size));
  };
  const auto gathered = [&](std::size_t views) {
    GatheredBytes many{.views = {}, .owners = {content.owner()}};
    for (std::size_t i = 0; i < views; ++i) {
      const auto part = view.subspan(i * 4000, 1 + i);
      many.views.push_back(part);
      many.size_bytes += part.size();
      expected.insert(expected.end(), part.begin(), part.end());
    }
    chain.append(std::make_shared<const GatheredBytes>(std::move(many)));
  };
  memory(0, 10);
  gathered(3);
  run(1000, 3'000'000);
  gathered(1000);
  run(7, 1);
  for (std::size_t i = 0; i < 300; ++i) {
    memory(i * 5000, 1 + i * 10);
  }
  memory(0, 5'000'000);
  gathered(700);
  run(0, 100);
  gathered(1);
  const auto listener = answering(world, chain);
  Peer peer{world.runtime.network, listener->bound(), *world.runtime.io[1]};
  ASSERT_TRUE(peer.write(BufferChain{SharedBytes::copy_of(as_bytes("go"))}));
  const auto got = peer.read(expected.size() + 1);
  EXPECT_EQ(peer.error()->code, Errc::closed) << "the end follows the data";
  EXPECT_TRUE(got == expected) << got.size() << " of " << expected.size();
}

TEST(TcpNetwork, AFileShorterThanItsRunEndsTheConnection) {
  Fixture world;
  TemporaryFolder folder;
  const auto file = world.runtime.disk.open(folder.file("a"), {.create = true}).value();
  const auto text = as_bytes("short");
  ASSERT_TRUE(file->write_at(0, std::span{&text, 1}));
  BufferChain chain;
  chain.append(FileRun{.handle = file->handle(), .position = 0, .size = 100, .owner = file});
  const auto listener = answering(world, chain);
  Peer peer{world.runtime.network, listener->bound(), *world.runtime.io[1]};
  ASSERT_TRUE(peer.write(BufferChain{SharedBytes::copy_of(as_bytes("go"))}));
  EXPECT_EQ(as_text(peer.read(100)), "short");
  EXPECT_TRUE(peer.error());
}

TEST(TcpNetwork, APortInUseAndAnAddressThatIsNotOursAndAnUnknownNameAreNamed) {
  Fixture world;
  const auto first = world.echo({"127.0.0.1", 0});
  const auto port = first->bound().port;
  auto& network = world.runtime.network;
  EXPECT_EQ(network.listen({"127.0.0.1", port}, world.runtime.io, {}).error(), (Error{Errc::in_use, port}));
  EXPECT_EQ(network.listen({"192.0.2.1", 0}, world.runtime.io, {}).error().code, Errc::invalid_argument);
  EXPECT_EQ(network.listen({"no such host", 0}, world.runtime.io, {}).error().code, Errc::not_found);
}

TEST(TcpNetwork, NobodyAnswersOnceTheListenerHasEnded) {
  Fixture world;
  auto listener = world.echo({"127.0.0.1", 0});
  const auto at = listener->bound();
  listener.reset();
  Peer peer{world.runtime.network, at, *world.runtime.io[0]};
  ASSERT_TRUE(peer.error());
  EXPECT_EQ(peer.error()->code, Errc::closed);
}

TEST(TcpNetwork, CloseEndsAPendingReadLaterAndADestroyedStreamCallsNothing) {
  Fixture world;
  const auto listener = world.echo({"127.0.0.1", 0});
  Peer closing{world.runtime.network, listener->bound(), *world.runtime.io[0]};
  std::promise<Result<std::size_t>> ended;
  std::vector<std::byte> buffer(10);
  bool inside = false;
  closing.loop().post([&] {
    inside = true;
    closing.stream().read_some(buffer, [&](Result<std::size_t> got) {
      EXPECT_FALSE(inside);
      ended.set_value(got);
    });
    closing.stream().close();
    closing.stream().close();
    inside = false;
  });
  EXPECT_EQ(ended.get_future().get().error().code, Errc::closed);
  EXPECT_EQ(closing.write(BufferChain{SharedBytes::copy_of(as_bytes("x"))}).error().code, Errc::closed);

  Peer dropping{world.runtime.network, listener->bound(), *world.runtime.io[0]};
  const auto owned = std::make_shared<int>(0);
  dropping.loop().post([&, owned] {
    dropping.stream().read_some(buffer, [owned](Result<std::size_t>) { ++*owned; });
    dropping.stream().write(BufferChain{SharedBytes::copy_of(as_bytes("x"))}, [owned](Result<void>) { ++*owned; });
    dropping.take().reset();
  });
  closing.end();
  world.real.stop();
  EXPECT_EQ(*owned, 0);
  EXPECT_EQ(owned.use_count(), 1) << "nothing keeps what the continuations owned";
}

TEST(TcpNetwork, AConnectionWithUnreadDataOnTheWayStopsWithTheWorld) {
  Fixture world;
  const auto listener = world.echo({"127.0.0.1", 0});
  auto peer = std::make_unique<Peer>(world.runtime.network, listener->bound(), *world.runtime.io[0]);
  // More than both socket buffers hold, and nobody reads the echo: this write and the session's stay pending.
  peer->loop().post([&] {
    peer->stream().write(BufferChain{random_bytes(32U << 20U, 1)}, [](Result<void> wrote) { EXPECT_FALSE(wrote); });
  });
  EXPECT_EQ(peer->read(1000).size(), 1000U);
  peer.reset();
}

TEST(TcpNetwork, ConnectionsAreDealtToTheLoopsInTurn) {
  Fixture world;
  std::mutex mutex;
  std::map<IoLoop*, int> dealt;
  std::promise<void> all;
  std::vector<std::unique_ptr<Stream>> kept;
  auto listener = world.runtime.network
                      .listen({"127.0.0.1", 0}, world.runtime.io,
                              [&](std::unique_ptr<Stream> stream, IoLoop& loop) {
                                stream.reset();
                                const std::lock_guard guard{mutex};
                                ++dealt[&loop];
                                if (dealt[world.runtime.io[0]] + dealt[world.runtime.io[1]] == 10) {
                                  all.set_value();
                                }
                              })
                      .value();
  for (int i = 0; i < 10; ++i) {
    const Peer peer{world.runtime.network, listener->bound(), *world.runtime.io[0]};
    EXPECT_FALSE(peer.error());
  }
  all.get_future().get();
  listener.reset();
  const std::lock_guard guard{mutex};
  EXPECT_EQ(dealt[world.runtime.io[0]], 5);
  EXPECT_EQ(dealt[world.runtime.io[1]], 5);
}

// While it lives, this process may open `more` descriptors and no others.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t more) {
    const auto lowest_free = ::dup(0);
    ::close(lowest_free);
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit now = before_;
    now.rlim_cur = static_cast<rlim_t>(lowest_free) + more;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &now), 0);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

bool answers(Peer& peer) {
  return !peer.error() && peer.write(BufferChain{SharedBytes::copy_of(as_bytes("ping"))}) &&
         as_text(peer.read(4)) == "ping";
}

TEST(TcpNetwork, NearTheDescriptorLimitNewConnectionsAreClosedAndTheLogSaysSoOnce) {
  Fixture world;
  const LogCapture log;
  const DescriptorLimit limit{60};
  const auto listener = world.echo({"127.0.0.1", 0});
  const auto connect = [&] {
    return std::make_unique<Peer>(world.runtime.network, listener->bound(), *world.runtime.io[0]);
  };
  std::vector<std::unique_ptr<Peer>> served;
  auto next = connect();
  while (answers(*next) && served.size() < 60) {
    served.push_back(std::exchange(next, nullptr));
    next = connect();
  }
  EXPECT_GE(served.size(), 10U);
  EXPECT_LT(served.size(), 30U) << "both ends are of this process";
  EXPECT_FALSE(answers(*connect()));
  EXPECT_TRUE(answers(*served.front())) << "who is there stays";
  ASSERT_EQ(log.lines().size(), 1U);
  EXPECT_TRUE(log.lines().front().starts_with("WARN  closing new connections to 127.0.0.1:")) << log.lines().front();

  served.resize(5);
  auto again = connect();
  for (int i = 0; i < 10'000 && !answers(*again); ++i) {  // the other ends close a moment later
    again = connect();
  }
  EXPECT_TRUE(answers(*again));
}

TEST(TcpNetwork, WithoutAnyDescriptorConnectionsWaitAndAreServedLater) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer of that build looks at objects through a pipe of its own, which needs descriptors";
#endif
  Fixture world;
  const auto listener = world.echo({"127.0.0.1", 0});
  const LogCapture log;
  std::array<int, 3> clients{};
  for (auto& client : clients) {
    client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_GE(client, 0);
  }
  {
    const DescriptorLimit limit{0};
    sockaddr_in at{.sin_family = AF_INET,
                   .sin_port = htons(listener->bound().port),
                   .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)},
                   .sin_zero = {}};
    for (const auto client : clients) {
      ASSERT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&at), sizeof(at)), 0);
      ASSERT_EQ(::send(client, "ping", 4, MSG_NOSIGNAL), 4);
    }
    while (log.lines().empty()) {
      std::this_thread::yield();
    }
  }
  for (const auto client : clients) {
    std::array<char, 4> got{};
    EXPECT_EQ(::recv(client, got.data(), got.size(), MSG_WAITALL), 4);
    ::close(client);
  }
  ASSERT_EQ(log.lines().size(), 1U);
  EXPECT_TRUE(log.lines().front().starts_with("ERROR new connections to 127.0.0.1:")) << log.lines().front();
}

}  // namespace
}  // namespace weir
