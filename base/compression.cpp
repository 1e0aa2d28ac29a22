#include "base/compression.hpp"

#include <algorithm>
#include <array>

#include "base/decompress_sources.hpp"

namespace weir {
namespace {
constexpr std::array<std::string_view, kCodecMax + 1> kNames{"none", "gzip", "snappy", "lz4", "zstd"};
}  // namespace

std::string_view to_string(Codec codec) {
  return kNames[static_cast<std::size_t>(codec)];
}

std::optional<Codec> codec_from_string(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    return std::nullopt;
  }
  return static_cast<Codec>(found - kNames.begin());
}

Decompressor::Decompressor(Codec codec, Bytes source, std::size_t output_max)
    : source_(detail::make_source(codec, source, output_max)), output_max_(output_max) {}

Decompressor::~Decompressor() = default;

Result<std::size_t> Decompressor::read(MutableBytes out) {
  WEIR_CHECK(!out.empty());
  if (failure_) {
    return *failure_;
  }
  const auto left = output_max_ - produced_;
  // At the limit one more byte is asked for, to tell an input that ends there from one that goes on.
  std::byte probe{};
  const auto room = left == 0 ? MutableBytes{&probe, 1} : out.first(std::min(out.size(), left));
  const auto count = source_->read(room);
  if (!count) {
    failure_ = Error{count.error().code,
                     static_cast<std::int64_t>(count.error().code == Errc::too_large ? output_max_ : produced_)};
  } else if (left == 0 && *count > 0) {
    failure_ = Error{Errc::too_large, static_cast<std::int64_t>(output_max_)};
  } else {
    produced_ += *count;
    return *count;
  }
  return *failure_;
}

Result<std::vector<std::byte>> decompress(Codec codec, Bytes source, std::size_t output_max) {
  Decompressor from{codec, source, output_max};
  std::vector<std::byte> out;
  std::size_t used = 0;
  for (;;) {
    if (used == out.size()) {
      constexpr std::size_t kFirstStep = 16 * 1024;
      out.resize(std::max(kFirstStep, out.size() * 2));  // at most twice what has really come out
    }
    WEIR_TRY(const auto count, from.read(MutableBytes{out}.subspan(used)));
    if (count == 0) {
      out.resize(used);
      return out;
    }
    used += count;
  }
}

}  // namespace weir
