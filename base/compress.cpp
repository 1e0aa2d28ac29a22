#include <lz4frame.h>
#include <lz4hc.h>
#include <snappy.h>
#include <zlib.h>
#define ZSTD_STATIC_LINKING_ONLY  // for ZSTD_sizeof_CCtx
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>

#include "base/compression.hpp"
#include "base/decompress_sources.hpp"

namespace weir {
namespace {

using Output = std::vector<std::byte>;

Result<Output> gzip(Bytes source, int level) {
  z_stream z{};
  constexpr int kGzipOnly = 15 + 16;
  constexpr int kMemoryLevel = 8;
  if (const auto status = deflateInit2(&z, level, Z_DEFLATED, kGzipOnly, kMemoryLevel, Z_DEFAULT_STRATEGY);
      status != Z_OK) {
    if (status == Z_MEM_ERROR) {
      memory_ran_out();
    }
    return Errc::invalid_argument;
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ended{&z, &deflateEnd};
  Output out(deflateBound(&z, source.size()));
  z.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(source.data()));
  z.avail_in = static_cast<uInt>(source.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const auto status = deflate(&z, Z_FINISH);
  out.resize(out.size() - z.avail_out);
  WEIR_CHECK(status == Z_STREAM_END);  // deflateBound made room for all of it
  return out;
}

Result<Output> xerial_snappy(Bytes source) {
  Output out(detail::kXerialHeaderSize);
  std::memcpy(out.data(), detail::kXerialMagic.data(), detail::kXerialMagic.size());
  store_be<std::int32_t>(out, 8, 1);
  store_be<std::int32_t>(out, 12, 1);
  while (!source.empty()) {
    const auto chunk = source.first(std::min(source.size(), detail::kXerialChunkSize));
    source = source.subspan(chunk.size());
    const auto at = out.size();
    out.resize(at + 4 + snappy::MaxCompressedLength(chunk.size()));
    std::size_t written = 0;
    snappy::RawCompress(reinterpret_cast<const char*>(chunk.data()), chunk.size(),
                        reinterpret_cast<char*>(out.data() + at + 4), &written);
    store_be(out, at, static_cast<std::int32_t>(written));
    out.resize(at + 4 + written);
  }
  return out;
}

Result<Output> lz4(Bytes source, int level) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockSizeID = LZ4F_max64KB;
  preferences.frameInfo.blockMode = LZ4F_blockIndependent;
  preferences.compressionLevel = level;
  Output out(LZ4F_compressFrameBound(source.size(), &preferences));
  const auto written = LZ4F_compressFrame(out.data(), out.size(), source.data(), source.size(), &preferences);
  if (LZ4F_isError(written) != 0U && detail::is_lz4_out_of_memory(written)) {
    memory_ran_out();
  }
  WEIR_CHECK(LZ4F_isError(written) == 0U);
  out.resize(written);
  return out;
}

struct ZstdTraits {
  static ZSTD_CCtx* create() { return ZSTD_createCCtx(); }
  static void release(ZSTD_CCtx* context) { ZSTD_freeCCtx(context); }
  static bool may_keep(const ZSTD_CCtx* context) { return ZSTD_sizeof_CCtx(context) <= (std::size_t{8} << 20U); }
};

Result<Output> zstd(Bytes source, int level) {
  const detail::ReusedContext<ZSTD_CCtx, ZstdTraits> context;
  Output out(ZSTD_compressBound(source.size()));
  const auto written = ZSTD_compressCCtx(context.get(), out.data(), out.size(), source.data(), source.size(), level);
  if (ZSTD_getErrorCode(written) == ZSTD_error_memory_allocation) {
    memory_ran_out();
  }
  WEIR_CHECK(ZSTD_isError(written) == 0U);
  out.resize(written);
  return out;
}

}  // namespace

std::optional<CodecLevels> codec_levels(Codec codec) {
  switch (codec) {
    case Codec::none:
    case Codec::snappy: return std::nullopt;
    case Codec::gzip: return CodecLevels{1, 9, Z_DEFAULT_COMPRESSION};
    case Codec::lz4: return CodecLevels{1, 17, 9};
    case Codec::zstd: return CodecLevels{ZSTD_minCLevel(), 22, 3};
  }
  return std::nullopt;
}

Result<std::vector<std::byte>> compress(Codec codec, Bytes source, std::optional<int> level) {
  constexpr std::size_t kSourceMax = INT32_MAX;  // a record batch has an int32 length
  if (source.size() > kSourceMax) {
    return Error{Errc::too_large, std::ssize(source)};
  }
  const auto levels = codec_levels(codec);
  const auto standard = !level || (levels && *level == levels->standard);
  if (!standard && (!levels || *level < levels->min || *level > levels->max)) {
    return Error{Errc::invalid_argument, *level};
  }
  switch (codec) {
    case Codec::none: return std::vector<std::byte>(source.begin(), source.end());
    case Codec::gzip: return gzip(source, level.value_or(levels->standard));
    case Codec::snappy: return xerial_snappy(source);
    // Kafka's standard level means the fast compressor, every other one the high compression one.
    case Codec::lz4: return lz4(source, standard ? 0 : std::clamp(*level, LZ4HC_CLEVEL_MIN, LZ4HC_CLEVEL_MAX));
    case Codec::zstd: return zstd(source, level.value_or(levels->standard));
  }
  return Error{Errc::unsupported, static_cast<std::int64_t>(codec)};
}

}  // namespace weir
