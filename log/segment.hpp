// Segment: one file of the CommitLog as the running log sees it. SegmentSet: an immutable version of the list of all
// segments, which a reader pins by holding it. SegmentList: who may read the current version and publish the next.
//
// Owner: SegmentList, and whoever holds a version. begin() belongs to the log role before the segment is published;
// everything else that changes is said below. A file is given up when it was marked removed (its removal edit is
// synced) and the last version or FileRun that has it is gone; the unlinking itself runs on the pool.
//
// Direct mode (mq.log.io=direct): the file is as long as a segment from the beginning, and written past the page cache,
// in whole blocks of kDirectAlignment. Reserved is what the writer may fill: its end is in the manifest before the
// first byte below it is written. What lies above may be zeroed ahead by the pool. Reads go through the page cache all
// the same, only ever of blocks below the written end, by a handle that reads nothing ahead: such a block is whole on
// disk and never written again.
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
  using GiveUp = std::function<void(const std::string& segment_path, const std::string& index_path)>;

  Segment(SegmentId id, SegmentSeed seed, std::shared_ptr<File> file, std::string path, std::string index_path)
      : id_(id), seed_(seed), file_(std::move(file)), path_(std::move(path)), index_path_(std::move(index_path)) {}
  ~Segment() {
    if (give_up_) {
      give_up_(path_, index_path_);
    }
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // The position of the file's first byte. Once, before anybody else sees the segment.
  void begin(LogPosition start) { start_ = start; }

  [[nodiscard]] SegmentId id() const { return id_; }
  [[nodiscard]] SegmentSeed seed() const { return seed_; }
  [[nodiscard]] File& file() const { return *file_; }  // to read, and in buffered mode to write
  // Direct mode, before anybody else sees the segment. `reserved`: what the manifest says.
  void write_past_cache(std::shared_ptr<File> file, std::int64_t reserved) {
    direct_file_ = std::move(file);
    reserved_end_ = reserved;
  }
  [[nodiscard]] bool is_direct() const { return direct_file_ != nullptr; }
  [[nodiscard]] File& writing_file() const { return is_direct() ? *direct_file_ : *file_; }
  // Write role, after the manifest says so. Waits for a piece that is being zeroed.
  void set_reserved_end(std::int64_t end) {
    const std::scoped_lock lock(reserve_mutex_);
    reserved_end_ = end;
  }
  [[nodiscard]] std::int64_t reserved_end() const {
    const std::scoped_lock lock(reserve_mutex_);
    return reserved_end_;
  }
  // Pool: writes `zeros` at the first place that was never written, above all that is reserved. False: there is none.
  Result<bool> zero_ahead(Bytes zeros);
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& index_path() const { return index_path_; }
  [[nodiscard]] LogPosition start() const { return start_; }
  // Position in the file behind the last entry; set once when the segment is full or cut (log role, recovery). 0: open.
  [[nodiscard]] std::int64_t valid_end() const { return valid_end_.load(std::memory_order_acquire); }
  void set_valid_end(std::int64_t end) { valid_end_.store(end, std::memory_order_release); }
  // Of all batches that were put into it, those of deleted partitions too. Log role, and recovery before it starts.
  void count_batch(std::int64_t bytes) {
    batch_bytes_.store(batch_bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  [[nodiscard]] std::int64_t batch_bytes() const { return batch_bytes_.load(std::memory_order_relaxed); }
  // Batches of one block and more whose bytes were checked since the process began, by the block they begin in.
  [[nodiscard]] bool is_checked(std::int64_t position) const {
    const std::scoped_lock lock(checked_mutex_);
    const auto block = static_cast<std::size_t>(position / kDirectAlignment);
    return block < checked_.size() && checked_[block];
  }
  void set_checked(std::int64_t position) const {
    const std::scoped_lock lock(checked_mutex_);
    const auto block = static_cast<std::size_t>(position / kDirectAlignment);
    checked_.resize(std::max(checked_.size(), block + 1));
    checked_[block] = true;
  }
  // The pool task that removes segments, once, after the removal edit is synced.
  void give_up_when_unused(GiveUp give_up) { give_up_ = std::move(give_up); }

 private:
  const SegmentId id_;
  const SegmentSeed seed_;
  const std::shared_ptr<File> file_;
  const std::string path_;
  const std::string index_path_;
  LogPosition start_{0};
  std::atomic<std::int64_t> valid_end_{0};
  std::atomic<std::int64_t> batch_bytes_{0};
  std::shared_ptr<File> direct_file_;
  mutable std::mutex checked_mutex_;  // guards checked_
  mutable std::vector<bool> checked_;
  mutable std::mutex reserve_mutex_;  // guards reserved_end_, and what is above it while it is zeroed
  std::int64_t reserved_end_ = 0;
  GiveUp give_up_;  // written before the version without this segment is published, read by the destructor
};

// No segment between the two was removed.
[[nodiscard]] inline bool is_next(const Segment& segment, const Segment& before) {
  return segment.id().value == before.id().value + 1;
}

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
  // Goes into a variable: a version that nobody holds is freed as soon as the next one is published.
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
