// Builds the one-line dump of a message for logs: only fields that differ from their default, long texts and lists cut,
// bytes as sizes, secrets hidden. Used by generated code; a local value of one thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "protocol/types.hpp"

namespace weir::protocol {

class LogLine {
 public:
  explicit LogLine(std::string_view name) : line_(name) { line_ += '{'; }
  [[nodiscard]] std::string finish() {
    line_ += '}';
    return std::move(line_);
  }

  template <class T>
  void field(std::string_view name, const T& value) {
    begin(name);
    add(value);
  }
  void hidden(std::string_view name) {
    begin(name);
    line_ += "<hidden>";
  }
  template <class T, class Describe>
  void nested(std::string_view name, const T& value, Describe describe) {
    begin(name);
    add_struct(value, describe);
  }
  template <class T, class Describe>
  void list(std::string_view name, const T& value, Describe describe) {
    begin(name);
    add_list(value, [&](const auto& each) { add_struct(each, describe); });
  }

 private:
  static constexpr std::size_t kListMax = 8;   // elements shown
  static constexpr std::size_t kTextMax = 80;  // characters shown of one text
  static constexpr std::size_t kLineMax = 2000;

  void begin(std::string_view name);
  void add(bool value) { line_ += value ? "true" : "false"; }
  template <std::integral Int>
    requires(!std::same_as<Int, bool>)
  void add(Int value) {
    line_ += std::to_string(value);
  }
  void add(double value) { line_ += std::to_string(value); }
  void add(const Text& value);
  void add(const Uuid& value) { line_ += to_string(value); }
  void add(const Blob& value) { add_size(value.size()); }
  void add(const BufferChain& value) { add_size(value.size()); }
  template <class T>
  void add(const std::optional<T>& value) {
    if (value) {
      add(*value);
    } else {
      line_ += "null";
    }
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add_list(values, [&](const auto& each) { add(each); });
  }
  template <class T, class Describe>
  void add_struct(const T& value, Describe& describe) {
    line_ += '{';
    describe(value);
    line_ += '}';
  }
  template <class T, class Describe>
  void add_struct(const std::optional<T>& value, Describe& describe) {
    if (value) {
      add_struct(*value, describe);
    } else {
      line_ += "null";
    }
  }
  template <class T, class Add>
  void add_list(const std::vector<T>& values, Add add_one) {
    line_ += '[';
    std::size_t shown = 0;
    for (const auto& each : values) {
      if (shown == kListMax || line_.size() > kLineMax) {
        add_more(values.size() - shown);
        break;
      }
      line_ += shown++ == 0 ? "" : ", ";
      add_one(each);
    }
    line_ += ']';
  }
  template <class T, class Add>
  void add_list(const std::optional<std::vector<T>>& values, Add add_one) {
    if (values) {
      add_list(*values, add_one);
    } else {
      line_ += "null";
    }
  }
  void add_size(std::size_t size);
  void add_more(std::size_t count);

  std::string line_;
};

}  // namespace weir::protocol
