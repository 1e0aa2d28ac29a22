// The network seam on the kernel's sockets. Loops must be IoThreads. Owned by the runtime; listen() and connect() from
// any thread, streams from tasks of their loop. Streams and listeners end before their loops do.
#pragma once

#include <memory>
#include <mutex>

#include "base/network.hpp"
#include "base/thread_executor.hpp"

namespace weir {

// Kernel buffers of accepted sockets; -1: the kernel sizes them as it goes, up to megabytes a connection. Small ones
// keep an answer that is sent from the page cache in the processor's caches until the reader has it: 10 MB answers to
// six readers on loopback went from 2.1 to 3.0 GB/s.
struct TcpBuffers {
  std::int32_t send_bytes = -1;
  std::int32_t receive_bytes = -1;
};

class TcpNetwork final : public Network {
 public:
  explicit TcpNetwork(TcpBuffers accepted = {});
  ~TcpNetwork() override;

  // A port taken is in_use, a name that nobody knows not_found, an address that is not ours invalid_argument (errno).
  // A call of on_accept may still be under way on another loop when the listener has ended.
  Result<std::unique_ptr<Listener>> listen(const Endpoint& at, std::vector<IoLoop*> loops, OnAccept on_accept) override;
  void connect(const Endpoint& to, IoLoop& loop, UniqueFunction<void(Result<std::unique_ptr<Stream>>)> done) override;

 private:
  const TcpBuffers accepted_;
  std::mutex mutex_;
  std::unique_ptr<ThreadExecutor> resolver_;  // made for the first name that is not an address: looking it up may block
};

}  // namespace weir
