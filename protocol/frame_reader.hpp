// FrameReader: bytes of one connection in, length-prefixed frames out. No socket inside; its connection (of the broker
// or of a client) owns it and only its loop touches it. Frames share the memory they arrived in (SharedBytes), so a
// batch reaches the log without a copy.
//
// Memory follows what has arrived, never what a length announces: a buffer starts small and doubles as bytes come, up
// to the largest frame that this connection has completed before, which it may take at once. Past kFreeFrameBytes a
// frame needs the broker's leave (large_frame_bytes / grant), so that a hundred connections that announce 90 MB cost
// nothing.
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace weir::protocol {

class FrameReader {
 public:
  static constexpr std::size_t kSmallBuffer = 4096;      // what an idle connection holds
  static constexpr std::size_t kBusyBuffer = 64 * 1024;  // once a read has filled the small one
  static constexpr std::size_t kFreeFrameBytes =
      1152 * 1024;  // a frame up to here needs no leave (1 MiB batch and names)

  // frame_bytes_max: socket.request.max.bytes.
  explicit FrameReader(std::size_t frame_bytes_max) : frame_bytes_max_(frame_bytes_max) {}

  // Where the next read goes; never empty. Valid until the next call of any member.
  MutableBytes prepare();
  void received(std::size_t count);
  // The next complete frame without its length, or nothing yet. corrupt for a size that is not positive, too_large over
  // the maximum: the connection ends then.
  Result<std::optional<SharedBytes>> next();

  // Size of the frame that must not grow further without grant(), or 0.
  [[nodiscard]] std::size_t large_frame_bytes() const;
  void grant() { granted_ = true; }
  [[nodiscard]] bool granted() const { return granted_; }
  [[nodiscard]] std::size_t buffered() const { return end_ - begin_; }

 private:
  struct Chunk {
    explicit Chunk(std::size_t size);
    ~Chunk() { std::free(bytes); }  // NOLINT: malloc, so that a large buffer grows by remapping, not by copying
    Chunk(const Chunk&) = delete;
    Chunk& operator=(const Chunk&) = delete;
    std::byte* bytes;
    std::size_t capacity;
  };
  [[nodiscard]] std::size_t frame_total() const;  // 4 + announced length, or 4 while that is unknown
  [[nodiscard]] std::size_t wanted_capacity() const;
  void make_room(std::size_t capacity);

  const std::size_t frame_bytes_max_;
  std::shared_ptr<Chunk> chunk_;
  std::size_t begin_ = 0;                     // first byte not yet handed out
  std::size_t end_ = 0;                       // end of what has arrived
  std::size_t completed_max_ = kSmallBuffer;  // largest frame seen whole, or what a read has filled
  bool granted_ = false;
};

}  // namespace weir::protocol
