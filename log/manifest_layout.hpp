// Parts of a manifest file, for log/manifest.cpp and log/manifest_codec.cpp. Pure, any thread.
#pragma once

#include "log/manifest.hpp"

namespace weir::log {

inline constexpr std::size_t kManifestHeaderSize = 64;
inline constexpr std::size_t kManifestRecordHeaderSize = 16;  // CRC, size, number
[[nodiscard]] constexpr std::size_t manifest_record_size(std::size_t edits_size) {
  return (kManifestRecordHeaderSize + edits_size + 7) & ~std::size_t{7};
}

std::vector<std::byte> encode_manifest_header(std::uint64_t seed);
std::vector<std::byte> encode_manifest_record(std::span<const ManifestEdit> edits, std::uint64_t number,
                                              std::uint64_t seed);

}  // namespace weir::log
