#include "log/allow_writes.hpp"

#include "log/manifest.hpp"

namespace weir::log {

Result<std::int32_t> allow_writes(Disk& disk, const std::string& folder) {
  const auto path = folder + "/manifest";
  if (!disk.exists(path)) {
    return {Errc::not_found};
  }
  WEIR_TRY(const auto manifest, Manifest::open(disk, path, 0));
  if (!manifest->state().refuses_writes()) {
    return 0;
  }
  const auto cause = manifest->state().read_only_cause;
  const std::array<ManifestEdit, 1> allowed{ReadOnlyMark{-cause}};
  WEIR_TRY_VOID(manifest->append(allowed));
  return cause;
}

}  // namespace weir::log
