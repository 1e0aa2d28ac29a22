// SegmentFiles: where the files of segments come from and where they go. Buffered mode: a new file grows with what is
// written to it, and a removed one is unlinked. Direct mode: a file has its whole size from the beginning; a removed
// one goes to pool/ and is used again, so that its blocks were written before: a sync then writes no metadata of the
// file system. Old bytes in it never pass for entries: each life has a new seed.
//
// Owner: SegmentKeeper. open() before the roles start; make() and zero_ahead() in its jobs, one at a time; retire() in
// any task on the pool. All block.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "log/segment.hpp"

namespace weir::log {

class SegmentFiles {
 public:
  static constexpr std::size_t kPoolMax = 4;  // files; what is removed beyond them is unlinked

  // `file_bytes`: of a file in direct mode, a multiple of kDirectAlignment.
  SegmentFiles(Disk& disk, std::string folder, IoMode io, std::int64_t file_bytes)
      : disk_(disk), folder_(std::move(folder)), io_(io), file_bytes_(file_bytes) {}

  // Makes the folders, finds the pool; what is not ours in it is left alone. Goes back to buffered mode where the file
  // system has no direct writes.
  Result<void> open();
  [[nodiscard]] IoMode io() const { return io_; }
  [[nodiscard]] std::string folder() const { return folder_ + "/commitlog"; }
  [[nodiscard]] std::string path_of(SegmentId id) const { return folder() + "/" + segment_file_name(id); }
  [[nodiscard]] std::string index_path_of(SegmentId id) const { return folder() + "/" + index_file_name(id); }

  // Somebody else's file has the name that this segment's would have.
  [[nodiscard]] bool is_taken(SegmentId id) const;
  // An empty segment in a file of its own. After an error nothing is left behind.
  Result<std::shared_ptr<Segment>> make(SegmentId id, SegmentSeed seed);
  // An existing file, to read; writable again after continue_in().
  Result<std::shared_ptr<File>> open_to_read(SegmentId id);
  Result<void> continue_in(Segment& segment, std::int64_t reserved);
  // A file that is nobody's any more. What cannot be removed now is removed by the next start.
  void retire(const std::string& path, const std::string& index_path);
  [[nodiscard]] std::string pool_folder() const { return folder_ + "/pool"; }
  [[nodiscard]] const std::vector<std::string>& unknown_in_pool() const {
    return unknown_in_pool_;
  }  // names, of open()
  [[nodiscard]] std::int64_t pool_bytes() const;
  [[nodiscard]] std::int64_t file_bytes() const { return file_bytes_; }  // of each in direct mode
  // Unlinks a file of the pool, where there is one.
  bool give_back_one();

 private:
  Result<bool> has_direct_writes();
  Result<void> remove_leftover(const std::string& path);
  Result<std::shared_ptr<Segment>> make_growing(SegmentId id, SegmentSeed seed);  // buffered
  Result<std::shared_ptr<Segment>> make_whole(SegmentId id, SegmentSeed seed);    // direct
  bool take_from_pool(const std::string& path);
  Result<void> create(const std::string& path);

  Disk& disk_;
  const std::string folder_;
  IoMode io_;
  const std::int64_t file_bytes_;
  mutable std::mutex mutex_;       // guards pool_
  std::vector<std::string> pool_;  // names in pool/
  std::vector<std::string> unknown_in_pool_;
};

}  // namespace weir::log
