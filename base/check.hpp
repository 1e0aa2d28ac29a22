// WEIR_CHECK: a fact that only a bug of ours can break. On in every build; a broken one prints itself and aborts.
// Input from outside never reaches it: that is a Result (base/result.hpp). WEIR_DCHECK is for hot loops: debug builds
// only.
#pragma once

namespace weir {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace weir

#define WEIR_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::weir::check_failed(#condition, __FILE__, __LINE__))
#ifdef NDEBUG
#define WEIR_DCHECK(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#else
#define WEIR_DCHECK(condition) WEIR_CHECK(condition)
#endif
