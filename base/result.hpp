// Result<T>: a value or an Error, for every failure that comes from outside (wire, disk, user). Never for our own bugs
// (base/check.hpp) and never for answers on the wire (protocol/errors.hpp); broker/error_map is the only bridge to
// those.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <string>

namespace weir {

enum class Errc : std::uint8_t {
  truncated,         // fewer bytes than the format says; detail: bytes missing or position
  corrupt,           // bytes that no writer of ours and no honest client produced; detail: position
  unsupported,       // a version, codec or kind that this build does not know; detail: its number
  invalid_argument,  // a value a caller may not pass; detail: the value
  too_large,         // over a named limit; detail: the size asked for
  not_found,         // a file, topic, partition, group that is not there
  already_exists,    //
  out_of_range,      // an offset outside [start, end]; detail: the offset
  disk_failed,       // read, write or sync failed; detail: errno
  disk_full,         // the volume or our reserve has no room; detail: bytes free
  out_of_resources,  // descriptors or memory of the system ran out, the disk said nothing; detail: errno
  read_only,         // the log refuses writes after a failed write or sync
  in_use,            // a lock or a port that somebody else holds; detail: pid or port
  closed,            // the peer or we have closed; a stop is under way
  timed_out,         //
  out_of_sequence,   // idempotent producer: a gap in its sequence numbers; detail: the sequence
  stale_epoch,       // idempotent producer: an epoch older than the newest seen; detail: the epoch
};

std::string_view to_string(Errc code);

struct Error {
  Errc code;
  std::int64_t detail = 0;
  friend bool operator==(const Error&, const Error&) = default;
};

// Something is short that may be there again in a while: nothing was done, or it may be done once more as a whole.
constexpr bool is_shortage(const Error& error) {
  return error.code == Errc::disk_full || error.code == Errc::out_of_resources;
}

std::string to_string(const Error& error);
[[noreturn]] void throw_exception_from_error(const Error& error, const boost::source_location& where);

template <class T>
class [[nodiscard]] Result : public boost::system::result<T, Error> {
 public:
  using boost::system::result<T, Error>::result;
  Result(Errc code, std::int64_t detail = 0) : boost::system::result<T, Error>(Error{code, detail}) {}
};

template <>
class [[nodiscard]] Result<void> : public boost::system::result<void, Error> {
 public:
  using boost::system::result<void, Error>::result;
  Result(Errc code, std::int64_t detail = 0) : boost::system::result<void, Error>(Error{code, detail}) {}
};

#define WEIR_CONCAT_INNER(a, b) a##b
#define WEIR_CONCAT(a, b) WEIR_CONCAT_INNER(a, b)
// WEIR_TRY(const auto x, expression): the value, or return the error of `expression`. WEIR_TRY_VOID for Result<void>.
#define WEIR_TRY(declaration, ...) WEIR_TRY_AS(WEIR_CONCAT(weir_try_, __LINE__), declaration, __VA_ARGS__)
#define WEIR_TRY_AS(name, declaration, ...) \
  auto name = (__VA_ARGS__);                \
  if (!name) {                              \
    return name.error();                    \
  }                                         \
  declaration = std::move(*name)
#define WEIR_TRY_VOID(...)                                \
  do {                                                    \
    if (auto weir_result = (__VA_ARGS__); !weir_result) { \
      return weir_result.error();                         \
    }                                                     \
  } while (false)

}  // namespace weir
