// A stream on a connected socket. base/tcp_network makes them; see base/network.hpp for what they promise.
#pragma once

#include <memory>

#include "base/io_thread.hpp"
#include "base/network.hpp"

namespace weir {

// Takes the socket (non-blocking) over. From a task of `loop`. Null if the kernel refuses to watch it.
std::unique_ptr<Stream> make_tcp_stream(int socket, IoThread& loop);

}  // namespace weir
