// Connection: one connection of our own small client, on the same seams as the broker, so that the command line uses it
// over sockets and the simulator over its streams. Opens with ApiVersions; every call then takes the highest version
// that both sides know. Answers come in the order of the calls. Belongs to its loop; only tasks of that loop may use
// it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/network.hpp"
#include "protocol/frame_reader.hpp"
#include "protocol/frames.hpp"
#include "protocol/reader.hpp"
#include "protocol/writer.hpp"

namespace weir::client {

// A response and the frame that its texts and records are views into.
template <class Response>
struct Answered {
  Response response;
  SharedBytes frame;
  std::int16_t version = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using OnReady = UniqueFunction<void(Result<std::shared_ptr<Connection>>)>;
  using OnFrame = UniqueFunction<void(Result<SharedBytes>)>;  // the whole answer frame, header included

  static void open(Network& network, IoLoop& loop, const Endpoint& to, std::string client_id, OnReady ready);
  ~Connection();

  // `done` runs once: the answer, `unsupported` when the broker does not serve the API, or `closed`.
  template <class Request, class Response>
  void call(const Request& request, UniqueFunction<void(Result<Answered<Response>>)> done) {
    const auto version = common_version(Request::kApiKey, Request::kMinVersion, Request::kMaxVersion);
    if (!version) {
      return done(version.error());
    }
    call_version<Request, Response>(request, *version, std::move(done));
  }
  template <class Request, class Response>
  void call_version(const Request& request, std::int16_t version,
                    UniqueFunction<void(Result<Answered<Response>>)> done) {
    protocol::Writer body;
    if (const auto encoded = encode(body, version, request); !encoded) {
      return done(encoded.error());
    }
    send(Request::kApiKey, version, body.finish(),
         [version, done = std::move(done)](Result<SharedBytes> frame) mutable {
           if (!frame) {
             return done(frame.error());
           }
           auto parsed = protocol::parse_response(*frame, Request::kApiKey, version);
           if (!parsed) {
             return done(parsed.error());
           }
           Answered<Response> answered{.response = {}, .frame = *frame, .version = version};
           if (const auto decoded = decode(parsed->body, version, answered.response); !decoded) {
             return done(decoded.error());
           }
           done(std::move(answered));
         });
  }
  // Fire and forget (acks=0): nothing comes back.
  template <class Request>
  void tell(const Request& request) {
    const auto version = common_version(Request::kApiKey, Request::kMinVersion, Request::kMaxVersion);
    protocol::Writer body;
    if (version && encode(body, *version, request)) {
      send(Request::kApiKey, *version, body.finish(), nullptr);
    }
  }

  [[nodiscard]] Result<std::int16_t> common_version(std::int16_t key, std::int16_t min, std::int16_t max) const;
  [[nodiscard]] bool closed() const { return closed_; }
  void close();  // pending calls end with `closed`

 private:
  struct Pending {
    std::int32_t correlation_id;
    OnFrame done;
  };
  struct Range {
    std::int16_t min;
    std::int16_t max;
  };
  Connection(IoLoop& loop, std::string client_id) : loop_(loop), client_id_(std::move(client_id)) {}
  void negotiate(OnReady ready);
  void send(std::int16_t key, std::int16_t version, BufferChain body, OnFrame done);  // null: no answer is expected
  void write_next();
  void read_more();
  void take_frames();

  IoLoop& loop_;
  std::string client_id_;
  std::unique_ptr<Stream> stream_;
  protocol::FrameReader reader_{std::size_t{1} << 30};
  std::unordered_map<std::int16_t, Range> served_;
  std::deque<BufferChain> unsent_;
  std::deque<Pending> pending_;
  std::int32_t next_correlation_id_ = 1;
  bool writing_ = false;
  bool closed_ = false;
};

}  // namespace weir::client
