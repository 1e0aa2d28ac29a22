#include "tools/cli/version.hpp"

#include "weir_commit.hpp"  // made by cmake/commit.cmake with each build

namespace weir::cli {

std::string version_text() {
  std::string commit{kCommit};
  if (commit.empty()) {
    return WEIR_VERSION;
  }
  constexpr std::string_view kDirty = "-dirty";
  const bool is_dirty = commit.ends_with(kDirty);
  if (is_dirty) {
    commit.resize(commit.size() - kDirty.size());
  }
  return std::string{WEIR_VERSION} + " (commit " + commit + (is_dirty ? " and changes)" : ")");
}

}  // namespace weir::cli
