#include "base/errno_error.hpp"

#include <cerrno>

namespace weir {

Error error_of_errno(int number) {
  switch (number) {
    case ENOENT: return {Errc::not_found, number};
    case EEXIST: return {Errc::already_exists, number};
    case ENOSPC:
    case EDQUOT: return {Errc::disk_full, 0};
    case EFBIG:  // the process's limit of a file's size
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case EAGAIN: return {Errc::out_of_resources, number};
    default: return {Errc::disk_failed, number};
  }
}

Error error_of_failed_sync(int number) {
  return {Errc::disk_failed, number};
}

bool is_of_no_file(const Error& error) {
  return error.code == Errc::disk_failed && (error.detail == EISDIR || error.detail == ENXIO);
}

}  // namespace weir
