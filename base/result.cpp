#include "base/result.hpp"

#include <stdexcept>
#include <system_error>

namespace weir {

std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::truncated: return "truncated";
    case Errc::corrupt: return "corrupt";
    case Errc::unsupported: return "unsupported";
    case Errc::invalid_argument: return "invalid argument";
    case Errc::too_large: return "too large";
    case Errc::not_found: return "not found";
    case Errc::already_exists: return "already exists";
    case Errc::out_of_range: return "out of range";
    case Errc::disk_failed: return "disk failed";
    case Errc::disk_full: return "disk full";
    case Errc::read_only: return "read only";
    case Errc::in_use: return "in use";
    case Errc::closed: return "closed";
    case Errc::timed_out: return "timed out";
    case Errc::out_of_sequence: return "out of sequence";
    case Errc::stale_epoch: return "stale epoch";
  }
  return "unknown";
}

std::string to_string(const Error& error) {
  auto text = std::string(to_string(error.code)) + " (" + std::to_string(error.detail) + ")";
  if (error.code == Errc::disk_failed && error.detail > 0) {
    text += ": " + std::generic_category().message(static_cast<int>(error.detail));
  }
  return text;
}

void throw_exception_from_error(const Error& error, const boost::source_location& where) {
  throw std::runtime_error(to_string(error) + " unchecked at " + where.to_string());
}

}  // namespace weir
