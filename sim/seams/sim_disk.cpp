#include "sim/seams/sim_disk.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <set>

#include "base/errno_error.hpp"
#include "sim/seams/sim_names.hpp"

namespace weir::sim {
namespace {
constexpr std::int64_t kDefaultCapacity = 1LL << 40;
constexpr std::size_t kDirectBlock = 4096;
constexpr std::int64_t kSimPid = 1;
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

bool aligned(std::int64_t position, Bytes memory) {
  return static_cast<std::size_t>(position) % kDirectBlock == 0 && memory.size() % kDirectBlock == 0 &&
         reinterpret_cast<std::uintptr_t>(memory.data()) % kDirectBlock == 0;
}
}  // namespace

struct SimDisk::State {
  explicit State(std::uint64_t seed) : random(seed) {}

  // Counts the operation; the error that stops it, if any.
  Result<void> begin(DiskOperation operation, const std::string& path, std::uint64_t for_epoch) {
    ++counts[static_cast<std::size_t>(operation)];
    if (for_epoch != epoch || crashed) {
      return {Errc::closed};
    }
    if (changes_something(operation)) {
      ++changing;
      if (crash_at != 0 && changing >= crash_at) {
        crashed = true;
        return {Errc::closed};
      }
    }
    if (hook) {
      if (const auto error = hook(operation, path)) {
        return *error;
      }
    }
    if (const auto number = faults.ask(operation, path, random); number != 0 && number != EINTR) {
      const bool is_sync = operation == DiskOperation::sync || operation == DiskOperation::sync_directory;
      return is_sync ? error_of_failed_sync(number) : error_of_errno(number);
    }
    // A folder that is synced has its descriptor already (base/posix_disk).
    const bool takes_one =
        operation == DiskOperation::open || operation == DiskOperation::create || operation == DiskOperation::list;
    if (takes_one && open_files >= open_files_max) {
      faults.note({operation, path, EMFILE});
      return error_of_errno(EMFILE);
    }
    return {};
  }
  void opened() { ++open_files; }
  void closed(std::uint64_t of_epoch) { open_files -= of_epoch == epoch ? 1 : 0; }  // the dead hold none
  [[nodiscard]] std::int64_t used() const {
    std::int64_t total = 0;
    for (const auto& file : names.visible_files()) {
      total += file->charged_bytes();
    }
    return total;
  }
  [[nodiscard]] std::int64_t free() const { return std::max<std::int64_t>(0, capacity - used()); }
  [[nodiscard]] std::int64_t free_files() const {
    return file_limit == kFilesNotCounted ? kFilesNotCounted
                                          : std::max<std::int64_t>(0, file_limit - std::ssize(names.visible_files()));
  }
  [[nodiscard]] bool limited() const { return capacity != kDefaultCapacity; }  // else no write asks how full it is

  mutable std::mutex mutex;
  Random random;
  SimNames names;
  std::set<std::string> locked;
  FaultHook hook;
  DiskFaults faults;
  std::size_t open_files = 0;
  std::size_t open_files_max = kNoLimit;
  SimDisk::HintHook hint_hook;
  std::array<std::uint64_t, kDiskOperations> counts{};
  std::uint64_t changing = 0;
  std::uint64_t crash_at = 0;  // 0: not armed
  std::uint64_t epoch = 0;     // one more with each crash; what was opened in an older one is closed
  std::int64_t capacity = kDefaultCapacity;
  std::int64_t file_limit = kFilesNotCounted;
  bool crashed = false;
};

class SimFile final : public File {
 public:
  SimFile(std::shared_ptr<SimDisk::State> state, std::string path, SimNames::File inode, OpenOptions options)
      : state_(std::move(state)),
        path_(std::move(path)),
        inode_(std::move(inode)),
        options_(options),
        epoch_(state_->epoch) {
    state_->opened();
  }
  ~SimFile() override {
    const std::lock_guard guard{state_->mutex};
    state_->closed(epoch_);
  }
  SimFile(const SimFile&) = delete;
  SimFile& operator=(const SimFile&) = delete;

