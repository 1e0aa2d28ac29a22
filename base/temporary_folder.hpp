// A new empty folder under the system's folder for temporary files, removed with all it holds at the end. For tests.
// Owned by one test; its path is fixed, so any thread may read it.
#pragma once

#include <string>

namespace weir {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace weir
