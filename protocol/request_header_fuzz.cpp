// Any frame: refused, or a body that lies inside the frame.
#include <cstdint>

#include "protocol/request_header.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  const auto frame = SharedBytes::copy_of(std::as_bytes(std::span{data, size}));
  const auto request = protocol::parse_request(frame);
  if (request && request->body.position() + request->body.remaining() != size) {
    __builtin_trap();
  }
  if (request && request->client_id && request->client_id->size() > size) {
    __builtin_trap();
  }
  return 0;
}
