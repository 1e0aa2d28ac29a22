// The decoders behind Decompressor, one a format. Internal to base/compression. Same thread rule as Decompressor.
#pragma once

#include <array>
#include <memory>
#include <utility>

#include "base/compression.hpp"
#include "base/out_of_memory.hpp"

namespace weir::detail {

// Snappy decodes a whole block at a time, so it alone must know the limit before it makes room; the others stream.
std::unique_ptr<Decompressor::Source> make_source(Codec codec, Bytes source, std::size_t output_max);

std::unique_ptr<Decompressor::Source> make_gzip_source(Bytes source);
std::unique_ptr<Decompressor::Source> make_snappy_source(Bytes source, std::size_t output_max);
std::unique_ptr<Decompressor::Source> make_lz4_source(Bytes source);
std::unique_ptr<Decompressor::Source> make_zstd_source(Bytes source);

// xerial's stream header, which the writer needs too: magic, version, oldest version that can read it.
inline constexpr std::size_t kXerialHeaderSize = 16;
inline constexpr std::size_t kXerialChunkSize = 32 * 1024;
inline constexpr std::array<unsigned char, 8> kXerialMagic{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};

[[nodiscard]] bool is_lz4_out_of_memory(std::size_t lz4_error);

// A library context that costs more to make than to reset: one spare is kept per thread and codec. `Traits` has
// create(), release(T*) and may_keep(T*).
template <class T, class Traits>
class ReusedContext {
 public:
  ReusedContext() : context_(std::exchange(spare().context, nullptr)) {
    if (context_ == nullptr) {
      context_ = Traits::create();
      if (context_ == nullptr) {
        memory_ran_out();
      }
    }
  }
  ~ReusedContext() {
    if (spare().context == nullptr && Traits::may_keep(context_)) {
      spare().context = context_;
    } else {
      Traits::release(context_);
    }
  }
  ReusedContext(const ReusedContext&) = delete;
  ReusedContext& operator=(const ReusedContext&) = delete;
  [[nodiscard]] T* get() const { return context_; }

 private:
  struct Spare {
    T* context = nullptr;
    ~Spare() {
      if (context != nullptr) {
        Traits::release(context);
      }
    }
  };
  static Spare& spare() {
    thread_local Spare spare;
    return spare;
  }
  T* context_;
};

}  // namespace weir::detail
