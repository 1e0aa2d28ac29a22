#include "base/errno_error.hpp"

#include <cerrno>

namespace weir {

Error error_of_errno(int number) {
  switch (number) {
    case ENOENT: return {Errc::not_found, number};
    case EEXIST: return {Errc::already_exists, number};
    case ENOSPC:
    case EDQUOT: return {Errc::disk_full, 0};
    default: return {Errc::disk_failed, number};
  }
}

}  // namespace weir
