#include <snappy.h>

#include <cstring>

#include "base/decompress_sources.hpp"

namespace weir::detail {
namespace {

bool starts_with(Bytes bytes, std::span<const unsigned char> prefix) {
  return bytes.size() >= prefix.size() && std::memcmp(bytes.data(), prefix.data(), prefix.size()) == 0;
}

// The official framing's first chunk. Read as a raw block it would nearly always fail anyway; this makes it certain.
constexpr std::array<unsigned char, 10> kOfficialFraming{0xff, 6, 0, 0, 's', 'N', 'a', 'P', 'p', 'Y'};

class SnappySource : public Decompressor::Source {
 public:
  SnappySource(Bytes source, std::size_t output_max) : rest_(source), output_left_(output_max) {
    xerial_ = source.size() >= kXerialHeaderSize && starts_with(source, kXerialMagic);
  }

  Result<std::size_t> read(MutableBytes out) override {
    while (block_read_ == block_size_) {
      if (done_) {
        return std::size_t{0};
      }
      WEIR_TRY_VOID(xerial_ ? next_chunk() : whole_block());
    }
    const auto count = std::min(out.size(), block_size_ - block_read_);
    std::memcpy(out.data(), block_.get() + block_read_, count);
    block_read_ += count;
    return count;
  }

 private:
  Result<void> whole_block() {
    done_ = true;
    if (starts_with(rest_, kOfficialFraming)) {
      return Errc::corrupt;
    }
    return decode(rest_);
  }

  Result<void> next_chunk() {
    // Streams that were written one behind the other repeat the header.
    while (rest_.size() >= kXerialHeaderSize && starts_with(rest_, kXerialMagic)) {
      if (load_be<std::int32_t>(rest_, 12) < 1) {
        return Errc::corrupt;
      }
      rest_ = rest_.subspan(kXerialHeaderSize);
    }
    if (rest_.size() < 4) {
      done_ = true;  // one to three bytes at the end are ignored, as Java's reader does
      return {};
    }
    const auto size = load_be<std::int32_t>(rest_, 0);
    if (size < 0 || static_cast<std::size_t>(size) > rest_.size() - 4) {
      return Errc::corrupt;
    }
    const auto chunk = rest_.subspan(4, static_cast<std::size_t>(size));
    rest_ = rest_.subspan(4 + chunk.size());
    return decode(chunk);
  }

  Result<void> decode(Bytes chunk) {
    block_read_ = block_size_ = 0;
    const auto* data = reinterpret_cast<const char*>(chunk.data());
    std::size_t size = 0;
    if (!snappy::GetUncompressedLength(data, chunk.size(), &size)) {
      return Errc::corrupt;
    }
    // Three bytes of input make at most 64 of output: a larger claim is a lie, and no memory is taken for it.
    constexpr std::size_t kExpansionMax = 22;
    if (size / kExpansionMax > chunk.size()) {
      return Errc::corrupt;
    }
    if (size > output_left_) {
      return Errc::too_large;
    }
    output_left_ -= size;
    if (size > block_room_) {
      block_ = std::make_unique_for_overwrite<char[]>(size);  // pages come in as output is written
      block_room_ = size;
    }
    if (!snappy::RawUncompress(data, chunk.size(), block_.get())) {
      return Errc::corrupt;
    }
    block_size_ = size;
    return {};
  }

  Bytes rest_;
  std::size_t output_left_;
  bool xerial_ = false;
  bool done_ = false;
  std::unique_ptr<char[]> block_;
  std::size_t block_room_ = 0;
  std::size_t block_size_ = 0;
  std::size_t block_read_ = 0;
};

}  // namespace

std::unique_ptr<Decompressor::Source> make_snappy_source(Bytes source, std::size_t output_max) {
  return std::make_unique<SnappySource>(source, output_max);
}

}  // namespace weir::detail
