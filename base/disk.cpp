#include "base/disk.hpp"

namespace weir {
namespace {
std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}
}  // namespace

Result<std::vector<std::byte>> read_file(Disk& disk, const std::string& path, std::int64_t size_max) {
  WEIR_TRY(const auto file, disk.open(path, {.read_only = true}));
  WEIR_TRY(const auto size, file->size());
  if (size > size_max) {
    return {Errc::too_large, size};
  }
  std::vector<std::byte> content(static_cast<std::size_t>(size));
  WEIR_TRY(const auto got, file->read_at(0, content));
  content.resize(got);
  return content;
}

Result<std::shared_ptr<File>> replace_file_open(Disk& disk, const std::string& path, Bytes content, Caller caller) {
  const auto temporary = path + ".tmp";
  WEIR_TRY(auto file, disk.open(temporary, {.create = true}));
  WEIR_TRY_VOID(file->truncate(0));  // the rest of an attempt that a crash cut short
  WEIR_TRY_VOID(file->write_at(0, std::span{&content, 1}));
  WEIR_TRY_VOID(file->sync(caller));  // the content first: a durable name must never show a half file
  WEIR_TRY_VOID(disk.rename(temporary, path));
  if (const auto synced = disk.sync_directory(folder_of(path), caller); !synced) {
    // The name has changed already: the old file is no way back, so this is no shortage to wait for.
    return is_shortage(synced.error()) ? Error{Errc::disk_failed, synced.error().detail} : synced.error();
  }
  return file;
}

Result<void> replace_file(Disk& disk, const std::string& path, Bytes content, Caller caller) {
  WEIR_TRY_VOID(replace_file_open(disk, path, content, caller));
  return {};
}

}  // namespace weir
