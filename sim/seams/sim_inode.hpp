// One file of SimDisk: what readers see, what is durable, and the journal between the two. Guarded by the disk's lock.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/random.hpp"

namespace weir::sim {

class SimInode {
 public:
  static constexpr std::size_t kSectorBytes = 512;  // what a device writes whole or not at all
  static constexpr std::size_t kPageBytes = 4096;   // what a kernel, and some devices, write at once

  void write(std::int64_t position, std::span<const Bytes> parts, std::size_t bytes_max);
  void truncate(std::int64_t size);
  void allocate(std::int64_t size) { allocated_ = std::max(allocated_, size); }
  void sync();
  // Each unsynced change is kept, dropped or torn as `random` decides; the outcome is the new durable content.
  void lose_unsynced(Random& random);
  // The same for the medium, while readers go on to see the page cache: a sync that failed.
  void fail_sync(Random& random);
  void damage(std::int64_t position, std::byte mask);

  [[nodiscard]] Bytes content() const { return current_; }
  // Past the page cache: what is on its way gets there first; what a failed sync has lost is not seen.
  [[nodiscard]] std::vector<std::byte> content_of_device() const;
  [[nodiscard]] std::int64_t size() const { return std::ssize(current_); }
  // The first page at or behind `position` that nothing was ever written to, or the size.
  [[nodiscard]] std::int64_t first_unwritten(std::int64_t position) const;
  [[nodiscard]] std::int64_t first_written(std::int64_t position) const;
  [[nodiscard]] std::int64_t charged_bytes() const { return std::max(size(), allocated_); }

 private:
  struct Change {
    std::int64_t position = 0;     // of a write; the new size for a truncation
    std::vector<std::byte> bytes;  // of a write
    bool truncation = false;
  };
  static void apply(std::vector<std::byte>& content, const Change& change);
  static void apply_torn(std::vector<std::byte>& content, const Change& change, Random& random,
                         std::uint64_t keep_of_8);
  static void misdirect(std::vector<std::byte>& content, const Change& change, Random& random);
  void settle(Random& random);

  std::vector<std::byte> current_;
  std::vector<std::byte> durable_;
  std::vector<Change> journal_;
  std::vector<bool> written_;  // by page; what was written once is never unwritten again, but by a truncation
  std::int64_t allocated_ = 0;
};

}  // namespace weir::sim
