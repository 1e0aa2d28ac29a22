#include "sim/seams/sim_stream.hpp"

#include <algorithm>

namespace weir::sim {
namespace {

// Runs `call` on the side's loop later, if the side's stream still lives then.
template <class Call>
void post_to(const ConnectionPointer& connection, int side, Call call) {
  auto* loop = connection->sides[side].loop;
  if (loop == nullptr) {
    return;
  }
  loop->post([connection, side, call = std::move(call)]() mutable {
    if (connection->sides[side].loop != nullptr) {
      call();
    }
  });
}

void finish_read(const ConnectionPointer& connection, int side, Result<std::size_t> result) {
  auto done = std::exchange(connection->sides[side].on_read, {});
  post_to(connection, side, [done = std::move(done), result]() mutable { done(result); });
}

void finish_write(const ConnectionPointer& connection, int side, Result<void> result) {
  auto done = std::exchange(connection->sides[side].on_written, {});
  connection->sides[side].to_send.clear();
  post_to(connection, side, [done = std::move(done), result]() mutable { done(result); });
}

void pump(const ConnectionPointer& connection, int sender);

void serve_read(const ConnectionPointer& connection, int reader) {
  auto& side = connection->sides[reader];
  auto& direction = connection->directions[1 - reader];
  if (!side.on_read) {
    return;
  }
  if (side.closed || connection->reset) {
    finish_read(connection, reader, Errc::closed);
    return;
  }
  const auto unread = direction.arrived.size() - direction.taken;
  if (unread == 0) {
    if (direction.end_sent && direction.under_way.empty()) {
      finish_read(connection, reader, Errc::closed);
    }
    return;
  }
  auto count = std::min(side.read_into.size(), unread);
  if (connection->faults.partial_reads && connection->random.chance(2)) {
    count = 1 + connection->random.below(count);
  }
  std::copy_n(direction.arrived.begin() + static_cast<std::ptrdiff_t>(direction.taken), count, side.read_into.begin());
  direction.taken += count;
  if (direction.taken == direction.arrived.size()) {
    direction.arrived.clear();
    direction.taken = 0;
  }
  direction.in_window -= count;
  finish_read(connection, reader, count);
  pump(connection, 1 - reader);
}

// What is due has arrived; a packet's event may find it taken by an earlier one.
void arrive(const ConnectionPointer& connection, int sender) {
  auto& direction = connection->directions[sender];
  const auto now_ms = connection->queue.clock().monotonic_ms();
  while (!direction.under_way.empty() && direction.under_way.front().first <= now_ms) {
    const auto& bytes = direction.under_way.front().second;
    direction.arrived.insert(direction.arrived.end(), bytes.begin(), bytes.end());
    direction.under_way.pop_front();
  }
  serve_read(connection, 1 - sender);
}

void send_piece(const ConnectionPointer& connection, int sender, std::vector<std::byte> bytes) {
  auto& direction = connection->directions[sender];
  const auto delay_max = static_cast<std::uint64_t>(connection->faults.delay_ms_max);
  const auto now_ms = connection->queue.clock().monotonic_ms();
  const auto arrival_ms =
      std::max(direction.last_arrival_ms, now_ms + static_cast<Millis>(connection->random.below(delay_max + 1)));
  direction.last_arrival_ms = arrival_ms;
  direction.in_window += bytes.size();
  direction.under_way.emplace_back(arrival_ms, std::move(bytes));
  connection->queue.after(arrival_ms - now_ms, [connection, sender] { arrive(connection, sender); });
}

void pump(const ConnectionPointer& connection, int sender) {
  auto& side = connection->sides[sender];
  auto& direction = connection->directions[sender];
  if (!side.on_written) {
    return;
  }
  while (side.sent < side.to_send.size() && direction.in_window < SimConnection::kWindowBytes) {
    if (connection->faults.reset_one_in != 0 && connection->random.chance(connection->faults.reset_one_in)) {
      reset_connection(connection);
      return;
    }
    const auto room = std::min(side.to_send.size() - side.sent, SimConnection::kWindowBytes - direction.in_window);
    const auto count = connection->faults.partial_reads ? 1 + connection->random.below(room) : room;
    const auto from = side.to_send.begin() + static_cast<std::ptrdiff_t>(side.sent);
    side.sent += count;
    send_piece(connection, sender, {from, from + static_cast<std::ptrdiff_t>(count)});
  }
  if (side.sent == side.to_send.size()) {
    finish_write(connection, sender, {});
  }
}

void close_side(const ConnectionPointer& connection, int side) {
  auto& mine = connection->sides[side];
  if (std::exchange(mine.closed, true)) {
    return;
  }
  if (mine.on_read) {
    finish_read(connection, side, Errc::closed);
  }
  if (mine.on_written) {
    finish_write(connection, side, Errc::closed);
  }
  connection->directions[side].end_sent = true;
  if (connection->sides[1 - side].on_written) {
    finish_write(connection, 1 - side, Errc::closed);
  }
  // The end follows the data; it must wake the peer's read even when nothing is under way.
  const auto& direction = connection->directions[side];
  const auto delay_ms = std::max<Millis>(0, direction.last_arrival_ms - connection->queue.clock().monotonic_ms());
  connection->queue.after(delay_ms, [connection, side] { arrive(connection, side); });
}

class SimStream final : public Stream {
 public:
  SimStream(ConnectionPointer connection, int side) : connection_(std::move(connection)), side_(side) {}
  ~SimStream() override {
    close();
    mine().loop = nullptr;
  }
  SimStream(const SimStream&) = delete;
  SimStream& operator=(const SimStream&) = delete;