  Result<void> write_at(std::int64_t position, std::span<const Bytes> parts) override {
    const std::lock_guard guard{state_->mutex};
    std::size_t total = 0;
    for (const auto part : parts) {
      total += part.size();
    }
    const bool was_crashed = state_->crashed;
    if (const auto begun = state_->begin(DiskOperation::write, path_, epoch_); !begun) {
      const bool died_inside = !was_crashed && state_->crashed;
      const bool failed_inside = !state_->crashed && epoch_ == state_->epoch && !options_.read_only;
      if (total > 0 && (died_inside || (failed_inside && state_->random.chance(2)))) {
        const auto part = state_->random.below(total + 1);
        inode_->write(position, parts, failed_inside && options_.direct ? part / kDirectBlock * kDirectBlock : part);
      }
      return begun.error();
    }
    if (options_.read_only) {
      return error_of_errno(EBADF);
    }
    if (options_.direct) {
      for (const auto part : parts) {
        if (!aligned(position, part)) {
          return error_of_errno(EINVAL);
        }
      }
    }
    const auto end = position + static_cast<std::int64_t>(total);
    const auto growth = end - inode_->charged_bytes();
    if (growth > 0 && state_->limited()) {
      if (const auto free = state_->free(); growth > free) {
        inode_->write(position, parts, total - std::min(total, static_cast<std::size_t>(growth - free)));
        return {Errc::disk_full, free};
      }
    }
    inode_->write(position, parts, total);
    return {};
  }

  Result<std::size_t> read_at(std::int64_t position, MutableBytes into) const override {
    const std::lock_guard guard{state_->mutex};
    if (const auto begun = state_->begin(DiskOperation::read, path_, epoch_); !begun) {
      const auto part = into.first(state_->random.below(into.size() + 1));
      std::ranges::fill(part, std::byte{0xdb});  // nobody may look at it
      return begun.error();
    }
    if (options_.direct && !aligned(position, into)) {
      return error_of_errno(EINVAL);
    }
    std::vector<std::byte> of_device;
    if (options_.direct) {
      of_device = inode_->content_of_device();
    }
    const auto content = options_.direct ? Bytes{of_device} : inode_->content();
    const auto from = std::min(static_cast<std::size_t>(position), content.size());
    const auto count = std::min(into.size(), content.size() - from);
    std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(from), count, into.begin());
    return count;
  }

  bool will_need(std::int64_t position, std::int64_t size) const override {
    const std::lock_guard guard{state_->mutex};
    if (options_.jumping && state_->hint_hook) {
      state_->hint_hook(path_, position, size);
    }
    return options_.jumping;
  }

  Result<void> sync(Caller) override {
    const std::lock_guard guard{state_->mutex};
    if (const auto begun = state_->begin(DiskOperation::sync, path_, epoch_); !begun) {
      if (!state_->crashed && epoch_ == state_->epoch) {
        inode_->fail_sync(state_->random);
      }
      return begun.error();
    }
    inode_->sync();
    return {};
  }

  Result<void> truncate(std::int64_t size) override {
    const std::lock_guard guard{state_->mutex};
    WEIR_TRY_VOID(state_->begin(DiskOperation::truncate, path_, epoch_));
    inode_->truncate(size);
    return {};
  }

  Result<void> allocate(std::int64_t size) override {
    const std::lock_guard guard{state_->mutex};
    WEIR_TRY_VOID(state_->begin(DiskOperation::allocate, path_, epoch_));
    if (const auto free = state_->free(); size - inode_->charged_bytes() > free) {
      return {Errc::disk_full, free};
    }
    inode_->allocate(size);
    return {};
  }

  [[nodiscard]] Result<std::int64_t> size() const override {
    const std::lock_guard guard{state_->mutex};
    WEIR_TRY_VOID(state_->begin(DiskOperation::ask_size, path_, epoch_));
    return inode_->size();
  }

  [[nodiscard]] Result<std::int64_t> first_unwritten(std::int64_t position) const override {
    const std::lock_guard guard{state_->mutex};
    WEIR_TRY_VOID(state_->begin(DiskOperation::ask_size, path_, epoch_));
    return inode_->first_unwritten(position);
  }

  [[nodiscard]] Result<std::int64_t> first_written(std::int64_t position) const override {
    const std::lock_guard guard{state_->mutex};
    WEIR_TRY_VOID(state_->begin(DiskOperation::ask_size, path_, epoch_));
    return inode_->first_written(position);
  }

  [[nodiscard]] Result<SharedBytes> map() const override {
    const std::lock_guard guard{state_->mutex};
    WEIR_TRY_VOID(state_->begin(DiskOperation::map, path_, epoch_));
    return SharedBytes::copy_of(inode_->content());
  }

  [[nodiscard]] int handle() const override { return -1; }

 private:
  std::shared_ptr<SimDisk::State> state_;
  std::string path_;
  SimNames::File inode_;
  OpenOptions options_;
  std::uint64_t epoch_;
};

class SimLock final : public DiskLock {
 public:
  SimLock(std::shared_ptr<SimDisk::State> state, std::string path)
      : state_(std::move(state)), path_(std::move(path)), epoch_(state_->epoch) {
    state_->opened();
  }
  ~SimLock() override {
    const std::lock_guard guard{state_->mutex};
    state_->closed(epoch_);
    if (epoch_ == state_->epoch) {
      state_->locked.erase(path_);
    }
  }
  SimLock(const SimLock&) = delete;
  SimLock& operator=(const SimLock&) = delete;

