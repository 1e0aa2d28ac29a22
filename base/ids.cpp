#include "base/ids.hpp"

namespace weir {
namespace {
constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kUuidTextSize = 22;
}  // namespace

std::string to_string(const Uuid& id) {
  std::string text;
  text.reserve(kUuidTextSize);
  std::uint32_t bits = 0;
  int held = 0;
  for (const auto byte : id.bytes) {
    bits = (bits << 8U) | std::to_integer<std::uint32_t>(byte);
    held += 8;
    while (held >= 6) {
      held -= 6;
      text.push_back(kAlphabet[(bits >> static_cast<unsigned>(held)) & 63U]);
    }
  }
  text.push_back(kAlphabet[(bits << 4U) & 63U]);  // 128 bits = 21 sextets and 2 bits
  return text;
}

std::optional<Uuid> uuid_from_string(std::string_view text) {
  if (text.size() != kUuidTextSize) {
    return std::nullopt;
  }
  Uuid id;
  std::uint32_t bits = 0;
  int held = 0;
  std::size_t at = 0;
  for (const char letter : text) {
    const auto value = kAlphabet.find(letter);
    if (value == std::string_view::npos) {
      return std::nullopt;
    }
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8 && at < id.bytes.size()) {
      held -= 8;
      id.bytes[at++] = static_cast<std::byte>((bits >> static_cast<unsigned>(held)) & 0xffU);
    }
  }
  return id;
}

}  // namespace weir
