#include "base/posix_disk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "base/errno_error.hpp"
#include "base/logging.hpp"

namespace weir {
namespace {

// Measured: a single buffered write of 8 MB and more fell to a tenth of the speed of 1 MB calls on ext4.
constexpr std::size_t kWriteCallMax = 1U << 20U;
// Measured past the page cache: 4 MB take half of the CPU of four calls of 1 MB, and more brings nothing.
constexpr std::size_t kDirectCallMax = 4U << 20U;
constexpr std::int64_t kHintMax = 128LL << 10;  // of more than a device takes at once Linux drops the rest, untold
constexpr std::size_t kPartsMax = 256;          // below the kernel's IOV_MAX of 1024; 4 KB of stack

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) {
      ::close(value_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return value_; }

 private:
  int value_;
};

template <class Call>
auto retry_interrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

Result<void> checked(int result) {
  if (result < 0) {
    return error_of_errno(errno);
  }
  return {};
}

Result<void> synced(int result) {
  if (result < 0) {
    return error_of_failed_sync(errno);
  }
  return {};
}

// Whoever decides what follows knows neither the operation nor the file. A shortage is said by who waits for it.
template <class Value>
Result<Value> named(const char* operation, const std::string& path, Result<Value> result) {
  if (!result && result.error().code == Errc::disk_failed) {
    WEIR_LOG(error, "{} {} failed: {}", operation, path, to_string(result.error()));
  }
  return result;
}

Result<std::int64_t> volume_bytes(const std::string& path, bool free_only) {
  struct statvfs volume{};
  WEIR_TRY_VOID(checked(::statvfs(path.c_str(), &volume)));
  return static_cast<std::int64_t>(volume.f_frsize * (free_only ? volume.f_bavail : volume.f_blocks));
}

class PosixFile final : public File {
 public:
  PosixFile(int descriptor, std::string path, const OpenOptions& options)
      : descriptor_(descriptor),
        path_(std::move(path)),
        is_direct_(options.direct),
        is_jumping_(options.jumping),
        call_max_(options.direct ? kDirectCallMax : kWriteCallMax) {}

  Result<void> write_at(std::int64_t position, std::span<const Bytes> parts) override {
    return named("a write to", path_, write_all(position, parts));
  }

  Result<void> write_all(std::int64_t position, std::span<const Bytes> parts) {
    std::array<iovec, kPartsMax> pieces;
    std::size_t part = 0;
    std::size_t done_in_part = 0;
    while (true) {
      std::size_t count = 0;
      std::size_t total = 0;
      auto at = part;
      auto from = done_in_part;
      for (; at < parts.size() && count < kPartsMax && total < call_max_; ++at, from = 0) {
        const auto rest = parts[at].subspan(from);
        const auto size = std::min(rest.size(), call_max_ - total);
        if (size > 0) {
          // iovec has no const form; the kernel only reads it.
          pieces[count++] = {.iov_base = const_cast<std::byte*>(rest.data()), .iov_len = size};
          total += size;
        }
      }
      if (total == 0) {
        return {};
      }
      auto wrote = retry_interrupted(
          [&] { return ::pwritev(descriptor_.get(), pieces.data(), static_cast<int>(count), position); });
      if (wrote <= 0) {
        return error_of_errno(wrote == 0 ? EIO : errno);
      }
      if (is_direct_ && wrote % kDirectAlignment != 0) {  // RLIMIT_FSIZE within a block: continue at the block's start
        wrote -= wrote % kDirectAlignment;
        if (wrote == 0) {
          return error_of_errno(EFBIG);
        }
      }
      position += wrote;
      for (auto left = static_cast<std::size_t>(wrote); left > 0;) {  // a short write goes on where it stopped
        const auto step = std::min(left, parts[part].size() - done_in_part);
        left -= step;
        done_in_part += step;
        if (done_in_part == parts[part].size()) {
          ++part;
          done_in_part = 0;
        }
      }
    }
  }

  Result<std::size_t> read_at(std::int64_t position, MutableBytes into) const override {
    std::size_t got = 0;
    while (got < into.size()) {
      const auto rest = into.subspan(got);
      const auto read = retry_interrupted([&] {
        return ::pread(descriptor_.get(), rest.data(), rest.size(), position + static_cast<std::int64_t>(got));
      });
      if (read < 0) {
        return error_of_errno(errno);
      }
      got += static_cast<std::size_t>(read);
      // A direct read that ends inside a block has met the end of the file, and may not go on from there.
      if (read == 0 || (is_direct_ && read % kDirectAlignment != 0)) {
        break;
      }
    }
    return got;
  }