 private:
  std::shared_ptr<SimDisk::State> state_;
  std::string path_;
  std::uint64_t epoch_;
};

SimDisk::SimDisk(std::uint64_t seed) : state_(std::make_shared<State>(seed)) {}
SimDisk::~SimDisk() = default;

Result<std::shared_ptr<File>> SimDisk::open(const std::string& raw_path, OpenOptions options) {
  const auto path = normal_path(raw_path);
  const std::lock_guard guard{state_->mutex};
  auto inode = state_->names.find(path);
  const bool creates = options.create && inode == nullptr;
  WEIR_TRY_VOID(state_->begin(creates ? DiskOperation::create : DiskOperation::open, path, state_->epoch));
  if (inode != nullptr && options.create && options.exclusive) {
    return error_of_errno(EEXIST);
  }
  if (state_->names.folder_exists(path)) {
    return error_of_errno(EISDIR);
  }
  if (inode == nullptr) {
    if (!options.create || !state_->names.folder_exists(folder_of(path))) {
      return error_of_errno(ENOENT);
    }
    if (state_->free_files() == 0) {
      return {Errc::disk_full, 0};
    }
    inode = std::make_shared<SimInode>();
    state_->names.add(path, inode);
  }
  return std::shared_ptr<File>(std::make_shared<SimFile>(state_, path, std::move(inode), options));
}

Result<void> SimDisk::rename(const std::string& raw_from, const std::string& raw_to) {
  const auto from = normal_path(raw_from);
  const auto to = normal_path(raw_to);
  const std::lock_guard guard{state_->mutex};
  WEIR_TRY_VOID(state_->begin(DiskOperation::rename, from, state_->epoch));
  if (!state_->names.exists(from) || !state_->names.folder_exists(folder_of(to))) {
    return error_of_errno(ENOENT);
  }
  WEIR_CHECK(!state_->names.folder_exists(from));  // nothing of ours renames a folder
  if (state_->names.folder_exists(to)) {
    return error_of_errno(EISDIR);
  }
  if (from != to) {
    state_->names.rename(from, to);
  }
  return {};
}

Result<void> SimDisk::remove(const std::string& raw_path) {
  const auto path = normal_path(raw_path);
  const std::lock_guard guard{state_->mutex};
  WEIR_TRY_VOID(state_->begin(DiskOperation::remove, path, state_->epoch));
  if (!state_->names.exists(path)) {
    return error_of_errno(ENOENT);
  }
  if (state_->names.folder_exists(path) && !state_->names.names_in(path).empty()) {
    return error_of_errno(ENOTEMPTY);
  }
  state_->names.remove(path);
  return {};
}

Result<void> SimDisk::make_directories(const std::string& raw_path) {
  const auto path = normal_path(raw_path);
  const std::lock_guard guard{state_->mutex};
  WEIR_TRY_VOID(state_->begin(DiskOperation::make_directories, path, state_->epoch));
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    const auto prefix = path.substr(0, end);
    if (state_->names.find(prefix) != nullptr) {
      return {Errc::already_exists, ENOTDIR};
    }
    if (!state_->names.folder_exists(prefix)) {
      state_->names.add(prefix, nullptr);
    }
  }
  return {};
}

Result<void> SimDisk::sync_directory(const std::string& raw_path, Caller) {
  const auto path = normal_path(raw_path);
  const std::lock_guard guard{state_->mutex};
  WEIR_TRY_VOID(state_->begin(DiskOperation::sync_directory, path, state_->epoch));
  if (!state_->names.folder_exists(path)) {
    return error_of_errno(ENOENT);
  }
  state_->names.sync_folder(path);
  return {};
}

Result<std::vector<std::string>> SimDisk::list(const std::string& raw_path) const {
  const auto path = normal_path(raw_path);
  const std::lock_guard guard{state_->mutex};
  WEIR_TRY_VOID(state_->begin(DiskOperation::list, path, state_->epoch));
  if (!state_->names.folder_exists(path)) {
    return error_of_errno(ENOENT);
  }
  return state_->names.names_in(path);
}

bool SimDisk::exists(const std::string& path) const {
  const std::lock_guard guard{state_->mutex};
  return state_->names.exists(normal_path(path));
}

Result<std::int64_t> SimDisk::free_bytes(const std::string& path) const {
  const std::lock_guard guard{state_->mutex};
  WEIR_TRY_VOID(state_->begin(DiskOperation::ask_room, path, state_->epoch));
  if (!state_->names.exists(normal_path(path))) {
    return error_of_errno(ENOENT);
  }
  return state_->free();
}

