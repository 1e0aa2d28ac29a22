#include "log/segment_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "log/unknown_files.hpp"

namespace weir::log {
namespace {
std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}
}  // namespace

Result<bool> Segment::zero_ahead(Bytes zeros) {
  const std::scoped_lock lock(reserve_mutex_);
  WEIR_TRY(const auto size, direct_file_->size());
  WEIR_TRY(const auto unwritten, direct_file_->first_unwritten(reserved_end_));
  const auto from = unwritten / kDirectAlignment * kDirectAlignment;
  if (from < reserved_end_ || from >= size) {
    return false;
  }
  const auto piece = zeros.first(static_cast<std::size_t>(std::min(std::ssize(zeros), size - from)));
  WEIR_TRY_VOID(direct_file_->write_at(from, {&piece, 1}));
  return true;
}

Result<void> SegmentFiles::open() {
  WEIR_TRY_VOID(disk_.make_directories(folder()));
  if (io_ == IoMode::direct) {
    WEIR_TRY_VOID(disk_.make_directories(pool_folder()));
  }
  WEIR_TRY_VOID(disk_.sync_directory(folder_));
  if (io_ == IoMode::direct) {
    WEIR_TRY(const bool has_it, has_direct_writes());
    io_ = has_it ? IoMode::direct : IoMode::buffered;
  }
  if (!disk_.exists(pool_folder())) {
    return {};
  }
  WEIR_TRY(const auto names, disk_.list(pool_folder()));
  for (const auto& name : names) {
    if (!segment_of_file_name(name) || !is_file_of_ours(disk_, pool_folder(), name)) {
      unknown_in_pool_.push_back(name);
      continue;
    }
    const auto path = pool_folder() + "/" + name;
    WEIR_TRY(const auto file, disk_.open(path, {.read_only = true}));
    WEIR_TRY(const auto size, file->size());
    if (io_ == IoMode::direct && size == file_bytes_ && pool_.size() < kPoolMax) {
      pool_.push_back(name);
    } else {
      WEIR_TRY_VOID(disk_.remove(path));  // of a start with another mode or segment size
    }
  }
  return {};
}

Result<bool> SegmentFiles::has_direct_writes() {
  const auto path = folder_ + "/direct-probe";
  const AlignedBlock block{static_cast<std::size_t>(kDirectAlignment)};
  const Bytes zeros{block.bytes()};
  auto written = [&]() -> Result<void> {
    WEIR_TRY(const auto file, disk_.open(path, {.create = true, .direct = true}));
    return file->write_at(0, {&zeros, 1});
  }();
  static_cast<void>(disk_.remove(path));
  if (!written && written.error().code == Errc::disk_failed && written.error().detail == EINVAL) {
    return false;
  }
  if (!written && !is_shortage(written.error())) {  // a full disk tells nothing
    return written.error();
  }
  return true;
}

bool SegmentFiles::is_taken(SegmentId id) const {
  return std::ranges::any_of(std::array{segment_file_name(id), index_file_name(id)}, [&](const auto& name) {
    return disk_.exists(folder() + "/" + name) && !is_file_of_ours(disk_, folder(), name);
  });
}

Result<std::shared_ptr<Segment>> SegmentFiles::make(SegmentId id, SegmentSeed seed) {
  auto made = io_ == IoMode::buffered ? make_growing(id, seed) : make_whole(id, seed);
  if (!made) {
    static_cast<void>(disk_.remove(path_of(id)));  // whoever tries again begins anew
  }
  return made;
}

// A file of this number can only be left from a start that died before it named it in the manifest.
Result<void> SegmentFiles::remove_leftover(const std::string& path) {
  return disk_.exists(path) ? disk_.remove(path) : Result<void>{};
}

Result<std::shared_ptr<Segment>> SegmentFiles::make_growing(SegmentId id, SegmentSeed seed) {
  const auto path = path_of(id);
  WEIR_TRY_VOID(remove_leftover(path));
  WEIR_TRY(auto file, disk_.open(path, {.create = true, .exclusive = true}));
  WEIR_TRY_VOID(disk_.sync_directory(folder()));
  return std::make_shared<Segment>(id, seed, std::move(file), path, index_path_of(id));
}

Result<std::shared_ptr<Segment>> SegmentFiles::make_whole(SegmentId id, SegmentSeed seed) {
  const auto path = path_of(id);
  WEIR_TRY_VOID(remove_leftover(path));
  if (!take_from_pool(path)) {
    WEIR_TRY_VOID(create(path));
  }
  WEIR_TRY_VOID(disk_.sync_directory(folder()));
  WEIR_TRY(auto file, disk_.open(path, {.jumping = true, .read_only = true}));
  auto segment = std::make_shared<Segment>(id, seed, std::move(file), path, index_path_of(id));
  WEIR_TRY_VOID(continue_in(*segment, 0));
  return segment;
}

bool SegmentFiles::take_from_pool(const std::string& path) {
  std::string name;
  {
    const std::scoped_lock lock(mutex_);
    if (pool_.empty()) {
      return false;
    }
    name = std::move(pool_.back());
    pool_.pop_back();
  }
  return disk_.rename(pool_folder() + "/" + name, path).has_value();
}

Result<void> SegmentFiles::create(const std::string& path) {
  WEIR_TRY(const auto file, disk_.open(path, {.create = true, .exclusive = true}));
  WEIR_TRY_VOID(file->allocate(file_bytes_));
  WEIR_TRY_VOID(file->truncate(file_bytes_));
  return file->sync();
}

Result<std::shared_ptr<File>> SegmentFiles::open_to_read(SegmentId id) {
  if (io_ == IoMode::buffered) {
    return disk_.open(path_of(id), {});
  }
  return disk_.open(path_of(id), {.jumping = true});
}

Result<void> SegmentFiles::continue_in(Segment& segment, std::int64_t reserved) {
  if (io_ == IoMode::direct) {
    WEIR_TRY(auto file, disk_.open(segment.path(), {.direct = true}));
    segment.write_past_cache(std::move(file), reserved);
  }
  return {};
}

void SegmentFiles::retire(const std::string& path, const std::string& index_path) {
  static_cast<void>(disk_.remove(index_path));
  if (io_ == IoMode::direct) {
    const auto file = disk_.open(path, {.read_only = true});
    const auto size = file ? (*file)->size() : Result<std::int64_t>{0};
    const std::scoped_lock lock(mutex_);
    const auto in_pool = pool_folder() + "/" + name_of(path);
    if (size && *size == file_bytes_ && pool_.size() < kPoolMax && !disk_.exists(in_pool) &&
        disk_.rename(path, in_pool)) {
      pool_.push_back(name_of(path));
      return;
    }
  }
  static_cast<void>(disk_.remove(path));
}

bool SegmentFiles::give_back_one() {
  const std::scoped_lock lock(mutex_);
  if (pool_.empty()) {
    return false;
  }
  const bool removed = disk_.remove(pool_folder() + "/" + pool_.back()).has_value();
  pool_.pop_back();
  return removed;
}

std::int64_t SegmentFiles::pool_bytes() const {
  const std::scoped_lock lock(mutex_);
  return std::ssize(pool_) * file_bytes_;
}

}  // namespace weir::log
