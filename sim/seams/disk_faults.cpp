#include "sim/seams/disk_faults.hpp"

#include <cerrno>

namespace weir::sim {
namespace {
// EINTR stands where PosixDisk repeats the call: it must change nothing.
constexpr std::array kOpen{EMFILE, ENFILE, ENOMEM, EINTR, EACCES, EIO};
constexpr std::array kCreate{EMFILE, ENFILE, ENOMEM, EINTR, EACCES, EIO, ENOSPC, EDQUOT};
constexpr std::array kWrite{EIO, ENOSPC, EDQUOT, EINTR, ENOMEM};
constexpr std::array kRead{EIO, ENOMEM, EINTR};
constexpr std::array kSync{EIO, ENOSPC, EDQUOT, EINTR};
constexpr std::array kTruncate{EIO, ENOSPC, EINTR};
constexpr std::array kAllocate{ENOSPC, EDQUOT, EIO, EINTR};
constexpr std::array kRename{EIO, ENOSPC, EDQUOT, ENOMEM, EACCES, EROFS};
constexpr std::array kRemove{EIO, ENOMEM, EACCES, EROFS};
constexpr std::array kMakeDirectories{ENOSPC, EDQUOT, EIO, ENOMEM, EACCES};
constexpr std::array kSyncDirectory{EIO, ENOSPC, EMFILE, ENFILE, ENOMEM, EINTR};
constexpr std::array kList{EMFILE, ENFILE, ENOMEM, EIO, EACCES};
constexpr std::array kMap{ENOMEM, ENFILE, EAGAIN};
constexpr std::array kLock{EMFILE, ENFILE, ENOMEM, EINTR, ENOLCK};
constexpr std::array kAsk{EIO, ENOMEM};
}  // namespace

std::string to_string(const MetFault& met) {
  return std::string{to_string(met.operation)} + " " + met.path + ": errno " + std::to_string(met.error);
}

std::span<const int> DiskFaults::errnos_of(DiskOperation operation) {
  switch (operation) {
    case DiskOperation::open: return kOpen;
    case DiskOperation::create: return kCreate;
    case DiskOperation::write: return kWrite;
    case DiskOperation::read: return kRead;
    case DiskOperation::sync: return kSync;
    case DiskOperation::truncate: return kTruncate;
    case DiskOperation::allocate: return kAllocate;
    case DiskOperation::rename: return kRename;
    case DiskOperation::remove: return kRemove;
    case DiskOperation::make_directories: return kMakeDirectories;
    case DiskOperation::sync_directory: return kSyncDirectory;
    case DiskOperation::list: return kList;
    case DiskOperation::map: return kMap;
    case DiskOperation::lock: return kLock;
    case DiskOperation::ask_size:
    case DiskOperation::ask_room: return kAsk;
  }
  return kAsk;
}

bool DiskFaults::hits(Rule& rule, DiskOperation operation, const std::string& path, Random& random) {
  const auto& fault = rule.fault;
  if ((fault.operation && *fault.operation != operation) || path.find(fault.path) == std::string::npos) {
    return false;
  }
  if (fault.one_in != 0) {
    return random.chance(fault.one_in);
  }
  ++rule.matched;
  return rule.matched >= fault.number && rule.matched - fault.number < fault.times;
}

int DiskFaults::ask(DiskOperation operation, const std::string& path, Random& random) {
  int error = 0;
  for (auto& rule : rules_) {
    if (hits(rule, operation, path, random) && error == 0) {
      const auto choices = errnos_of(operation);
      error = rule.fault.error != 0 ? rule.fault.error : choices[random.below(choices.size())];
    }
  }
  if (error != 0) {
    note({operation, path, error});
  }
  return error;
}

}  // namespace weir::sim
