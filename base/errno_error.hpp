// What an errno means to us: the one place that decides it, for the real disk and for the simulated one alike, so that
// a test which injects an errno meets what the kernel's would meet.
#pragma once

#include "base/result.hpp"

namespace weir {

// ENOENT: not_found. EEXIST: already_exists. ENOSPC and EDQUOT: disk_full. Every other one: disk_failed with the errno.
[[nodiscard]] Error error_of_errno(int number);

}  // namespace weir
