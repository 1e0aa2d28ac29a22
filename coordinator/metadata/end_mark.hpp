// EndMark: how far the metadata log was durable at least, in a file. With it a start tells a last batch that was
// changed, or a last file that is gone, from a write that a crash left unfinished. EndMarks: the two files of a data
// folder, which say the same: `metadata/end`, and `metadata-end` beside the folder `metadata`, which stays when an
// older copy of that folder is put back.
//
// Raised after each append's sync and not synced itself: process death keeps it, a power cut may leave an older one,
// which is still true. A mark that cannot be read says 0, which claims nothing: what a power cut leaves of a new file
// (nothing, or zeros) is written over, anything else goes as settle() says. Owned by the MetadataLog; its thread.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "base/ids.hpp"

namespace weir::metadata {

class EndMark {
 public:
  // Reads what the last process left; makes no file.
  EndMark(Disk& disk, std::string path);

  [[nodiscard]] Offset at_least() const { return at_least_; }
  // `end` is durable. A failure is no matter: the mark stays lower than it could be.
  void raise(Offset end);
  // Once, by a start. What stands in the mark's place and is none is put aside as `<path>.damaged` (an empty folder is
  // removed), so that there can be a mark again. A sentence about it, or "".
  std::string settle();

 private:
  Disk& disk_;
  std::string path_;
  std::optional<Error> blocked_;  // something that is no mark is in its place: how it was read, or corrupt
  std::shared_ptr<File> file_;    // null until the first raise()
  Offset at_least_{0};
};

class EndMarks {
 public:
  EndMarks(Disk& disk, const std::string& data_folder)
      : inside_(disk, data_folder + "/metadata/end"), beside_(disk, data_folder + "/metadata-end") {}

  [[nodiscard]] Offset at_least() const { return std::max(inside_.at_least(), beside_.at_least()); }
  // What came with the folder `metadata` itself: a copy of it ends at or behind this.
  [[nodiscard]] Offset inside() const { return inside_.at_least(); }
  void raise(Offset end) {
    inside_.raise(end);
    beside_.raise(end);
  }
  std::vector<std::string> settle();  // the sentences of both

 private:
  EndMark inside_;
  EndMark beside_;
};

}  // namespace weir::metadata
