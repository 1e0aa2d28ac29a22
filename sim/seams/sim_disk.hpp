// A disk in memory that forgets what was not synced. Files keep a durable content and a journal of writes since the
// last sync; names keep a journal of changes since the last sync_directory. crash() ends the process or cuts the power;
// clone() gives a second disk in the same state. Faults: errnos (disk_faults.hpp), a hook, limits of size and of open
// files, the n-th operation. A lock makes it safe on any thread, though the simulator has only one. Owned by the test;
// files outlive it harmlessly.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/disk.hpp"
#include "sim/seams/disk_faults.hpp"

namespace weir::sim {

enum class CrashMode : std::uint8_t {
  process_death,  // the kernel lives on: all that was written stays, synced or not
  power_cut       // of what was not synced any part may be lost, torn at 512-byte sectors, or kept out of order
};

class SimDisk final : public Disk {
 public:
  explicit SimDisk(std::uint64_t seed);
  ~SimDisk() override;

  Result<std::shared_ptr<File>> open(const std::string& path, OpenOptions options) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> make_directories(const std::string& path) override;
  Result<void> sync_directory(const std::string& path, Caller caller = Caller::current()) override;
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& path) const override;
  [[nodiscard]] bool exists(const std::string& path) const override;
  [[nodiscard]] Result<std::int64_t> free_bytes(const std::string& path) const override;
  [[nodiscard]] Result<std::int64_t> free_files(const std::string& path) const override;
  [[nodiscard]] Result<std::int64_t> total_bytes(const std::string& path) const override;
  Result<std::unique_ptr<DiskLock>> lock(const std::string& path) override;

  // Ends every open file and lock (their calls answer `closed` from then on), applies the losses of `mode`, and is
  // ready for the next process. An armed crash_at_operation is disarmed; faults, the hook and the limits stay.
  void crash(std::uint64_t seed, CrashMode mode);
  // The `number`-th changing operation from now (1 = the next) and all operations after it fail with `closed` until
  // crash(). If it is a write, a part of it that the seed picks may have been done.
  void crash_at_operation(std::uint64_t number);
  [[nodiscard]] bool crashed() const;  // the armed operation has been reached

  // An operation that the fault names fails as it would on PosixDisk with that errno (base/errno_error.hpp). A failed
  // write may have done a part; a failed read has scribbled on its memory; a failed sync loses what the seed picks of
  // the unsynced writes, and later syncs do not bring it back, as in Linux. EINTR changes nothing: PosixDisk repeats.
  void fail(DiskFault fault);
  void heal();                                             // none of these faults any more
  [[nodiscard]] std::vector<MetFault> faults_met() const;  // since the beginning, in order
  // EMFILE for every descriptor beyond so many. A lock has one, and for its time a sync or listing of a folder.
  void limit_open_files(std::size_t most);
  [[nodiscard]] std::size_t open_files() const;  // of the living process
  // Asked before each operation; an error stops it.
  using FaultHook = std::function<std::optional<Error>(DiskOperation, const std::string& path)>;
  void set_fault_hook(FaultHook hook);
  // Told of each File::will_need() of a file that was opened `jumping`.
  using HintHook = std::function<void(const std::string& path, std::int64_t position, std::int64_t size)>;
  void set_hint_hook(HintHook hook);
  // All files together: past it writes, allocations and creates answer disk_full.
  void set_capacity(std::int64_t bytes);
  // Past so many files creating one answers disk_full, whatever bytes are free: an inode table that is full.
  void set_file_limit(std::int64_t files);

  [[nodiscard]] std::unique_ptr<SimDisk> clone(
      std::uint64_t seed) const;  // same files and journals, no faults, no locks
  [[nodiscard]] std::uint64_t count(DiskOperation operation) const;
  [[nodiscard]] std::uint64_t changing_operations() const;  // what crash_at_operation counts, since the beginning
  [[nodiscard]] std::int64_t used_bytes() const;
  // Flips bits of a byte of a file, in memory and durably: damage of the medium. not_found, out_of_range.
  Result<void> damage(const std::string& path, std::int64_t position, std::byte mask);

 private:
  friend class SimFile;
  friend class SimLock;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace weir::sim
