#include "protocol/frames.hpp"

namespace weir::protocol {

BufferChain request_frame(std::int16_t api_key, std::int16_t version, std::int32_t correlation_id,
                          std::string_view client_id, BufferChain body) {
  auto out = Writer::framed();
  WEIR_CHECK(write_request_header(out, api_key, version, correlation_id, Text::borrow(client_id)).has_value());
  out.write_chain(std::move(body));
  return out.finish();
}

}  // namespace weir::protocol
