#include "log/device_file.hpp"

#include <cerrno>

namespace weir::log {
namespace {
constexpr std::int64_t kWindow = 1LL << 20;
}

Result<std::shared_ptr<DeviceFile>> DeviceFile::open(Disk& disk, const std::string& path) {
  auto direct = disk.open(path, {.direct = true, .read_only = true});
  const bool has_none = !direct && direct.error().code == Errc::disk_failed && direct.error().detail == EINVAL;
  if (has_none) {
    direct = disk.open(path, {.read_only = true});
  }
  if (!direct) {
    return direct.error();
  }
  return std::shared_ptr<DeviceFile>{new DeviceFile{std::move(*direct), !has_none}};  // the constructor is private
}

DeviceFile::DeviceFile(std::shared_ptr<File> file, bool is_direct)
    : file_(std::move(file)), is_direct_(is_direct), window_(static_cast<std::size_t>(kWindow)) {}

Result<std::size_t> DeviceFile::read_at(std::int64_t position, MutableBytes into) const {
  if (!is_direct_) {
    return file_->read_at(position, into);
  }
  std::size_t done = 0;
  while (done < into.size()) {
    const auto at = position + static_cast<std::int64_t>(done);
    const auto from = at / kDirectAlignment * kDirectAlignment;
    WEIR_TRY(const auto count, file_->read_at(from, window_.bytes()));
    const auto skipped = static_cast<std::size_t>(at - from);
    if (count <= skipped) {
      break;  // the file ends here
    }
    const auto part = std::min(count - skipped, into.size() - done);
    std::copy_n(window_.bytes().begin() + static_cast<std::ptrdiff_t>(skipped), part,
                into.begin() + static_cast<std::ptrdiff_t>(done));
    done += part;
    if (count < window_.bytes().size()) {
      break;
    }
  }
  return done;
}

}  // namespace weir::log
