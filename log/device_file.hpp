// DeviceFile: a file as the device has it, read past the page cache (O_DIRECT). After a failed write or sync the page
// cache may hold bytes that it takes for written and that no disk has: a start that must judge them reads here.
//
// Only read_at() and size() are there; positions and sizes are free, as for any other file. One thread at a time.
// Where the file system has no direct reads the page cache answers: is_past_cache() says so.
#pragma once

#include <memory>

#include "base/disk.hpp"

namespace weir::log {

class DeviceFile final : public File {
 public:
  static Result<std::shared_ptr<DeviceFile>> open(Disk& disk, const std::string& path);
  [[nodiscard]] bool is_past_cache() const { return is_direct_; }

  Result<std::size_t> read_at(std::int64_t position, MutableBytes into) const override;
  [[nodiscard]] Result<std::int64_t> size() const override { return file_->size(); }

  Result<void> write_at(std::int64_t, std::span<const Bytes>) override { return {Errc::unsupported}; }
  Result<void> sync(Caller) override { return {Errc::unsupported}; }
  Result<void> truncate(std::int64_t) override { return {Errc::unsupported}; }
  Result<void> allocate(std::int64_t) override { return {Errc::unsupported}; }
  [[nodiscard]] Result<std::int64_t> first_unwritten(std::int64_t) const override { return {Errc::unsupported}; }
  [[nodiscard]] Result<SharedBytes> map() const override { return {Errc::unsupported}; }
  [[nodiscard]] int handle() const override { return -1; }

 private:
  DeviceFile(std::shared_ptr<File> file, bool is_direct);
  const std::shared_ptr<File> file_;
  const bool is_direct_;
  AlignedBlock window_;
};

}  // namespace weir::log
