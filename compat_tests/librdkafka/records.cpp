// The records that every client sends: the formulas of harness/records.py.
#include <charconv>

#include "librdkafka/support.hpp"

namespace compat {

namespace {

struct Header {
  std::string name;
  std::optional<std::string> text;
  bool operator==(const Header&) const = default;
};

std::vector<Header> headers_of(std::int64_t id, const std::string& codec) {
  return {{"id", std::to_string(id)}, {"codec", codec},         {"same", "first"},
          {"same", "second"},         {"empty", std::string{}}, {"null", std::nullopt}};
}

std::vector<Header> headers(RdKafka::Message& message) {
  std::vector<Header> found;
  if (message.headers() == nullptr) {
    return found;
  }
  for (const auto& header : message.headers()->get_all()) {
    const auto* bytes = static_cast<const char*>(header.value());
    found.push_back(
        {header.key(), bytes == nullptr ? std::nullopt : std::optional(std::string(bytes, header.value_size()))});
  }
  return found;
}

}  // namespace

std::optional<std::string> key_of(std::int64_t id) {
  if (id % 50 == 49) {
    return std::nullopt;
  }
  return "key-" + std::to_string(id * 31 % 499);
}

std::string value_of(std::int64_t id) {
  static const auto seed = environment_number("WEIR_SEED");
  const auto length = (id * 7919 + seed) % 300;
  std::string text = "value-" + std::to_string(id) + "-";
  for (std::int64_t at = 0; at < length; ++at) {
    text.push_back(static_cast<char>('a' + (id + at) % 26));
  }
  return text;
}

Record standard_record(const std::string& topic, std::int64_t id, const std::string& codec) {
  auto* headers = RdKafka::Headers::create();
  for (const auto& [name, text] : headers_of(id, codec)) {
    headers->add(name, text ? text->data() : nullptr, text ? text->size() : 0);
  }
  return {.topic = topic, .key = key_of(id), .value = value_of(id), .headers = headers, .id = id};
}

std::int64_t check_content(RdKafka::Message& message, const std::string& codec) {
  const auto text = value(message).value_or("");
  constexpr std::string_view kStart = "value-";
  std::int64_t id = -1;
  if (text.starts_with(kStart)) {
    std::from_chars(text.data() + kStart.size(), text.data() + text.size(), id);
  }
  const auto name = "record " + std::to_string(id);
  if (id < 0 || text != value_of(id)) {
    throw Refused(name + " has another value: " + text);
  }
  if (key(message) != key_of(id)) {
    throw Refused(name + " has another key: " + key(message).value_or("null"));
  }
  if (headers(message) != headers_of(id, codec)) {
    throw Refused(name + " has other headers");
  }
  if (message.timestamp().timestamp <= 0) {
    throw Refused(name + " has no timestamp");
  }
  return id;
}

}  // namespace compat
