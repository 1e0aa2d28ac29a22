#include "base/decompress_sources.hpp"

#include <lz4frame.h>
#include <zlib.h>
#define ZSTD_STATIC_LINKING_ONLY  // for ZSTD_sizeof_DCtx and the skippable magic
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>

namespace weir::detail {
namespace {

class PlainSource : public Decompressor::Source {
 public:
  explicit PlainSource(Bytes source) : rest_(source) {}
  Result<std::size_t> read(MutableBytes out) override {
    const auto count = std::min(out.size(), rest_.size());
    std::copy_n(rest_.begin(), count, out.begin());
    rest_ = rest_.subspan(count);
    return count;
  }

 private:
  Bytes rest_;
};

struct GzipTraits {
  static z_stream* create() {
    auto stream = std::make_unique<z_stream>();
    constexpr int kGzipOnly = 15 + 16;
    return inflateInit2(stream.get(), kGzipOnly) == Z_OK ? stream.release() : nullptr;
  }
  static void release(z_stream* stream) {
    inflateEnd(stream);
    delete stream;
  }
  static bool may_keep(const z_stream*) { return true; }
};

class GzipSource : public Decompressor::Source {
 public:
  explicit GzipSource(Bytes source) : size_(source.size()), rest_(source) { inflateReset(stream_.get()); }

  Result<std::size_t> read(MutableBytes out) override {
    auto& z = *stream_.get();
    constexpr std::size_t kStepMax = 1U << 30U;
    for (;;) {
      if (member_done_) {
        // What is no further member is ignored, as Java's reader does.
        if (rest_.size() < 2 || rest_[0] != std::byte{0x1f} || rest_[1] != std::byte{0x8b}) {
          return std::size_t{0};
        }
        inflateReset(&z);
        member_done_ = false;
      }
      const auto in = rest_.first(std::min(rest_.size(), kStepMax));
      z.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
      z.avail_in = static_cast<uInt>(in.size());
      z.next_out = reinterpret_cast<Bytef*>(out.data());
      z.avail_out = static_cast<uInt>(std::min(out.size(), kStepMax));
      const auto room = z.avail_out;
      const auto status = inflate(&z, Z_NO_FLUSH);
      rest_ = rest_.subspan(in.size() - z.avail_in);
      const std::size_t produced = room - z.avail_out;
      member_done_ = status == Z_STREAM_END;
      if (produced > 0) {
        return produced;  // a failure shows again at the next call
      }
      if (status == Z_STREAM_END) {
        continue;
      }
      if (status == Z_MEM_ERROR) {
        memory_ran_out();
      }
      if (status != Z_OK && status != Z_BUF_ERROR) {
        return Errc::corrupt;
      }
      if (rest_.empty()) {
        constexpr std::size_t kHeaderSize = 10;
        return size_ < kHeaderSize ? Errc::corrupt : Errc::truncated;
      }
      if (status == Z_BUF_ERROR) {
        return Errc::corrupt;
      }
    }
  }

 private:
  ReusedContext<z_stream, GzipTraits> stream_;
  std::size_t size_;
  Bytes rest_;
  bool member_done_ = false;
};

struct Lz4Traits {
  static LZ4F_dctx* create() {
    LZ4F_dctx* context = nullptr;
    return LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0U ? nullptr : context;
  }
  static void release(LZ4F_dctx* context) { LZ4F_freeDecompressionContext(context); }
  static bool may_keep(const LZ4F_dctx*) { return true; }
};

class Lz4Source : public Decompressor::Source {
 public:
  explicit Lz4Source(Bytes source) : rest_(source) {
    LZ4F_resetDecompressionContext(context_.get());
    constexpr std::size_t kSmallestHeader = 7;
    acceptable_ = source.size() >= kSmallestHeader && load_le<std::uint32_t>(source, 0) == 0x184d2204U;
    if (acceptable_) {
      // Version 1, independent blocks, no reserved bit, no dictionary: what Kafka's own reader takes.
      const auto flags = std::to_integer<unsigned>(source[4]);
      acceptable_ = (flags & 0xe3U) == 0x60U;
    }
  }

