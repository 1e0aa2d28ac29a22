// EndMark: how far the metadata log was durable at least, in the file `metadata/end`. With it a start tells a last
// batch that was changed, or a last file that is gone, from a write that a crash left unfinished.
//
// Raised after each append's sync and not synced itself: process death keeps it, a power cut may leave an older one,
// which is still true. A mark that cannot be read says 0, which claims nothing. Owned by the MetadataLog; its thread.
#pragma once

#include <memory>
#include <string>

#include "base/disk.hpp"
#include "base/ids.hpp"

namespace weir::metadata {

class EndMark {
 public:
  // Reads what the last process left; makes no file. `folder` is `metadata`.
  EndMark(Disk& disk, const std::string& folder);

  [[nodiscard]] Offset at_least() const { return at_least_; }
  // `end` is durable. A failure is no matter: the mark stays lower than it could be.
  void raise(Offset end);

 private:
  Disk& disk_;
  std::string path_;
  std::shared_ptr<File> file_;  // null until the first raise()
  Offset at_least_{0};
};

}  // namespace weir::metadata