  void read_some(MutableBytes into, UniqueFunction<void(Result<std::size_t>)> done) override {
    WEIR_CHECK(!mine().on_read && !into.empty());
    mine().read_into = into;
    mine().on_read = std::move(done);
    serve_read(connection_, side_);
  }

  void write(BufferChain data, UniqueFunction<void(Result<void>)> done) override {
    WEIR_CHECK(!mine().on_written);
    mine().on_written = std::move(done);
    if (mine().closed || connection_->reset || connection_->sides[1 - side_].closed) {
      finish_write(connection_, side_, Errc::closed);
      return;
    }
    mine().to_send = data.flatten();
    mine().sent = 0;
    pump(connection_, side_);
  }

  void close() override { close_side(connection_, side_); }

  [[nodiscard]] Endpoint local_endpoint() const override { return connection_->sides[side_].endpoint; }
  [[nodiscard]] Endpoint remote_endpoint() const override { return connection_->sides[1 - side_].endpoint; }

 private:
  SimConnection::Side& mine() { return connection_->sides[side_]; }

  ConnectionPointer connection_;
  int side_;
};

}  // namespace

void reset_connection(const ConnectionPointer& connection) {
  connection->reset = true;
  for (int side = 0; side < 2; ++side) {
    connection->directions[side].under_way.clear();
    connection->directions[side].arrived.clear();
    connection->directions[side].taken = 0;
    if (connection->sides[side].on_read) {
      finish_read(connection, side, Errc::closed);
    }
    if (connection->sides[side].on_written) {
      finish_write(connection, side, Errc::closed);
    }
  }
}

void drop_side(const ConnectionPointer& connection, int side) {
  auto& mine = connection->sides[side];
  mine.loop = nullptr;
  // What the continuations own may be the stream itself, so they go last and from here.
  const auto read = std::exchange(mine.on_read, {});
  const auto written = std::exchange(mine.on_written, {});
  close_side(connection, side);
}

std::unique_ptr<Stream> make_sim_stream(ConnectionPointer connection, int side) {
  return std::make_unique<SimStream>(std::move(connection), side);
}

}  // namespace weir::sim