  bool will_need(std::int64_t position, std::int64_t size) const override {
    if (!is_jumping_) {
      return false;
    }
    for (const auto end = position + size; position < end; position += kHintMax) {
      const auto piece = std::min(kHintMax, end - position);
      if (::posix_fadvise(descriptor_.get(), position, piece, POSIX_FADV_WILLNEED) != 0) {
        return false;
      }
    }
    return true;
  }

  Result<void> sync(Caller) override {
    return named("a sync of", path_, synced(retry_interrupted([&] { return ::fdatasync(descriptor_.get()); })));
  }

  Result<void> truncate(std::int64_t size) override {
    return named("a truncation of", path_,
                 checked(retry_interrupted([&] { return ::ftruncate(descriptor_.get(), size); })));
  }

  Result<void> allocate(std::int64_t size) override {
    if (size <= 0) {
      return {};
    }
    const auto result = retry_interrupted([&] { return ::fallocate(descriptor_.get(), FALLOC_FL_KEEP_SIZE, 0, size); });
    if (result < 0 && errno == EOPNOTSUPP) {
      return {};  // a file system without reservation: writes themselves will tell when it is full
    }
    return named("an allocation of", path_, checked(result));
  }

  [[nodiscard]] Result<std::int64_t> size() const override {
    struct stat facts{};
    WEIR_TRY_VOID(checked(::fstat(descriptor_.get(), &facts)));
    return static_cast<std::int64_t>(facts.st_size);
  }

  [[nodiscard]] Result<std::int64_t> first_unwritten(std::int64_t position) const override {
    WEIR_TRY(const auto bytes, size());
    if (position >= bytes) {
      return bytes;
    }
    const auto hole = ::lseek(descriptor_.get(), position, SEEK_HOLE);
    return hole < 0 ? bytes : static_cast<std::int64_t>(hole);
  }

  [[nodiscard]] Result<std::int64_t> first_written(std::int64_t position) const override {
    WEIR_TRY(const auto bytes, size());
    if (position >= bytes) {
      return bytes;
    }
    const auto data = ::lseek(descriptor_.get(), position, SEEK_DATA);
    if (data < 0) {
      return errno == ENXIO ? bytes : position;
    }
    return static_cast<std::int64_t>(data);
  }

  [[nodiscard]] Result<SharedBytes> map() const override {
    WEIR_TRY(const auto bytes, size());
    if (bytes == 0) {
      return SharedBytes{};
    }
    const auto length = static_cast<std::size_t>(bytes);
    void* memory = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, descriptor_.get(), 0);
    if (memory == MAP_FAILED) {
      return error_of_errno(errno);
    }
    std::shared_ptr<const void> owner(memory, [length](void* mapped) { ::munmap(mapped, length); });
    return SharedBytes{Bytes{static_cast<const std::byte*>(memory), length}, std::move(owner)};
  }

  [[nodiscard]] int handle() const override { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
  const std::string path_;
  const bool is_direct_;
  const bool is_jumping_;
  const std::size_t call_max_;
};

class PosixLock final : public DiskLock {
 public:
  explicit PosixLock(int descriptor) : descriptor_(descriptor) {}
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

 private:
  Descriptor descriptor_;  // closing it releases the lock
};

std::int64_t pid_in(int descriptor) {
  std::array<char, 32> text{};
  const auto size = ::pread(descriptor, text.data(), text.size(), 0);
  std::int64_t pid = 0;
  if (size > 0) {
    std::from_chars(text.data(), text.data() + size, pid);
  }
  return pid;
}

}  // namespace

// Only regular files: open() of a FIFO blocks until another process opens it for writing.
Result<std::shared_ptr<File>> PosixDisk::open(const std::string& path, OpenOptions options) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
    return error_of_errno(S_ISDIR(facts.st_mode) ? EISDIR : ENXIO);
  }
  int flags = O_CLOEXEC | (options.read_only ? O_RDONLY : O_RDWR);
  flags |= options.create ? O_CREAT : 0;
  flags |= options.create && options.exclusive ? O_EXCL : 0;
  flags |= options.direct ? O_DIRECT : 0;
  const auto descriptor = retry_interrupted([&] { return ::open(path.c_str(), flags, 0644); });
  if (descriptor < 0) {
    const auto why = error_of_errno(errno);
    return options.create ? named("making", path, Result<std::shared_ptr<File>>{why}) : why;
  }
  if (options.jumping) {
    static_cast<void>(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM));  // without it: only slower
  }
  return std::shared_ptr<File>(std::make_shared<PosixFile>(descriptor, path, options));
}

