#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace weir {
void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "weir: CHECK failed: %s at %s:%d\n", condition, file, line);
  std::fflush(stderr);
  std::abort();
}
}  // namespace weir
