// Whole frames, length included: what the broker answers and what a client asks.
#pragma once

#include <string_view>

#include "protocol/request_header.hpp"
#include "protocol/writer.hpp"

namespace weir::protocol {

struct ResponseFrame {
  BufferChain bytes;
  std::vector<std::int16_t> error_codes;  // that are not 0, one for each field
};

// invalid_argument when `version` of the response cannot carry what it holds.
template <class Response>
Result<ResponseFrame> encode_response_frame(std::int32_t correlation_id, std::int16_t version,
                                            const Response& response) {
  auto out = Writer::framed();
  write_response_header(out, Response::kApiKey, version, correlation_id);
  WEIR_TRY_VOID(encode(out, version, response));
  return ResponseFrame{out.finish(), out.take_error_codes()};
}

BufferChain request_frame(std::int16_t api_key, std::int16_t version, std::int32_t correlation_id,
                          std::string_view client_id, BufferChain body);
}  // namespace weir::protocol
