// Four bytes choose the message, one the version, the rest is the body. What decodes must encode, and the encoding must
// be stable: decoded and encoded again it gives the same bytes. (Not always the input's: a varint may be longer than it
// needs, true may be 7.) tools/fuzz/make_corpus.py writes inputs in this form.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "protocol/message_testing.hpp"

namespace {
using weir::protocol::testing::TestMessage;

constexpr std::size_t kChoice = 5;

// By the hash of the name and not by its index, so that a corpus stays true when messages are added.
std::uint32_t hash_of(std::string_view name) {
  std::uint32_t hash = 2'166'136'261U;  // FNV-1a
  for (const char letter : name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 16'777'619U;
  }
  return hash;
}

const TestMessage& choose(std::uint32_t at) {
  static const auto by_hash = [] {
    std::vector<std::pair<std::uint32_t, const TestMessage*>> made;
    for (const auto& message : weir::protocol::testing::test_messages()) {
      made.emplace_back(hash_of(message.name), &message);
    }
    std::sort(made.begin(), made.end());
    return made;
  }();
  const auto found = std::lower_bound(by_hash.begin(), by_hash.end(), at,
                                      [](const auto& entry, std::uint32_t wanted) { return entry.first < wanted; });
  return *(found == by_hash.end() ? by_hash.front() : *found).second;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  if (size < kChoice) {
    return 0;
  }
  const auto input = std::as_bytes(std::span{data, size});
  const auto& message = choose(load_be<std::uint32_t>(input, 0));
  const int versions = message.max_version - message.min_version + 1;
  const auto version = static_cast<std::int16_t>(message.min_version + data[kChoice - 1] % versions);
  // A copy of exactly this size, so that the address sanitizer sees a read past the end.
  const std::vector<std::byte> body(input.begin() + kChoice, input.end());
  if (!message.decode_only(body, version)) {
    return 0;
  }
  const auto first = message.recode(body, version);
  if (!first) {
    __builtin_trap();
  }
  const auto second = message.recode(*first, version);
  if (!second || *second != *first) {
    __builtin_trap();
  }
  static_cast<void>(message.describe(body, version));
  return 0;
}
