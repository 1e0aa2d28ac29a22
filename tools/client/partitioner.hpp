// Where a record with a key goes: Kafka's murmur2, so that our producer and every client agree. Pure, any thread.
#pragma once

#include <cstdint>

#include "base/bytes.hpp"

namespace weir::client {

std::uint32_t murmur2(Bytes bytes);
// [0, partitions); partitions > 0.
inline std::int32_t partition_of_key(Bytes key, std::int32_t partitions) {
  return static_cast<std::int32_t>(murmur2(key) & 0x7fffffffU) % partitions;
}

}  // namespace weir::client
