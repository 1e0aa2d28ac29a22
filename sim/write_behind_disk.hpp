// WriteBehindDisk: a bug made on purpose. It holds back the newest write to each file below a folder and claims that it
// was done; the next operation on the file, or a sync, lets it through. A broker on it answers before the write.
#pragma once

#include <string>

#include "sim/seams/sim_disk.hpp"

namespace weir::sim {

class WriteBehindDisk final : public Disk {
 public:
  WriteBehindDisk(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  Result<std::shared_ptr<File>> open(const std::string& path, OpenOptions options) override;
  Result<void> rename(const std::string& from, const std::string& to) override { return disk_.rename(from, to); }
  Result<void> remove(const std::string& path) override { return disk_.remove(path); }
  Result<void> make_directories(const std::string& path) override { return disk_.make_directories(path); }
  Result<void> sync_directory(const std::string& path, Caller caller) override {
    return disk_.sync_directory(path, caller);
  }
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& path) const override {
    return disk_.list(path);
  }
  [[nodiscard]] bool exists(const std::string& path) const override { return disk_.exists(path); }
  [[nodiscard]] Result<std::int64_t> free_bytes(const std::string& path) const override {
    return disk_.free_bytes(path);
  }
  [[nodiscard]] Result<std::int64_t> free_files(const std::string& path) const override {
    return disk_.free_files(path);
  }
  [[nodiscard]] Result<std::int64_t> total_bytes(const std::string& path) const override {
    return disk_.total_bytes(path);
  }
  Result<std::unique_ptr<DiskLock>> lock(const std::string& path) override { return disk_.lock(path); }

 private:
  Disk& disk_;
  std::string folder_;
};

}  // namespace weir::sim
