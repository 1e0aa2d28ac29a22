// The codecs of record batches, in exactly the framings that Kafka's clients and broker take:
//   gzip    one or more members
//   snappy  one raw block, or xerial's chunks of raw blocks (what Java writes, and we); the official framing is refused
//   lz4     one LZ4 frame with independent blocks, checksums checked; linked blocks and bare blocks are refused
//   zstd    one or more frames, with or without content size
// Size fields of the input are never trusted: memory grows with real output, and output stops at the caller's limit.
// A Decompressor belongs to one thread and must be destroyed on the thread that made it (library contexts are reused
// per thread).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace weir {

enum class Codec : std::uint8_t { none = 0, gzip = 1, snappy = 2, lz4 = 3, zstd = 4 };
inline constexpr std::uint8_t kCodecMax = 4;

std::string_view to_string(Codec codec);
std::optional<Codec> codec_from_string(std::string_view name);  // Kafka's names: none, gzip, snappy, lz4, zstd

// Reads the decompressed bytes of `source` in pieces; `source` must outlive it.
class Decompressor {
 public:
  Decompressor(Codec codec, Bytes source, std::size_t output_max);
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Fills the front of `out` (not empty) and returns how many bytes; 0 means the end, checksums included. Fails with
  //   corrupt     not this codec's format, or damaged; detail: bytes that came out before
  //   truncated   gzip only: the input ends inside a member
  //   too_large   there is more output than `output_max`; detail: the limit
  // A failure stays: each later read() returns it again.
  Result<std::size_t> read(MutableBytes out);

  // One format's decoder, without the output limit. Private to the implementation.
  class Source {
   public:
    virtual ~Source() = default;
    virtual Result<std::size_t> read(MutableBytes out) = 0;
  };

 private:
  std::unique_ptr<Source> source_;
  std::size_t output_max_;
  std::size_t produced_ = 0;
  std::optional<Error> failure_;
};

Result<std::vector<std::byte>> decompress(Codec codec, Bytes source, std::size_t output_max);

// The smallest and largest level a topic may ask of a codec, and Kafka's default; nullopt for codecs without levels.
struct CodecLevels {
  int min;
  int max;
  int standard;
};
std::optional<CodecLevels> codec_levels(Codec codec);

// `level` empty or the codec's standard: its usual fast setting. A level outside codec_levels is invalid_argument.
Result<std::vector<std::byte>> compress(Codec codec, Bytes source, std::optional<int> level = {});

}  // namespace weir
