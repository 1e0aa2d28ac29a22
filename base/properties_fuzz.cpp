// Any bytes are properties or a refusal; what comes out is never longer than what went in, and its lines exist.
#include "base/bytes.hpp"
#include "base/properties.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = weir::as_text(std::as_bytes(std::span{data, size}));
  if (const auto parsed = weir::parse_properties(text)) {
    const auto lines = 1 + std::ranges::count_if(text, [](char c) { return c == '\n' || c == '\r'; });
    std::size_t total = 0;
    int last = 0;
    for (const auto& property : *parsed) {
      total += property.name.size() + property.value.size();
      if (property.line <= last || property.line > lines) {
        __builtin_trap();
      }
      last = property.line;
    }
    if (total > size) {
      __builtin_trap();
    }
  }
  return 0;
}
