#include "base/temporary_folder.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/check.hpp"

namespace weir {

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "weir-XXXXXX").string();
  WEIR_CHECK(::mkdtemp(path_.data()) != nullptr);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace weir
