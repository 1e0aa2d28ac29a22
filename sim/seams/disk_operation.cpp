#include "sim/seams/disk_operation.hpp"

#include <array>

namespace weir::sim {
namespace {
struct Row {
  DiskOperation operation;
  std::string_view name;
  bool changes;
};
constexpr std::array<Row, kDiskOperations> kRows{{{DiskOperation::open, "open", false},
                                                  {DiskOperation::create, "create", true},
                                                  {DiskOperation::write, "write", true},
                                                  {DiskOperation::read, "read", false},
                                                  {DiskOperation::sync, "sync", true},
                                                  {DiskOperation::truncate, "truncate", true},
                                                  {DiskOperation::allocate, "allocate", true},
                                                  {DiskOperation::rename, "rename", true},
                                                  {DiskOperation::remove, "remove", true},
                                                  {DiskOperation::make_directories, "make_directories", true},
                                                  {DiskOperation::sync_directory, "sync_directory", true},
                                                  {DiskOperation::list, "list", false},
                                                  {DiskOperation::map, "map", false},
                                                  {DiskOperation::lock, "lock", false},
                                                  {DiskOperation::ask_size, "ask_size", false},
                                                  {DiskOperation::ask_room, "ask_room", false}}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].operation) != i) {
      return false;
    }
  }
  return true;
}
static_assert(is_in_order());
}  // namespace

std::string_view to_string(DiskOperation operation) {
  return kRows[static_cast<std::size_t>(operation)].name;
}

bool changes_something(DiskOperation operation) {
  return kRows[static_cast<std::size_t>(operation)].changes;
}

}  // namespace weir::sim
