// The network seam: listeners and streams whose continuations run on one IoLoop. A stream belongs to its loop; only
// tasks of that loop may call it. At most one read and one write are under way at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/bytes.hpp"
#include "base/executor.hpp"
#include "base/result.hpp"

namespace weir {

struct Endpoint {
  std::string host;  // name or address; "0.0.0.0" and "::" bind all
  std::uint16_t port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
std::string to_string(const Endpoint& endpoint);                      // host:port, IPv6 in brackets
std::optional<Endpoint> endpoint_from_string(std::string_view text);  // nullopt if there is no port or it is malformed

class Stream {
 public:
  virtual ~Stream() = default;  // closes; pending continuations are dropped without a call
  // Reads at least one byte into `into` (which the caller keeps alive). `closed` at the end of the stream.
  virtual void read_some(MutableBytes into, UniqueFunction<void(Result<std::size_t>)> done) = 0;
  // Writes all of `data`. Real streams gather memory pieces and sendfile file runs.
  virtual void write(BufferChain data, UniqueFunction<void(Result<void>)> done) = 0;
  // Ends the stream; what is pending is called with `closed`, later. Again is fine.
  virtual void close() = 0;
  [[nodiscard]] virtual Endpoint local_endpoint() const = 0;
  [[nodiscard]] virtual Endpoint remote_endpoint() const = 0;
};

class Listener {
 public:
  virtual ~Listener() = default;  // stops accepting
  [[nodiscard]] virtual Endpoint bound() const = 0;
};

class Network {
 public:
  using OnAccept = std::function<void(std::unique_ptr<Stream>, IoLoop&)>;  // runs on the loop that owns the stream
  virtual ~Network() = default;
  // Accepted streams are dealt to `loops` in turn. in_use when the port is taken.
  virtual Result<std::unique_ptr<Listener>> listen(const Endpoint& at, std::vector<IoLoop*> loops,
                                                   OnAccept on_accept) = 0;
  virtual void connect(const Endpoint& to, IoLoop& loop,
                       UniqueFunction<void(Result<std::unique_ptr<Stream>>)> done) = 0;
};

}  // namespace weir
