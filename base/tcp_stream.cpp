#include "base/tcp_stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/tcp_address.hpp"

namespace weir {
namespace {
// What one connection may send before the others of its loop have their turn: a fast reader of a large answer could
// else keep the loop for as long as it likes.
constexpr std::size_t kTurnBytesMax = 2U << 20U;
constexpr std::size_t kPartsMax = 256;  // memory pieces of one sendmsg; a chain with more takes several

bool would_block(int number) {
  static_assert(EAGAIN == EWOULDBLOCK);
  return number == EAGAIN;
}

// What the stream, its loop and posted completions share. Its socket is -1 once closed; `dropped` once the stream is
// destroyed: then nothing is called any more.
class TcpCore final : public IoThread::Watcher, public std::enable_shared_from_this<TcpCore> {
 public:
  TcpCore(int socket, IoThread& loop)
      : socket_(socket), loop_(loop), local_(local_endpoint_of(socket)), remote_(remote_endpoint_of(socket)) {}
  ~TcpCore() override { close_socket(); }
  TcpCore(const TcpCore&) = delete;
  TcpCore& operator=(const TcpCore&) = delete;

  void read_some(MutableBytes into, UniqueFunction<void(Result<std::size_t>)> done);
  void write(BufferChain data, UniqueFunction<void(Result<void>)> done);
  void close();
  void drop();
  void on_ready(bool readable, bool writable, bool hung_up) override;
  void on_loop_end() override { drop(); }
  [[nodiscard]] const Endpoint& local() const { return local_; }
  [[nodiscard]] const Endpoint& remote() const { return remote_; }

 private:
  enum class Progress : std::uint8_t { done, blocked, failed };
  std::optional<Result<std::size_t>> try_read();
  Progress try_write();
  void continue_write();
  Progress send_memory();
  Progress send_file(const FileRun& run);
  void advance(std::size_t sent);
  void finish_read_later(Result<std::size_t> result);
  void finish_write_later(Result<void> result);
  void close_socket();