Result<std::int64_t> SimDisk::free_files(const std::string& path) const {
  const std::lock_guard guard{state_->mutex};
  if (!state_->names.exists(normal_path(path))) {
    return {Errc::not_found, ENOENT};
  }
  return state_->free_files();
}

Result<std::int64_t> SimDisk::total_bytes(const std::string& path) const {
  const std::lock_guard guard{state_->mutex};
  WEIR_TRY_VOID(state_->begin(DiskOperation::ask_room, path, state_->epoch));
  if (!state_->names.exists(normal_path(path))) {
    return error_of_errno(ENOENT);
  }
  return state_->capacity;
}

Result<std::unique_ptr<DiskLock>> SimDisk::lock(const std::string& raw_path) {
  const auto path = normal_path(raw_path);
  WEIR_TRY_VOID(open(path, {.create = true}));
  const std::lock_guard guard{state_->mutex};
  WEIR_TRY_VOID(state_->begin(DiskOperation::lock, path, state_->epoch));
  if (!state_->locked.insert(path).second) {
    return {Errc::in_use, kSimPid};
  }
  return std::unique_ptr<DiskLock>(std::make_unique<SimLock>(state_, path));
}

void SimDisk::crash(std::uint64_t seed, CrashMode mode) {
  const std::lock_guard guard{state_->mutex};
  ++state_->epoch;
  state_->crashed = false;
  state_->crash_at = 0;
  state_->open_files = 0;
  state_->locked.clear();
  if (mode == CrashMode::process_death) {
    return;
  }
  Random random{seed};
  for (const auto& file : state_->names.files()) {
    file->lose_unsynced(random);
  }
  state_->names.lose_unsynced(random);
}

void SimDisk::crash_at_operation(std::uint64_t number) {
  WEIR_CHECK(number > 0);
  const std::lock_guard guard{state_->mutex};
  state_->crash_at = state_->changing + number;
}

bool SimDisk::crashed() const {
  const std::lock_guard guard{state_->mutex};
  return state_->crashed;
}

void SimDisk::fail(DiskFault fault) {
  const std::lock_guard guard{state_->mutex};
  state_->faults.add(std::move(fault));
}

void SimDisk::heal() {
  const std::lock_guard guard{state_->mutex};
  state_->faults.clear();
}

std::vector<MetFault> SimDisk::faults_met() const {
  const std::lock_guard guard{state_->mutex};
  return state_->faults.met();
}

void SimDisk::limit_open_files(std::size_t most) {
  const std::lock_guard guard{state_->mutex};
  state_->open_files_max = most;
}

std::size_t SimDisk::open_files() const {
  const std::lock_guard guard{state_->mutex};
  return state_->open_files;
}

void SimDisk::set_fault_hook(FaultHook hook) {
  const std::lock_guard guard{state_->mutex};
  state_->hook = std::move(hook);
}

void SimDisk::set_hint_hook(HintHook hook) {
  const std::lock_guard guard{state_->mutex};
  state_->hint_hook = std::move(hook);
}

void SimDisk::set_file_limit(std::int64_t files) {
  const std::lock_guard guard{state_->mutex};
  state_->file_limit = files;
}

void SimDisk::set_capacity(std::int64_t bytes) {
  const std::lock_guard guard{state_->mutex};
  state_->capacity = bytes;
}

std::unique_ptr<SimDisk> SimDisk::clone(std::uint64_t seed) const {
  auto copy = std::make_unique<SimDisk>(seed);
  const std::lock_guard guard{state_->mutex};
  copy->state_->names = state_->names.deep_copy();
  copy->state_->capacity = state_->capacity;
  copy->state_->file_limit = state_->file_limit;
  return copy;
}

std::uint64_t SimDisk::count(DiskOperation operation) const {
  const std::lock_guard guard{state_->mutex};
  return state_->counts[static_cast<std::size_t>(operation)];
}

std::uint64_t SimDisk::changing_operations() const {
  const std::lock_guard guard{state_->mutex};
  return state_->changing;
}

std::int64_t SimDisk::used_bytes() const {
  const std::lock_guard guard{state_->mutex};
  return state_->used();
}

Result<void> SimDisk::damage(const std::string& path, std::int64_t position, std::byte mask) {
  const std::lock_guard guard{state_->mutex};
  const auto file = state_->names.find(normal_path(path));
  if (file == nullptr) {
    return error_of_errno(ENOENT);
  }
  if (position < 0 || position >= file->size()) {
    return {Errc::out_of_range, position};
  }
  file->damage(position, mask);
  return {};
}

}  // namespace weir::sim
