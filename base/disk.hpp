// The disk seam. Calls block; only the write role, the pool, the controller and start-up may make them (read_at of a
// page in cache is the one exception). What was written and not synced may be lost, torn or reordered by a power cut; a
// name (create, rename, remove) is durable only after sync_directory of its folder. Any thread, but one writer a file.
#pragma once

#include <limits>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace weir {

inline constexpr std::int64_t kDirectAlignment = 4096;

// The place in our code that asks for a sync. Only the recording disk looks at it (sim/seams/recording_disk): it takes
// each place's syncs away in turn, and a test must notice.
using Caller = std::source_location;

class File {
 public:
  virtual ~File() = default;
  // Writes all parts one after the other at `position`, growing the file. disk_full or disk_failed (errno).
  virtual Result<void> write_at(std::int64_t position, std::span<const Bytes> parts) = 0;
  // Fills `into` from `position`; fewer bytes only at the end of the file.
  virtual Result<std::size_t> read_at(std::int64_t position, MutableBytes into) const = 0;
  // A hint: these bytes are read soon, so the device may begin. False, and it is no use to tell more: the system reads
  // ahead in this file by itself (it is not `jumping`), or cannot be told.
  virtual bool will_need(std::int64_t /*position*/, std::int64_t /*size*/) const { return false; }
  // Everything written before is durable (fdatasync). After an error nothing is known: never retried by callers.
  virtual Result<void> sync(Caller caller = Caller::current()) = 0;
  virtual Result<void> truncate(std::int64_t size) = 0;
  // Reserves room without changing the size that readers see (fallocate KEEP_SIZE). disk_full if there is none.
  virtual Result<void> allocate(std::int64_t size) = 0;
  [[nodiscard]] virtual Result<std::int64_t> size() const = 0;
  // The first position at or behind `position` that was allocated or skipped but never written; the size if there is
  // none, or where the file system does not tell.
  [[nodiscard]] virtual Result<std::int64_t> first_unwritten(std::int64_t position) const = 0;
  // The first position at or behind `position` that may have been written; the size if all behind it was only allocated
  // or skipped. `position` itself where the file system does not tell.
  [[nodiscard]] virtual Result<std::int64_t> first_written(std::int64_t position) const { return position; }
  // The whole file read-only in memory, kept alive by the result. Real: mmap. The file must not shrink meanwhile.
  [[nodiscard]] virtual Result<SharedBytes> map() const = 0;
  // Descriptor for sendfile, or -1 where there is none (simulated files).
  [[nodiscard]] virtual int handle() const = 0;
};

struct OpenOptions {
  bool create = false;     // make it if missing
  bool exclusive = false;  // with create: fail with already_exists if it is there
  bool direct = false;     // O_DIRECT: positions, sizes and memory are multiples of kDirectAlignment
  bool jumping = false;    // reads jump: the kernel reads nothing that was not asked for, or told by will_need()
  bool read_only = false;
};

inline constexpr std::int64_t kFilesNotCounted = std::numeric_limits<std::int64_t>::max();

// A lock on a folder, held until destroyed.
class DiskLock {
 public:
  virtual ~DiskLock() = default;
};

class Disk {
 public:
  virtual ~Disk() = default;
  // A folder, a pipe or a device is none (is_of_no_file() in base/errno_error.hpp).
  virtual Result<std::shared_ptr<File>> open(const std::string& path, OpenOptions options) = 0;
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> remove(const std::string& path) = 0;
  virtual Result<void> make_directories(const std::string& path) = 0;
  virtual Result<void> sync_directory(const std::string& path, Caller caller = Caller::current()) = 0;
  [[nodiscard]] virtual Result<std::vector<std::string>> list(const std::string& path) const = 0;  // names, sorted
  [[nodiscard]] virtual bool exists(const std::string& path) const = 0;
  [[nodiscard]] virtual Result<std::int64_t> free_bytes(const std::string& path) const = 0;
  [[nodiscard]] virtual Result<std::int64_t> total_bytes(const std::string& path) const = 0;
  // How many files can still be made (inodes); kFilesNotCounted where the file system does not count them.
  [[nodiscard]] virtual Result<std::int64_t> free_files(const std::string& /*path*/) const { return kFilesNotCounted; }
  // flock on `path` (made if missing), our pid written into it. in_use with the holder's pid.
  virtual Result<std::unique_ptr<DiskLock>> lock(const std::string& path) = 0;
};

// Reads a small file whole; too_large over `size_max`. Writes one by a temporary name, sync, rename, sync of the
// folder.
Result<std::vector<std::byte>> read_file(Disk& disk, const std::string& path, std::int64_t size_max);
// replace_file_open() gives the new file, so that nothing need be opened once the old one is gone: a shortage
// (is_shortage) leaves the old one as it was.
Result<void> replace_file(Disk& disk, const std::string& path, Bytes content, Caller caller = Caller::current());
Result<std::shared_ptr<File>> replace_file_open(Disk& disk, const std::string& path, Bytes content,
                                                Caller caller = Caller::current());

}  // namespace weir
