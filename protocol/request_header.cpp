#include "protocol/request_header.hpp"

#include "protocol/gen/api_table.hpp"
#include "protocol/gen/request_header.hpp"
#include "protocol/gen/response_header.hpp"

namespace weir::protocol {

Result<ParsedRequest> parse_request(const SharedBytes& frame) {
  // The form of the header depends on its own first two fields.
  Reader peek{frame};
  const auto api_key = peek.read_int16();
  const auto version = peek.read_int16();
  WEIR_TRY_VOID(peek.result());
  if (find_api(api_key) == nullptr) {
    return Error{Errc::unsupported, api_key};
  }
  Reader in{frame};
  RequestHeader header;
  WEIR_TRY_VOID(decode(in, request_header_version(api_key, version), header));
  return ParsedRequest{api_key, version, header.correlation_id, std::move(header.client_id), std::move(in)};
}

void write_response_header(Writer& out, std::int16_t api_key, std::int16_t version, std::int32_t correlation_id) {
  ResponseHeader header;
  header.correlation_id = correlation_id;
  WEIR_CHECK(encode(out, response_header_version(api_key, version), header).has_value());
}

Result<void> write_request_header(Writer& out, std::int16_t api_key, std::int16_t version, std::int32_t correlation_id,
                                  const std::optional<Text>& client_id) {
  RequestHeader header;
  header.request_api_key = api_key;
  header.request_api_version = version;
  header.correlation_id = correlation_id;
  header.client_id = client_id;
  return encode(out, request_header_version(api_key, version), header);
}

Result<ParsedResponse> parse_response(const SharedBytes& frame, std::int16_t api_key, std::int16_t version) {
  Reader in{frame};
  ResponseHeader header;
  WEIR_TRY_VOID(decode(in, response_header_version(api_key, version), header));
  return ParsedResponse{header.correlation_id, std::move(in)};
}

}  // namespace weir::protocol
