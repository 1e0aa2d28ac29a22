// DataFolder: who the folder belongs to. Holds the lock, the identity (coordinator/metadata/identity.hpp) and the
// clean-shutdown file. Made once at start, by the thread that starts the broker; outlives everything in the folder.
#pragma once

#include <memory>
#include <string>

#include "base/disk.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "coordinator/metadata/identity.hpp"

namespace weir::metadata {

class DataFolder {
 public:
  // Makes the folder if missing, takes its lock, reads or creates the identity, and takes note of the clean-shutdown
  // file (and removes it: a crash from now on is an unclean stop). One of the two identity files that is lost or
  // damaged is made again from the other, with a line in the log. `why` gets one sentence for the operator on failure,
  // with what to do: in_use (another process holds it), invalid_argument (Kafka formatted it, or it is another node's),
  // corrupt, not_found (old data without an identity), unsupported (a newer version made it), disk_failed.
  static Result<std::unique_ptr<DataFolder>> open(Disk& disk, const std::string& path, std::int32_t node_id,
                                                  Random& random, std::string& why);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const Identity& identity() const { return identity_; }
  // Where the last process said that the log ends, all of it synced. nullopt: it did not say so, or on the very first
  // start.
  [[nodiscard]] std::optional<LogPosition> clean_end() const { return clean_end_; }
  [[nodiscard]] bool first_start() const { return first_start_; }
  // Only after a complete flush of all that lives in the folder.
  Result<void> mark_clean_shutdown(LogPosition log_end);

 private:
  DataFolder(Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}
  Result<void> refuse_kafkas(std::string& why) const;
  Result<void> read_or_create_identity(std::int32_t node_id, Random& random, std::string& why);
  Result<void> create_identity(std::int32_t node_id, Random& random, std::string& why);
  Result<void> settle_identity(const IdentityFile& file, const IdentityFile& copy, std::string& why);
  void keep_identity();
  void name_unknown_files() const;
  Result<void> take_clean_shutdown(std::string& why);

  Disk& disk_;
  std::string path_;
  std::unique_ptr<DiskLock> lock_;
  Identity identity_;
  std::optional<LogPosition> clean_end_;
  bool first_start_ = false;
};

}  // namespace weir::metadata
