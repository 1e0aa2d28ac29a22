// The kinds of operations of SimDisk, for counts, faults and crash points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::sim {

enum class DiskOperation : std::uint8_t {
  open,
  create,
  write,
  read,
  sync,
  truncate,
  allocate,
  rename,
  remove,
  make_directories,
  sync_directory,
  list,
  map,
  lock,
  ask_size,  // of a file
  ask_room   // free_bytes() and total_bytes()
};
constexpr std::size_t kDiskOperations = 16;
std::string_view to_string(DiskOperation operation);
bool changes_something(DiskOperation operation);

}  // namespace weir::sim
