// The error codes of Kafka's protocol, from the rows of errors.def. Constants only; any thread.
// broker/error_map is the one place that turns our own Errc into one of these.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::protocol {

enum class ErrorCode : std::int16_t {
#define WEIR_ERROR(code, name, retriable, text) name = (code),
#include "protocol/errors.def"
#undef WEIR_ERROR
};

// What the int16 fields of messages hold.
constexpr std::int16_t wire(ErrorCode code) {
  return static_cast<std::int16_t>(code);
}
std::optional<ErrorCode> error_code_from(std::int16_t value);  // nullopt for a number that is no row
std::string_view to_string(ErrorCode code);                    // Kafka's name: "NOT_LEADER_OR_FOLLOWER"
std::string_view error_text(ErrorCode code);                   // one short sentence for people
bool is_retriable(ErrorCode code);                             // a client may send the same request again

}  // namespace weir::protocol