  int socket_;
  IoThread& loop_;
  Endpoint local_;
  Endpoint remote_;
  bool readable_ = false;  // the next recv may give something; else only an edge tells
  bool writable_ = true;
  bool hung_up_ = false;  // its edge will not come again, so a short read is no sign of "all read"
  bool dropped_ = false;
  MutableBytes read_into_;
  UniqueFunction<void(Result<std::size_t>)> on_read_;
  BufferChain sending_;
  std::size_t piece_ = 0;  // of sending_
  std::size_t view_ = 0;   // of the piece, if it is memory
  std::size_t sent_ = 0;   // of the view, or of the file run
  std::size_t turn_bytes_ = 0;
  bool yielded_ = false;  // a task that goes on with the write is posted
  UniqueFunction<void(Result<void>)> on_written_;
};

void TcpCore::read_some(MutableBytes into, UniqueFunction<void(Result<std::size_t>)> done) {
  WEIR_CHECK(!on_read_ && !into.empty());
  read_into_ = into;
  on_read_ = std::move(done);
  if (socket_ < 0) {
    finish_read_later(Errc::closed);
    return;
  }
  if (readable_) {
    if (const auto result = try_read()) {
      finish_read_later(*result);
    }
  }
}

std::optional<Result<std::size_t>> TcpCore::try_read() {
  while (true) {
    const auto got = ::recv(socket_, read_into_.data(), read_into_.size(), 0);
    if (got > 0) {
      const auto size = static_cast<std::size_t>(got);
      // Less than asked for: the socket is empty, and what comes next makes a new edge. This saves the call that would
      // only say so.
      readable_ = hung_up_ || size == read_into_.size();
      return Result<std::size_t>{size};
    }
    if (got == 0) {
      return Result<std::size_t>{Errc::closed};
    }
    if (would_block(errno)) {
      readable_ = false;
      return std::nullopt;
    }
    if (errno != EINTR) {
      return Result<std::size_t>{Errc::closed, errno};
    }
  }
}

void TcpCore::write(BufferChain data, UniqueFunction<void(Result<void>)> done) {
  WEIR_CHECK(!on_written_);
  on_written_ = std::move(done);
  if (socket_ < 0) {
    finish_write_later(Errc::closed);
    return;
  }
  sending_ = std::move(data);
  piece_ = 0;
  view_ = 0;
  sent_ = 0;
  switch (try_write()) {
    case Progress::done: finish_write_later({}); break;
    case Progress::failed: finish_write_later(Errc::closed); break;
    case Progress::blocked: break;
  }
}

TcpCore::Progress TcpCore::try_write() {
  turn_bytes_ = 0;
  while (piece_ < sending_.pieces().size()) {
    if (!writable_ || yielded_) {
      return Progress::blocked;
    }
    if (turn_bytes_ >= kTurnBytesMax) {
      yielded_ = true;
      loop_.post([self = shared_from_this()] {
        self->yielded_ = false;
        self->continue_write();
      });
      return Progress::blocked;
    }
    const auto* run = std::get_if<FileRun>(&sending_.pieces()[piece_]);
    if (const auto progress = run != nullptr ? send_file(*run) : send_memory(); progress != Progress::done) {
      return progress;
    }
  }
  return Progress::done;
}

TcpCore::Progress TcpCore::send_memory() {
  std::array<iovec, kPartsMax> parts;
  const auto& pieces = sending_.pieces();
  std::size_t count = 0;
  auto at = piece_;
  auto view = view_;
  for (auto from = sent_; at < pieces.size() && count < kPartsMax; ++at, view = 0) {
    const auto views = BufferChain::views_of(pieces[at]);
    if (views.empty()) {
      break;
    }
    for (; view < views.size() && count < kPartsMax; ++view, from = 0) {
      const auto rest = views[view].subspan(from);
      parts[count++] = {.iov_base = const_cast<std::byte*>(rest.data()), .iov_len = rest.size()};
    }
    if (view < views.size()) {
      break;
    }
  }
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = count;
  const int more = at < pieces.size() ? MSG_MORE : 0;  // a file run or more memory follows at once
  const auto sent = ::sendmsg(socket_, &message, MSG_NOSIGNAL | more);
  if (sent >= 0) {
    advance(static_cast<std::size_t>(sent));
    return Progress::done;
  }
  if (errno == EINTR) {
    return Progress::done;
  }
  if (would_block(errno)) {
    writable_ = false;
    return Progress::blocked;
  }
  return Progress::failed;
}

TcpCore::Progress TcpCore::send_file(const FileRun& run) {
  off_t position = run.position + static_cast<std::int64_t>(sent_);
  const auto sent = ::sendfile(socket_, run.handle, &position, std::min(run.size - sent_, kTurnBytesMax));
  if (sent > 0) {
    advance(static_cast<std::size_t>(sent));
    return Progress::done;
  }
  if (sent < 0 && errno == EINTR) {
    return Progress::done;
  }
  if (sent < 0 && would_block(errno)) {
    writable_ = false;
    return Progress::blocked;
  }
  return Progress::failed;  // 0: the file is shorter than the run says; the peer must not take what follows for the
                            // rest
}

void TcpCore::advance(std::size_t sent) {
  turn_bytes_ += sent;
  while (sent > 0) {
    const auto& piece = sending_.pieces()[piece_];
    const auto* run = std::get_if<FileRun>(&piece);
    const auto views = BufferChain::views_of(piece);
    const auto size = run != nullptr ? run->size : views[view_].size();
    const auto step = std::min(sent, size - sent_);
    sent -= step;
    sent_ += step;
    if (sent_ < size) {
      return;
    }
    sent_ = 0;
    ++view_;
    if (view_ >= views.size()) {
      view_ = 0;
      ++piece_;
    }
  }
}

void TcpCore::continue_write() {
  if (!writable_ || !on_written_) {
    return;
  }
  if (const auto progress = try_write(); progress != Progress::blocked) {
    sending_ = {};
    auto done = std::exchange(on_written_, {});
    done(progress == Progress::done ? Result<void>{} : Result<void>{Errc::closed});
  }
}

void TcpCore::on_ready(bool readable, bool writable, bool hung_up) {
  const auto self = shared_from_this();  // a continuation may destroy the stream
  hung_up_ = hung_up_ || hung_up;
  readable_ = readable_ || readable || hung_up;
  writable_ = writable_ || writable;
  continue_write();
  if (readable_ && on_read_ && socket_ >= 0) {
    if (const auto result = try_read()) {
      auto done = std::exchange(on_read_, {});
      done(*result);
    }
  }
}

void TcpCore::finish_read_later(Result<std::size_t> result) {
  loop_.post([self = shared_from_this(), done = std::exchange(on_read_, {}), result]() mutable {
    if (!self->dropped_) {
      done(result);
    }
  });
}

void TcpCore::finish_write_later(Result<void> result) {
  sending_ = {};
  loop_.post([self = shared_from_this(), done = std::exchange(on_written_, {}), result]() mutable {
    if (!self->dropped_) {
      done(result);
    }
  });
}

void TcpCore::close_socket() {
  if (socket_ >= 0) {
    const auto socket = std::exchange(socket_, -1);
    loop_.unwatch(socket);
    ::close(socket);
  }
}

void TcpCore::close() {
  if (on_read_) {
    finish_read_later(Errc::closed);
  }
  if (on_written_) {
    finish_write_later(Errc::closed);
  }
  close_socket();
}

void TcpCore::drop() {
  dropped_ = true;
  // What the continuations own may be this stream's owner: they go last and from here.
  const auto read = std::exchange(on_read_, {});
  const auto written = std::exchange(on_written_, {});
  sending_ = {};
  close_socket();
}

class TcpStream final : public Stream {
 public:
  explicit TcpStream(std::shared_ptr<TcpCore> core) : core_(std::move(core)) {}
  ~TcpStream() override { core_->drop(); }
  TcpStream(const TcpStream&) = delete;
  TcpStream& operator=(const TcpStream&) = delete;

  void read_some(MutableBytes into, UniqueFunction<void(Result<std::size_t>)> done) override {
    core_->read_some(into, std::move(done));
  }
  void write(BufferChain data, UniqueFunction<void(Result<void>)> done) override {
    core_->write(std::move(data), std::move(done));
  }
  void close() override { core_->close(); }
  [[nodiscard]] Endpoint local_endpoint() const override { return core_->local(); }
  [[nodiscard]] Endpoint remote_endpoint() const override { return core_->remote(); }

 private:
  std::shared_ptr<TcpCore> core_;
};
}  // namespace

std::unique_ptr<Stream> make_tcp_stream(int socket, IoThread& loop) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  auto core = std::make_shared<TcpCore>(socket, loop);
  if (!loop.watch(socket, core)) {
    return nullptr;
  }
  return std::make_unique<TcpStream>(std::move(core));
}

}  // namespace weir
