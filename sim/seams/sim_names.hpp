// The names of SimDisk: what processes see, what is durable, and the journal of changes since each folder's last sync.
// Guarded by the disk's lock. Paths are normal (sim_names.cpp), folders are entries without a file.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sim/seams/sim_inode.hpp"

namespace weir::sim {

std::string normal_path(const std::string& path);  // no "//", no ".", no '/' at the end
std::string folder_of(const std::string& path);    // "." or "/" at the top

class SimNames {
 public:
  using File = std::shared_ptr<SimInode>;

  // Null for a folder and for nothing; folder_exists() tells the two apart.
  [[nodiscard]] File find(const std::string& path) const;
  [[nodiscard]] bool folder_exists(const std::string& path) const;
  [[nodiscard]] bool exists(const std::string& path) const { return find(path) != nullptr || folder_exists(path); }
  [[nodiscard]] std::vector<std::string> names_in(const std::string& folder) const;  // sorted

  void add(const std::string& path, File file);  // a null file makes a folder
  void rename(const std::string& from, const std::string& to);
  void remove(const std::string& path);
  void sync_folder(const std::string& folder);
  // Each unsynced change of a name is kept or dropped by itself; what lies in a folder that is lost is lost with it.
  void lose_unsynced(Random& random);
  // Every file that any name, durable or not, can still bring back; always in the same order.
  [[nodiscard]] std::vector<File> files() const;
  [[nodiscard]] std::vector<File> visible_files() const;
  [[nodiscard]] SimNames deep_copy() const;

 private:
  struct Change {
    std::string from;  // empty: created
    std::string to;    // empty: removed
    File file;
  };
  using Entries = std::map<std::string, File>;
  static void apply(Entries& entries, const Change& change);

  Entries current_;
  Entries durable_;
  std::vector<Change> journal_;
};

}  // namespace weir::sim
