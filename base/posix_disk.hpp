// The disk seam on the kernel's files. Stateless but for its descriptors; any thread, one writer a file.
#pragma once

#include <map>
#include <mutex>

#include "base/disk.hpp"

namespace weir {

class PosixDisk final : public Disk {
 public:
  Result<std::shared_ptr<File>> open(const std::string& path, OpenOptions options) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> make_directories(const std::string& path) override;
  Result<void> sync_directory(const std::string& path, Caller caller = Caller::current()) override;
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& path) const override;
  [[nodiscard]] bool exists(const std::string& path) const override;
  [[nodiscard]] Result<std::int64_t> free_bytes(const std::string& path) const override;
  [[nodiscard]] Result<std::int64_t> total_bytes(const std::string& path) const override;
  [[nodiscard]] Result<std::int64_t> free_files(const std::string& path) const override;
  Result<std::unique_ptr<DiskLock>> lock(const std::string& path) override;

 private:
  struct Folder;
  Result<std::shared_ptr<Folder>> folder_at(const std::string& path);

  std::mutex folders_mutex_;                                // guards folders_
  std::map<std::string, std::shared_ptr<Folder>> folders_;  // that were synced; few, for each has a descriptor
};

}  // namespace weir
