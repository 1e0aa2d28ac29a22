#include "base/tcp_network.hpp"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/io_thread.hpp"
#include "base/logging.hpp"
#include "base/tcp_address.hpp"
#include "base/tcp_stream.hpp"

namespace weir {
namespace {
constexpr int kBacklog = 1024;
constexpr Millis kAcceptPauseMs = 100;  // after the process ran out of descriptors
constexpr Millis kSilentMs = 10'000;    // between two lines about that
// Of the descriptors that this process may have, an eighth is not given to connections: a log that cannot open its next
// file is worse off than a client that must come back.
constexpr rlim_t kReservedMin = 16;
constexpr rlim_t kReservedMax = 1024;

rlim_t descriptor_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

using OnConnected = UniqueFunction<void(Result<std::unique_ptr<Stream>>)>;

IoThread& io_thread(IoLoop& loop) {
  auto* thread = dynamic_cast<IoThread*>(&loop);
  WEIR_CHECK(thread != nullptr);
  return *thread;
}

// A socket that nobody has taken over yet: closed if the task that carries it is dropped.
class OwnedSocket {
 public:
  explicit OwnedSocket(int value) : value_(value) {}
  OwnedSocket(OwnedSocket&& other) noexcept : value_(other.release()) {}
  ~OwnedSocket() {
    if (value_ >= 0) {
      ::close(value_);
    }
  }
  OwnedSocket(const OwnedSocket&) = delete;
  OwnedSocket& operator=(const OwnedSocket&) = delete;
  OwnedSocket& operator=(OwnedSocket&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  [[nodiscard]] int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

int new_socket(const SocketAddress& address) {
  return ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

// Accepts on the first of its loops and deals to all of them in turn.
class Acceptor final : public IoThread::Watcher, public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(OwnedSocket socket, std::vector<IoLoop*> loops, Network::OnAccept on_accept)
      : socket_(std::move(socket)),
        loops_(std::move(loops)),
        on_accept_(std::move(on_accept)),
        limit_(descriptor_limit()),
        reserved_(std::clamp(limit_ / 8, kReservedMin, kReservedMax)) {}

  [[nodiscard]] IoThread& home() const { return io_thread(*loops_.front()); }
  [[nodiscard]] int socket() const { return socket_.get(); }
  void stop() { stopped_.store(true, std::memory_order_release); }

  void on_ready(bool /*readable*/, bool /*writable*/, bool /*hung_up*/) override {
    while (!stopped_.load(std::memory_order_acquire)) {
      OwnedSocket accepted{::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
      if (accepted.get() < 0) {
        if (errno == EINTR || errno == ECONNABORTED) {
          continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
          retry_later(errno);  // no new edge comes for those who already wait
        }
        return;
      }
      // The kernel gives the lowest free number, so a high one means that nearly all are taken.
      if (static_cast<rlim_t>(accepted.get()) + reserved_ >= limit_) {
        refuse();
        continue;
      }
      deal(std::move(accepted));
    }
  }

 private:
  void deal(OwnedSocket accepted) {
    auto& loop = io_thread(*loops_[next_loop_++ % loops_.size()]);
    loop.post([self = shared_from_this(), &loop, accepted = std::move(accepted)]() mutable {
      if (self->stopped_.load(std::memory_order_acquire)) {
        return;
      }
      if (auto stream = make_tcp_stream(accepted.release(), loop)) {
        self->on_accept_(std::move(stream), loop);
      }
    });
  }

  void refuse() {
    ++refused_;
    if (may_speak(refusal_told_ms_)) {
      WEIR_LOG(
          warn,
          "closing new connections to {}: nearly all of the {} file descriptors of this process are in use (ulimit "
          "-n), and {} are kept for the log; {} closed so far",
          to_string(local_endpoint_of(socket_.get())), limit_, reserved_, refused_);
    }
  }

  void retry_later(int number) {
    if (may_speak(wait_told_ms_)) {
      WEIR_LOG(error, "new connections to {} wait: accept failed: {}", to_string(local_endpoint_of(socket_.get())),
               std::strerror(number));
    }
    if (std::exchange(retrying_, true)) {
      return;
    }  // one timer, however many edges come meanwhile
    home().timers().schedule(home().now_ms() + kAcceptPauseMs, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        self->retrying_ = false;
        self->on_ready(true, false, false);
      }
    });
  }

  bool may_speak(std::optional<Millis>& told_ms) const {
    const auto now = home().now_ms();
    if (told_ms && now - *told_ms < kSilentMs) {
      return false;
    }
    told_ms = now;
    return true;
  }

  OwnedSocket socket_;
  std::vector<IoLoop*> loops_;
  Network::OnAccept on_accept_;
  const rlim_t limit_;
  const rlim_t reserved_;
  // Only on the home loop:
  std::size_t next_loop_ = 0;
  std::int64_t refused_ = 0;
  bool retrying_ = false;
  std::optional<Millis> refusal_told_ms_;
  std::optional<Millis> wait_told_ms_;
  std::atomic<bool> stopped_ = false;
};

class TcpListener final : public Listener {
 public:
  explicit TcpListener(std::shared_ptr<Acceptor> acceptor)
      : acceptor_(std::move(acceptor)), bound_(local_endpoint_of(acceptor_->socket())) {}
  ~TcpListener() override {
    acceptor_->stop();
    ::shutdown(acceptor_->socket(), SHUT_RDWR);  // from now on the kernel refuses, whoever still holds the acceptor
    acceptor_->home().post([acceptor = acceptor_] { acceptor->home().unwatch(acceptor->socket()); });
  }
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;
  [[nodiscard]] Endpoint bound() const override { return bound_; }

