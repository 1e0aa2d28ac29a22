#include "protocol/log_line.hpp"

namespace weir::protocol {

void LogLine::begin(std::string_view name) {
  if (line_.back() != '{') {
    line_ += ", ";
  }
  line_ += name;
  line_ += '=';
}

// Text comes from clients: control characters must not forge lines of the log.
void LogLine::add(const Text& value) {
  constexpr unsigned char kFirstPrintable = 0x20;
  constexpr unsigned char kDelete = 0x7f;
  line_ += '"';
  for (const char each : value.view().substr(0, kTextMax)) {
    const auto code = static_cast<unsigned char>(each);
    const bool plain = code >= kFirstPrintable && code != kDelete && each != '"' && each != '\\';
    line_ += plain ? each : '?';
  }
  line_ += '"';
  if (value.size() > kTextMax) {
    add_more(value.size() - kTextMax);
  }
}

void LogLine::add_size(std::size_t size) {
  line_ += '<';
  line_ += std::to_string(size);
  line_ += " bytes>";
}

void LogLine::add_more(std::size_t count) {
  line_ += " +";
  line_ += std::to_string(count);
}

}  // namespace weir::protocol
