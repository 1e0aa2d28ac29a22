// CRC-32C (Castagnoli), the checksum of record batches and of our own files. Pure, any thread.
#pragma once

#include <cstdint>

#include "base/bytes.hpp"

namespace weir {

// crc32c(b, crc32c(a)) is the checksum of a followed by b; without a seed it starts a new one.
std::uint32_t crc32c(Bytes bytes, std::uint32_t seed = 0);

}  // namespace weir
