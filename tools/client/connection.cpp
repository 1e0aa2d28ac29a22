#include "tools/client/connection.hpp"

#include "protocol/gen/api_versions.hpp"

namespace weir::client {

void Connection::open(Network& network, IoLoop& loop, const Endpoint& to, std::string client_id, OnReady ready) {
  std::shared_ptr<Connection> connection{new Connection(loop, std::move(client_id))};
  network.connect(to, loop, [connection, ready = std::move(ready)](Result<std::unique_ptr<Stream>> stream) mutable {
    if (!stream) {
      return ready(stream.error());
    }
    connection->stream_ = std::move(*stream);
    connection->read_more();
    connection->negotiate(std::move(ready));
  });
}

Connection::~Connection() = default;

void Connection::negotiate(OnReady ready) {
  constexpr std::int16_t kVersion = 3;  // every broker of the last years knows it; what it lists decides the rest
  protocol::ApiVersionsRequest request{.client_software_name = "weir", .client_software_version = "1"};
  call_version<protocol::ApiVersionsRequest, protocol::ApiVersionsResponse>(
      request, kVersion,
      [self = shared_from_this(),
       ready = std::move(ready)](Result<Answered<protocol::ApiVersionsResponse>> answer) mutable {
        if (!answer) {
          return ready(answer.error());
        }
        if (answer->response.error_code != 0) {
          return ready({Errc::unsupported, answer->response.error_code});
        }
        for (const auto& api : answer->response.api_keys) {
          self->served_[api.api_key] = {api.min_version, api.max_version};
        }
        ready(self);
      });
}

Result<std::int16_t> Connection::common_version(std::int16_t key, std::int16_t min, std::int16_t max) const {
  const auto served = served_.find(key);
  if (served == served_.end()) {
    return {Errc::unsupported, key};
  }
  const auto version = std::min(max, served->second.max);
  if (version < std::max(min, served->second.min)) {
    return {Errc::unsupported, key};
  }
  return version;
}

void Connection::send(std::int16_t key, std::int16_t version, BufferChain body, OnFrame done) {
  if (closed_) {
    if (done) {
      done(Errc::closed);
    }
    return;
  }
  const auto correlation_id = next_correlation_id_++;
  unsent_.push_back(protocol::request_frame(key, version, correlation_id, client_id_, std::move(body)));
  if (done) {
    pending_.push_back({correlation_id, std::move(done)});
  }
  write_next();
}

void Connection::write_next() {
  if (writing_ || unsent_.empty() || closed_) {
    return;
  }
  writing_ = true;
  BufferChain all;
  for (auto& frame : unsent_) {
    all.append(std::move(frame));
  }
  unsent_.clear();
  stream_->write(std::move(all), [weak = weak_from_this()](const Result<void>& written) {
    const auto self = weak.lock();
    if (!self) {
      return;
    }
    self->writing_ = false;
    if (!written) {
      return self->close();
    }
    self->write_next();
  });
}

void Connection::read_more() {
  if (reader_.large_frame_bytes() > 0) {
    reader_.grant();
  }
  stream_->read_some(reader_.prepare(), [weak = weak_from_this()](const Result<std::size_t>& count) {
    const auto self = weak.lock();
    if (!self || self->closed_) {
      return;
    }
    if (!count) {
      return self->close();
    }
    self->reader_.received(*count);
    self->take_frames();
  });
}

void Connection::take_frames() {
  while (!closed_) {
    auto frame = reader_.next();
    if (!frame) {
      return close();
    }
    if (!*frame) {
      return read_more();
    }
    // Answers come in order; one that does not belong to the oldest call means the stream is not what we think it is.
    const bool expected = !pending_.empty() && (*frame)->size() >= sizeof(std::int32_t) &&
                          load_be<std::int32_t>((*frame)->view(), 0) == pending_.front().correlation_id;
    if (!expected) {
      return close();
    }
    auto done = std::move(pending_.front().done);
    pending_.pop_front();
    done(std::move(**frame));
  }
}

void Connection::close() {
  if (closed_) {
    return;
  }
  closed_ = true;
  const auto self = shared_from_this();
  if (stream_) {
    stream_->close();
  }
  auto pending = std::move(pending_);
  for (auto& call : pending) {
    call.done(Errc::closed);
  }
}

}  // namespace weir::client