 private:
  std::shared_ptr<Acceptor> acceptor_;
  Endpoint bound_;
};

// Before listen(): accepted sockets inherit them, and the window that is offered to a client depends on it.
void set_buffers(int socket, const TcpBuffers& buffers) {
  if (buffers.send_bytes > 0) {
    ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffers.send_bytes, sizeof(buffers.send_bytes));
  }
  if (buffers.receive_bytes > 0) {
    ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffers.receive_bytes, sizeof(buffers.receive_bytes));
  }
}

Result<OwnedSocket> bound_socket(const SocketAddress& address, std::uint16_t port, const TcpBuffers& buffers) {
  OwnedSocket socket{new_socket(address)};
  const int on = 1;
  if (socket.get() < 0) {
    return Error{Errc::invalid_argument, errno};
  }
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  set_buffers(socket.get(), buffers);
  if (::bind(socket.get(), address.get(), address.size) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    if (errno == EADDRINUSE) {
      return Error{Errc::in_use, port};
    }
    return Error{Errc::invalid_argument, errno};
  }
  return socket;
}

// Tries one address after the other. Kept alive by the loop while it is watched there.
class Connector final : public IoThread::Watcher, public std::enable_shared_from_this<Connector> {
 public:
  Connector(std::vector<SocketAddress> addresses, IoThread& loop, OnConnected done)
      : addresses_(std::move(addresses)), loop_(loop), done_(std::move(done)) {}

  void try_next() {
    while (next_ < addresses_.size()) {
      const auto& address = addresses_[next_++];
      OwnedSocket socket{new_socket(address)};
      if (socket.get() >= 0) {
        const auto result = ::connect(socket.get(), address.get(), address.size);
        if ((result == 0 || errno == EINPROGRESS) && loop_.watch(socket.get(), shared_from_this())) {
          socket_.emplace(std::move(socket));
          return;  // an edge tells how it ended, also when it ended at once
        }
      }
      last_error_ = errno;
    }
    done_(Result<std::unique_ptr<Stream>>{Errc::closed, last_error_});
  }

  void on_ready(bool /*readable*/, bool writable, bool hung_up) override {
    if (!socket_ || (!writable && !hung_up)) {
      return;
    }
    const auto self = shared_from_this();
    loop_.unwatch(socket_->get());
    OwnedSocket socket{std::move(*socket_)};
    socket_.reset();
    socklen_t size = sizeof(last_error_);
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &last_error_, &size);
    if (last_error_ != 0) {
      try_next();
      return;
    }
    auto stream = make_tcp_stream(socket.release(), loop_);
    if (stream == nullptr) {
      done_(Result<std::unique_ptr<Stream>>{Errc::closed, errno});
      return;
    }
    done_(std::move(stream));
  }

 private:
  std::vector<SocketAddress> addresses_;
  IoThread& loop_;
  OnConnected done_;
  std::size_t next_ = 0;
  std::optional<OwnedSocket> socket_;
  int last_error_ = 0;
};

void connect_on(IoThread& loop, Result<std::vector<SocketAddress>> addresses, OnConnected done) {
  loop.post([&loop, addresses = std::move(addresses), done = std::move(done)]() mutable {
    if (!addresses) {
      done(addresses.error());
      return;
    }
    std::make_shared<Connector>(std::move(*addresses), loop, std::move(done))->try_next();
  });
}
}  // namespace

TcpNetwork::TcpNetwork(TcpBuffers accepted) : accepted_(accepted) {}
TcpNetwork::~TcpNetwork() = default;

Result<std::unique_ptr<Listener>> TcpNetwork::listen(const Endpoint& at, std::vector<IoLoop*> loops,
                                                     OnAccept on_accept) {
  WEIR_CHECK(!loops.empty());
  WEIR_TRY(const auto addresses, resolve(at, AddressUse::bind));
  Result<OwnedSocket> socket{Errc::not_found};
  for (const auto& address : addresses) {
    socket = bound_socket(address, at.port, accepted_);
    if (socket || socket.error().code == Errc::in_use) {
      break;
    }
  }
  if (!socket) {
    return socket.error();
  }
  auto acceptor = std::make_shared<Acceptor>(std::move(*socket), std::move(loops), std::move(on_accept));
  auto listener = std::make_unique<TcpListener>(acceptor);
  acceptor->home().post([acceptor] { WEIR_CHECK(acceptor->home().watch(acceptor->socket(), acceptor)); });
  return std::unique_ptr<Listener>(std::move(listener));
}

void TcpNetwork::connect(const Endpoint& to, IoLoop& loop, OnConnected done) {
  auto& thread = io_thread(loop);
  if (is_numeric(to.host)) {
    connect_on(thread, resolve(to, AddressUse::connect), std::move(done));
    return;
  }
  const std::lock_guard guard{mutex_};
  if (resolver_ == nullptr) {
    resolver_ = std::make_unique<ThreadExecutor>("weir-resolver");
  }
  resolver_->post([to, &thread, done = std::move(done)]() mutable {
    connect_on(thread, resolve(to, AddressUse::connect), std::move(done));
  });
}

}  // namespace weir
