#include "sim/seams/seeds.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/check.hpp"

namespace weir::sim {
namespace {
std::optional<std::uint64_t> number_from(const char* variable) {
  const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): tests read it before any thread exists
  if (text == nullptr) {
    return std::nullopt;
  }
  const std::string_view digits{text};
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  WEIR_CHECK(error == std::errc{} && end == digits.data() + digits.size());
  return value;
}
}  // namespace

std::vector<std::uint64_t> seeds(std::size_t count) {
  if (const auto only = number_from("WEIR_SEED")) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(*only));
    std::fflush(stdout);
    return {*only};
  }
  const auto base = number_from("WEIR_SEED_BASE").value_or(1);
  std::printf("%zu seeds from %llu (WEIR_SEED=N repeats one)\n", count, static_cast<unsigned long long>(base));
  std::fflush(stdout);
  std::vector<std::uint64_t> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = base + i;
  }
  return all;
}

std::size_t seed_count(std::size_t usual) {
  return number_from("WEIR_SEEDS").value_or(usual);
}

}  // namespace weir::sim