Result<void> PosixDisk::rename(const std::string& from, const std::string& to) {
  return named("naming of", to, checked(::rename(from.c_str(), to.c_str())));
}

Result<void> PosixDisk::remove(const std::string& path) {
  return checked(::remove(path.c_str()));
}

Result<void> PosixDisk::make_directories(const std::string& path) {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    const auto prefix = path.substr(0, end);
    if (::mkdir(prefix.c_str(), 0755) < 0 && errno != EEXIST) {
      return error_of_errno(errno);
    }
  }
  struct stat facts{};
  WEIR_TRY_VOID(checked(::stat(path.c_str(), &facts)));
  if (!S_ISDIR(facts.st_mode)) {
    return {Errc::already_exists, ENOTDIR};
  }
  return {};
}

struct PosixDisk::Folder {
  Folder(int number, std::pair<dev_t, ino_t> of) : descriptor(number), identity(of) {}
  Descriptor descriptor;
  std::pair<dev_t, ino_t> identity;
};

// The descriptor of a folder is kept once it was synced: a change of names that is made must not stay unsynced because
// no descriptor is left.
Result<std::shared_ptr<PosixDisk::Folder>> PosixDisk::folder_at(const std::string& path) {
  struct stat facts{};
  WEIR_TRY_VOID(checked(::stat(path.c_str(), &facts)));
  const std::pair identity{facts.st_dev, facts.st_ino};
  const std::scoped_lock lock(folders_mutex_);
  auto& folder = folders_[path];
  if (!folder || folder->identity != identity) {
    folder = std::make_shared<Folder>(
        retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }), identity);
    if (folder->descriptor.get() < 0) {
      const auto why = error_of_errno(errno);
      folders_.erase(path);
      return why;
    }
  }
  return folder;
}

Result<void> PosixDisk::sync_directory(const std::string& path, Caller) {
  WEIR_TRY(const auto folder, folder_at(path));
  return named("a sync of", path, synced(retry_interrupted([&] { return ::fsync(folder->descriptor.get()); })));
}

Result<std::vector<std::string>> PosixDisk::list(const std::string& path) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir(path.c_str()), &::closedir};
  if (folder == nullptr) {
    return error_of_errno(errno);
  }
  std::vector<std::string> names;
  errno = 0;
  while (const auto* entry = ::readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe): the stream is ours alone
    const std::string name{entry->d_name};
    if (name != "." && name != "..") {
      names.push_back(name);
    }
    errno = 0;
  }
  if (errno != 0) {
    return error_of_errno(errno);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool PosixDisk::exists(const std::string& path) const {
  return ::access(path.c_str(), F_OK) == 0;
}

Result<std::int64_t> PosixDisk::free_bytes(const std::string& path) const {
  return volume_bytes(path, true);
}

Result<std::int64_t> PosixDisk::total_bytes(const std::string& path) const {
  return volume_bytes(path, false);
}

Result<std::int64_t> PosixDisk::free_files(const std::string& path) const {
  struct statvfs volume{};
  WEIR_TRY_VOID(checked(::statvfs(path.c_str(), &volume)));
  return volume.f_files == 0 ? kFilesNotCounted : static_cast<std::int64_t>(volume.f_favail);
}

Result<std::unique_ptr<DiskLock>> PosixDisk::lock(const std::string& path) {
  auto lock = std::make_unique<PosixLock>(
      retry_interrupted([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644); }));
  WEIR_TRY_VOID(checked(lock->descriptor()));
  if (retry_interrupted([&] { return ::flock(lock->descriptor(), LOCK_EX | LOCK_NB); }) < 0) {
    if (errno == EWOULDBLOCK) {
      return {Errc::in_use, pid_in(lock->descriptor())};
    }
    return error_of_errno(errno);
  }
  const auto pid = std::to_string(::getpid()) + "\n";
  WEIR_TRY_VOID(checked(::ftruncate(lock->descriptor(), 0)));
  if (::pwrite(lock->descriptor(), pid.data(), pid.size(), 0) != std::ssize(pid)) {
    return error_of_errno(errno);
  }
  return std::unique_ptr<DiskLock>(std::move(lock));
}

}  // namespace weir
