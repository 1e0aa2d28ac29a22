// What an errno means to us: the one place that decides it, for the real disk and for the simulated one alike, so that
// a test which injects an errno meets what the kernel's would meet. What the log does then: docs/internals/ERRNO.md.
#pragma once

#include "base/result.hpp"

namespace weir {

// Of any call but a sync.
// ENOENT: not_found. EEXIST: already_exists. ENOSPC, EDQUOT: disk_full. EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN:
// out_of_resources, for they say nothing about the disk. Every other one: disk_failed with the errno.
[[nodiscard]] Error error_of_errno(int number);

// Of fsync and fdatasync: disk_failed whatever the errno is. The kernel may have dropped the pages that it could not
// write and takes them for clean afterwards, so a sync that failed for lack of room is not to be repeated either.
[[nodiscard]] Error error_of_failed_sync(int number);
// Is it a folder, a pipe, a socket or a device that stands where a file was to be opened?
bool is_of_no_file(const Error& error);

}  // namespace weir
