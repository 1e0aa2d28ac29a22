// The header in front of every request and response body. A parsed header borrows the frame it came from; it belongs to
// the connection that read the frame.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "protocol/reader.hpp"
#include "protocol/types.hpp"
#include "protocol/writer.hpp"

namespace weir::protocol {

struct ParsedRequest {
  std::int16_t api_key = -1;
  std::int16_t version = -1;
  std::int32_t correlation_id = 0;
  std::optional<Text> client_id;  // null is legal
  Reader body;                    // stands at the first byte of the body
};

// `frame` is what follows the int32 frame size. An unknown key is Errc::unsupported, whatever follows it. A version
// that the API does not have is not an error here: ApiVersions answers such a request, the dispatcher refuses all
// others.
Result<ParsedRequest> parse_request(const SharedBytes& frame);

// The answer's header. The caller has checked that the key is known.
void write_response_header(Writer& out, std::int16_t api_key, std::int16_t version, std::int32_t correlation_id);

// What a client sends; the other direction of the two above.
Result<void> write_request_header(Writer& out, std::int16_t api_key, std::int16_t version, std::int32_t correlation_id,
                                  const std::optional<Text>& client_id);
struct ParsedResponse {
  std::int32_t correlation_id = 0;
  Reader body;
};
Result<ParsedResponse> parse_response(const SharedBytes& frame, std::int16_t api_key, std::int16_t version);

}  // namespace weir::protocol
