#include "base/count_of.hpp"

namespace weir {

std::string count_of(std::int64_t count, std::string_view one, std::string_view many) {
  const auto word = count == 1 ? std::string{one} : many.empty() ? std::string{one} + "s" : std::string{many};
  return std::to_string(count) + " " + word;
}

}  // namespace weir
