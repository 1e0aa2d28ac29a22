#include "protocol/frame_reader.hpp"

#include "base/out_of_memory.hpp"

namespace weir::protocol {
namespace {
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kReadRoomMin = 1024;  // a shorter rest of the buffer is not worth a read
}  // namespace

FrameReader::Chunk::Chunk(std::size_t size) : bytes(static_cast<std::byte*>(std::malloc(size))), capacity(size) {
  if (bytes == nullptr) {
    memory_ran_out();
  }
}

std::size_t FrameReader::frame_total() const {
  if (buffered() < kLengthBytes) {
    return kLengthBytes;
  }
  const auto length = load_be<std::int32_t>({chunk_->bytes + begin_, kLengthBytes}, 0);
  return kLengthBytes + static_cast<std::size_t>(std::max(length, 0));
}

std::size_t FrameReader::wanted_capacity() const {
  const auto grown = std::max({kSmallBuffer, 2 * buffered(), completed_max_});
  const auto total = frame_total();
  // A frame that fits the buffer shares it with its neighbours; a larger one gets a buffer that ends where it ends.
  return total <= kBusyBuffer ? std::max(total, std::min(grown, kBusyBuffer)) : std::min(total, grown);
}

MutableBytes FrameReader::prepare() {
  const auto wanted = wanted_capacity();
  const auto capacity = chunk_ ? chunk_->capacity : 0;
  const auto missing = frame_total() - std::min(frame_total(), buffered());
  const auto room_needed = std::min(std::max<std::size_t>(missing, 1), kReadRoomMin);
  if (capacity - end_ < room_needed || (buffered() == 0 && wanted > capacity)) {
    make_room(wanted);
  }
  return {chunk_->bytes + end_, chunk_->capacity - end_};
}

void FrameReader::make_room(std::size_t capacity) {
  const auto held = buffered();
  capacity = std::max(capacity, held + 1);
  const bool sole_owner = chunk_ && chunk_.use_count() == 1;
  if (!sole_owner) {
    auto fresh = std::make_shared<Chunk>(capacity);
    if (held > 0) {
      std::memcpy(fresh->bytes, chunk_->bytes + begin_, held);
    }
    chunk_ = std::move(fresh);
  } else {
    if (begin_ > 0 && held > 0) {
      std::memmove(chunk_->bytes, chunk_->bytes + begin_, held);
    }
    if (chunk_->capacity < capacity) {
      auto* grown = static_cast<std::byte*>(std::realloc(chunk_->bytes, capacity));
      if (grown == nullptr) {
        memory_ran_out();
      }
      chunk_->bytes = grown;
      chunk_->capacity = capacity;
    }
  }
  begin_ = 0;
  end_ = held;
}

void FrameReader::received(std::size_t count) {
  WEIR_CHECK(chunk_ && count <= chunk_->capacity - end_);
  end_ += count;
  if (end_ == chunk_->capacity) {
    completed_max_ = std::max(completed_max_, std::min(kBusyBuffer, 2 * chunk_->capacity));
  }
}

Result<std::optional<SharedBytes>> FrameReader::next() {
  if (buffered() < kLengthBytes) {
    return std::optional<SharedBytes>{};
  }
  const auto length = load_be<std::int32_t>({chunk_->bytes + begin_, kLengthBytes}, 0);
  if (length <= 0) {
    return Error{Errc::corrupt, length};
  }
  const auto size = static_cast<std::size_t>(length);
  if (size > frame_bytes_max_) {
    return Error{Errc::too_large, length};
  }
  if (buffered() < kLengthBytes + size) {
    return std::optional<SharedBytes>{};
  }
  SharedBytes frame{Bytes{chunk_->bytes + begin_ + kLengthBytes, size}, chunk_};
  begin_ += kLengthBytes + size;
  completed_max_ = std::max(completed_max_, std::min(kLengthBytes + size, kFreeFrameBytes));
  granted_ = false;
  return std::optional{std::move(frame)};
}

std::size_t FrameReader::large_frame_bytes() const {
  if (granted_ || buffered() < kFreeFrameBytes) {
    return 0;
  }
  const auto total = frame_total();
  return total > kFreeFrameBytes && total > buffered() ? total : 0;
}

}  // namespace weir::protocol
