// RecordingDisk writes down, in order, everything that changes the disk below it, each sync with the place in our code
// that asked for it. Replay makes disks out of that: as a power cut after any event could have left them, and with the
// syncs of one place left out, as if that line were missing. Owned by the test; one thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/seams/sim_disk.hpp"

namespace weir::sim {

struct DiskEvent {
  DiskOperation operation{};
  std::string path;              // of a write, sync, truncation or allocation: the name the file was opened by
  std::string to;                // of a rename
  std::size_t file = 0;          // number of the handle
  OpenOptions options;           // of an open
  std::int64_t position = 0;     // of a write; the size for truncations and allocations
  std::vector<std::byte> bytes;  // of a write
  std::string place;             // of a sync: "Writer::sync_if_wanted sync"
};

class RecordingDisk final : public Disk {
 public:
  explicit RecordingDisk(Disk& below);
  ~RecordingDisk() override;

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

  // Events that succeeded; a failed one changed nothing that anybody may rely on.
  [[nodiscard]] const std::vector<DiskEvent>& events() const;
  [[nodiscard]] std::size_t size() const { return events().size(); }
  // The process dies at the `number`-th changing event from now (1: the next): that one and all later calls answer
  // `closed`, but a write of which `torn` bytes were done. revive() before the next process.
  void die_at(std::size_t number, std::size_t torn = 0);
  // The same at the next sync of that place, which is not done.
  void die_at_sync(std::string place);
  [[nodiscard]] bool died() const;
  void revive();

 private:
  friend class RecordedFile;
  struct State;
  std::shared_ptr<State> state_;
};

// Each place that syncs, as found in the events, with how often.
std::map<std::string, std::size_t> places_of(std::span<const DiskEvent> events);
// "Class::function" out of a caller's whole signature.
std::string short_name(const Caller& caller);

class Replay {
 public:
  // On a copy of `base` (null: an empty disk). The syncs of `without` are not done.
  Replay(const SimDisk* base, std::span<const DiskEvent> events, std::string without = {});

  // The first `count` events have happened; never goes back.
  void advance_to(std::size_t count);
  // What the power cut leaves of the disk now: all that is synced, and of the rest what the seed picks.
  [[nodiscard]] std::unique_ptr<SimDisk> power_cut(std::uint64_t seed) const;

 private:
  void apply(const DiskEvent& event);

  std::span<const DiskEvent> events_;
  std::string without_;
  std::unique_ptr<SimDisk> disk_;
  std::map<std::size_t, std::shared_ptr<File>> files_;
  std::size_t done_ = 0;
};

}  // namespace weir::sim
