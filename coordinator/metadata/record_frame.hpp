// Metadata records as they stand in the `__cluster_metadata` log: Kafka's frame (version 1, kind, version of the kind,
// all unsigned varints) and then the generated message. Pure; a list belongs to whoever builds it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "base/result.hpp"
#include "protocol/codec.hpp"

namespace weir::metadata {

struct RecordFrame {
  std::int32_t kind = -1;  // the message's kApiKey
  std::int16_t version = 0;
  Bytes body;
};

// corrupt if it is cut or has another frame version.
Result<RecordFrame> parse_frame(Bytes frame);

// The whole body as M. unsupported for a version that this build does not know, corrupt for anything malformed.
template <class M>
Result<M> decode_record(const RecordFrame& frame) {
  if (frame.version < M::kMinVersion || frame.version > M::kMaxVersion) {
    return Error{Errc::unsupported, frame.version};
  }
  return protocol::decode_all<M>(frame.body, frame.version, protocol::Trailing::refuse);
}

// Framed records one behind the other in one buffer.
class RecordList {
 public:
  template <class M>
  void add(const M& message, std::int16_t version) {
    const auto body = protocol::encode_all(message, version);
    WEIR_CHECK(body);  // we choose message and version, so it fits
    add_framed(M::kApiKey, version, *body);
  }
  void add_frame(Bytes frame);  // one that has its frame already

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] bool empty() const { return ends_.empty(); }
  [[nodiscard]] std::size_t size_bytes() const { return bytes_.size(); }
  [[nodiscard]] Bytes operator[](std::size_t number) const {
    const auto from = number == 0 ? 0 : ends_[number - 1];
    return Bytes{bytes_}.subspan(from, ends_[number] - from);
  }

 private:
  void add_framed(std::int32_t kind, std::int16_t version, Bytes body);
  std::vector<std::byte> bytes_;
  std::vector<std::size_t> ends_;
};

}  // namespace weir::metadata
