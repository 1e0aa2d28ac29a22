// Any bytes as a manifest: refused, or a state that a rewrite gives back.
#include "log/manifest.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto content = weir::log::decode_manifest(std::as_bytes(std::span{data, size}));
  if (!content) {
    return 0;
  }
  if (content->valid_size + content->torn_bytes != static_cast<std::int64_t>(size)) {
    __builtin_trap();
  }
  const auto again = weir::log::decode_manifest(weir::log::encode_manifest(content->state, content->seed));
  if (!again || !(again->state == content->state)) {
    __builtin_trap();
  }
  return 0;
}
