#include "coordinator/metadata/topic_name.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace weir::metadata {
namespace {
bool is_legal(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}
}  // namespace

std::optional<std::string> refuse_topic_name(std::string_view name) {
  if (name.empty()) {
    return "A topic needs a name that is not empty.";
  }
  if (name == "." || name == "..") {
    return "A topic cannot be named '.' or '..'.";
  }
  if (const auto length = utf16_length(name); length > kTopicNameMax) {
    return "A topic name has at most " + std::to_string(kTopicNameMax) + " characters; this one has " +
           std::to_string(length) + ".";
  }
  if (!std::all_of(name.begin(), name.end(), is_legal)) {
    return "A topic name has only the characters a-z, A-Z, 0-9, '.', '_' and '-'.";
  }
  return std::nullopt;
}

}  // namespace weir::metadata
