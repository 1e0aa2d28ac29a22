// DumpLine: one line of `weir log dump`, as plain words (`name=value ...`) or as one JSON object, from the same calls.
// Names and texts come from this folder's code, never from data, so nothing needs escaping. A value; one thread.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "base/ids.hpp"

namespace weir::log {

class DumpLine {
 public:
  explicit DumpLine(bool json) : json_(json), text_(json ? "{" : "") {}
  DumpLine& add(std::string_view name, std::integral auto value) {
    begin(name);
    text_ += std::to_string(value);
    return *this;
  }
  DumpLine& add(std::string_view name, std::string_view value) {
    begin(name);
    text_ += json_ ? '"' + std::string(value) + '"' : std::string(value);
    return *this;
  }
  DumpLine& add(std::string_view name, const char* value) { return add(name, std::string_view{value}); }
  DumpLine& add(std::string_view name, const Uuid& id) { return add(name, std::string_view{to_string(id)}); }
  DumpLine& add_flag(std::string_view name, bool value) { return value ? add_true(name) : *this; }
  [[nodiscard]] std::string finish() const { return json_ ? text_ + "}" : text_; }

 private:
  DumpLine& add_true(std::string_view name) {
    if (json_) {
      begin(name);
      text_ += "true";
    } else {
      text_ += (text_.empty() ? "" : " ") + std::string(name);
    }
    return *this;
  }
  void begin(std::string_view name) {
    if (json_) {
      text_ += (text_.size() > 1 ? ",\"" : "\"") + std::string(name) + "\":";
    } else {
      text_ += (text_.empty() ? "" : " ") + std::string(name) + "=";
    }
  }
  bool json_;
  std::string text_;
};

}  // namespace weir::log
