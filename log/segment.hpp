// Segment: one file of the CommitLog as the running log sees it. SegmentSet: an immutable version of the list of all
// segments, which a reader pins by holding it. SegmentList: who may read the current version and publish the next.
//
// Owner: SegmentList, and whoever holds a version. begin() belongs to the log role before the segment is published;
// everything else that changes is said below. A file is unlinked when it was marked removed (its removal edit is
// synced) and the last version or FileRun that has it is gone; the unlinking itself runs on the pool.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/disk.hpp"
#include "base/ids.hpp"
#include "log/index_file.hpp"
#include "log/segment_header.hpp"

namespace weir::log {

class Segment {
 public:
  // Called with the two paths when a removed segment's last user is gone; must not block.
  using Unlink = std::function<void(const std::string& segment_path, const std::string& index_path)>;

  Segment(SegmentId id, SegmentSeed seed, std::shared_ptr<File> file, std::string path, std::string index_path)
      : id_(id), seed_(seed), file_(std::move(file)), path_(std::move(path)), index_path_(std::move(index_path)) {}
  ~Segment() {
    if (unlink_) {
      unlink_(path_, index_path_);
    }
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // The position of the file's first byte. Once, before anybody else sees the segment.
  void begin(LogPosition start) { start_ = start; }

  [[nodiscard]] SegmentId id() const { return id_; }
  [[nodiscard]] SegmentSeed seed() const { return seed_; }
  [[nodiscard]] File& file() const { return *file_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& index_path() const { return index_path_; }
  [[nodiscard]] LogPosition start() const { return start_; }
  // Position in the file behind the last entry; set once when the segment is full or cut (log role, recovery). 0: open.
  [[nodiscard]] std::int64_t valid_end() const { return valid_end_.load(std::memory_order_acquire); }
  void set_valid_end(std::int64_t end) { valid_end_.store(end, std::memory_order_release); }
  // The pool task that removes segments, once, after the removal edit is synced.
  void unlink_when_unused(Unlink unlink) { unlink_ = std::move(unlink); }

 private:
  const SegmentId id_;
  const SegmentSeed seed_;
  const std::shared_ptr<File> file_;
  const std::string path_;
  const std::string index_path_;
  LogPosition start_{0};
  std::atomic<std::int64_t> valid_end_{0};
  Unlink unlink_;  // written before the version without this segment is published, read by the destructor
};

struct SegmentSet {
  struct Member {
    std::shared_ptr<Segment> segment;
    std::shared_ptr<const IndexFile> index;  // null while it is not sealed: its batches are in the partitions' indexes
  };
  std::vector<Member> members;  // rising positions; those without an index are the last ones
};

// Any thread. The mutex is held to copy or swap a pointer, and for the copy of the vector by the rare publisher.
class SegmentList {
 public:
  [[nodiscard]] std::shared_ptr<const SegmentSet> current() const {
    const std::scoped_lock lock(mutex_);
    return current_;
  }
  // Publishes a changed copy. The old version is dropped outside the lock.
  template <class Change>
  void change(Change&& change) {
    std::shared_ptr<const SegmentSet> old;
    const std::scoped_lock one_publisher(publish_mutex_);
    auto next = std::make_shared<SegmentSet>(*current());
    change(next->members);
    const std::scoped_lock lock(mutex_);
    old = std::move(current_);
    current_ = std::move(next);
  }

 private:
  std::mutex publish_mutex_;
  mutable std::mutex mutex_;
  std::shared_ptr<const SegmentSet> current_ = std::make_shared<SegmentSet>();
};

}  // namespace weir::log