  Result<std::size_t> read(MutableBytes out) override {
    if (!acceptable_) {
      return Errc::corrupt;
    }
    while (!done_) {
      auto produced = out.size();
      auto consumed = rest_.size();
      const auto hint = LZ4F_decompress(context_.get(), out.data(), &produced, rest_.data(), &consumed, nullptr);
      if (LZ4F_isError(hint) != 0U) {
        if (is_lz4_out_of_memory(hint)) {
          memory_ran_out();
        }
        return Errc::corrupt;
      }
      rest_ = rest_.subspan(consumed);
      done_ = hint == 0;  // bytes behind the first frame are ignored, as Kafka does
      if (produced > 0) {
        return produced;
      }
      if (consumed == 0 && !done_) {
        return Errc::corrupt;  // the frame is cut
      }
    }
    return std::size_t{0};
  }

 private:
  ReusedContext<LZ4F_dctx, Lz4Traits> context_;
  Bytes rest_;
  bool acceptable_ = false;
  bool done_ = false;
};

struct ZstdTraits {
  static ZSTD_DCtx* create() { return ZSTD_createDCtx(); }
  static void release(ZSTD_DCtx* context) { ZSTD_freeDCtx(context); }
  // A frame with a huge window has grown it; the usual levels stay below 3 MiB.
  static bool may_keep(const ZSTD_DCtx* context) { return ZSTD_sizeof_DCtx(context) <= (std::size_t{4} << 20U); }
};

class ZstdSource : public Decompressor::Source {
 public:
  explicit ZstdSource(Bytes source) : in_{source.data(), source.size(), 0}, source_(source) {
    ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
  }

  Result<std::size_t> read(MutableBytes out) override {
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    while (to.pos == 0) {
      if (between_frames_) {
        if (in_.pos == in_.size && in_.pos > 0) {
          return std::size_t{0};
        }
        const auto rest = source_.subspan(in_.pos);
        if (!starts_a_frame(rest)) {
          return Errc::corrupt;
        }
        left_ = ZSTD_getFrameContentSize(rest.data(), rest.size());
      }
      const auto before = in_.pos;
      const auto out_before = to.pos;
      const auto hint = ZSTD_decompressStream(context_.get(), &to, &in_);
      if (ZSTD_isError(hint) != 0U) {
        if (ZSTD_getErrorCode(hint) == ZSTD_error_memory_allocation) {
          memory_ran_out();
        }
        return Errc::corrupt;
      }
      between_frames_ = hint == 0;
      // libzstd checks the content size only if the last block is not empty or the output buffer holds the whole frame.
      // The result must not depend on the size of the reads.
      if (left_ < ZSTD_CONTENTSIZE_ERROR) {
        left_ -= std::min<std::uint64_t>(left_, to.pos - out_before);
        if (between_frames_ && left_ > 0) {
          return Errc::corrupt;
        }
      }
      if (!between_frames_ && to.pos == 0 && in_.pos == before) {
        return Errc::corrupt;  // the frame is cut
      }
    }
    return to.pos;
  }

 private:
  // The library also reads formats from before 1.0; they are not part of the protocol.
  static bool starts_a_frame(Bytes rest) {
    if (rest.size() < 4) {
      return false;
    }
    const auto magic = load_le<std::uint32_t>(rest, 0);
    return magic == ZSTD_MAGICNUMBER || (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
  }

  ReusedContext<ZSTD_DCtx, ZstdTraits> context_;
  ZSTD_inBuffer in_;
  Bytes source_;
  bool between_frames_ = true;
  std::uint64_t left_ = ZSTD_CONTENTSIZE_UNKNOWN;  // of the frame's content size, not yet decompressed
};

}  // namespace

bool is_lz4_out_of_memory(std::size_t lz4_error) {
  return std::string_view{LZ4F_getErrorName(lz4_error)} == "ERROR_allocation_failed";
}

std::unique_ptr<Decompressor::Source> make_gzip_source(Bytes source) {
  return std::make_unique<GzipSource>(source);
}
std::unique_ptr<Decompressor::Source> make_lz4_source(Bytes source) {
  return std::make_unique<Lz4Source>(source);
}
std::unique_ptr<Decompressor::Source> make_zstd_source(Bytes source) {
  return std::make_unique<ZstdSource>(source);
}

std::unique_ptr<Decompressor::Source> make_source(Codec codec, Bytes source, std::size_t output_max) {
  switch (codec) {
    case Codec::none: return std::make_unique<PlainSource>(source);
    case Codec::gzip: return make_gzip_source(source);
    case Codec::snappy: return make_snappy_source(source, output_max);
    case Codec::lz4: return make_lz4_source(source);
    case Codec::zstd: return make_zstd_source(source);
  }
  WEIR_CHECK(false);  // a number that is no codec is refused before (RecordBatchView::codec)
}

}  // namespace weir::detail
