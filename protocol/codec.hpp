// Whole messages from and to buffers: what clients, coordinators and tests use. Handlers use Reader and Writer
// directly.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "protocol/reader.hpp"
#include "protocol/writer.hpp"

namespace weir::protocol {

// Kafka accepts bytes after the body of a request; records on disk and tests do not.
enum class Trailing : std::uint8_t { accept, refuse };

// Strings and bytes of the message borrow `from`, which is Bytes or a SharedBytes that `records` then share.
template <class M, class From>
Result<M> decode_all(const From& from, std::int16_t version, Trailing trailing = Trailing::accept) {
  Reader in{from};
  Result<M> message{M{}};
  WEIR_TRY_VOID(decode(in, version, *message));
  if (trailing == Trailing::refuse && in.remaining() > 0) {
    return {Errc::corrupt, static_cast<std::int64_t>(in.position())};
  }
  return message;
}

template <class M>
Result<std::vector<std::byte>> encode_all(const M& message, std::int16_t version) {
  Writer out;
  WEIR_TRY_VOID(encode(out, version, message));
  return out.finish().flatten();
}

}  // namespace weir::protocol
