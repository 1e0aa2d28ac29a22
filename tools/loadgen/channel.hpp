// Channel: frames over one connection. Lives on one io loop; kept alive by what is under way.
#pragma once

#include <functional>
#include <memory>

#include "base/network.hpp"
#include "protocol/frame_reader.hpp"

namespace weir::loadgen {

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  // `on_frame` for each whole frame; `on_end` once, when the peer is gone or a write failed. Neither after close().
  Channel(std::unique_ptr<Stream> stream, std::function<void(const SharedBytes&)> on_frame,
          UniqueFunction<void()> on_end)
      : stream_(std::move(stream)), on_frame_(std::move(on_frame)), on_end_(std::move(on_end)) {}
  void start() { read_more(); }
  void send(BufferChain frame);
  void close();

 private:
  void read_more();
  void write_next();
  void end();

  std::unique_ptr<Stream> stream_;
  std::function<void(const SharedBytes&)> on_frame_;
  UniqueFunction<void()> on_end_;
  protocol::FrameReader reader_{std::size_t{1} << 30};
  BufferChain unsent_;
  bool writing_ = false;
  bool closed_ = false;
};

}  // namespace weir::loadgen
