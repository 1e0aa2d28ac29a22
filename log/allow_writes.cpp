#include "log/allow_writes.hpp"

#include "log/manifest.hpp"

namespace weir::log {

Result<std::int32_t> allow_writes(Disk& disk, const std::string& folder) {
  const auto path = folder + "/manifest";
  if (!disk.exists(path)) {
    return {Errc::not_found};
  }
  WEIR_TRY(const auto manifest, Manifest::open(disk, path, 0));
  const auto cause = manifest->state().read_only_cause;
  if (cause != 0) {
    const std::array<ManifestEdit, 1> none{ReadOnlyMark{0}};
    WEIR_TRY_VOID(manifest->append(none));
  }
  return cause;
}

}  // namespace weir::log
