// Identity: whose data a folder holds. It is kept twice, in `meta.properties` and in the copy
// `metadata/meta.properties`, each with a checksum, so that a changed letter is noticed and either one brings the other
// back. Read and written at start and by `weir metadata repair`, by whoever holds the folder's lock; calls block.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/disk.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"

namespace weir::metadata {

struct Identity {
  std::string cluster_id;  // 22 characters, as Kafka's
  std::int32_t node_id = 1;
  Uuid directory_id;  // stays with the disk: a new disk gets a new one
  friend bool operator==(const Identity&, const Identity&) = default;
};

// The file format, pure. Ours is told from Kafka's by its keys `weir.format` and `weir.checksum`, the last line: the
// CRC32C of all before it. Every later format ends with that line too.
std::string write_meta_properties(const Identity& identity);
enum class MetaProperties : std::uint8_t {
  ours,
  unchecked,  // ours, of an earlier version: it has no checksum
  kafkas,
  newer,
  malformed,  // cut, changed, or not what such a file says. `identity` has what can be read of it
  missing,    // only from read_identity()
};
MetaProperties read_meta_properties(std::string_view text, Identity& identity);

struct IdentityFile {
  MetaProperties kind = MetaProperties::missing;
  Identity identity;
  [[nodiscard]] bool is_ours() const { return kind == MetaProperties::ours || kind == MetaProperties::unchecked; }
};
std::string identity_path(const std::string& data_folder);
std::string identity_copy_path(const std::string& data_folder);
// disk_failed, or too_large.
Result<IdentityFile> read_identity(Disk& disk, const std::string& path);
// Both files; the folder's own first, then the copy. A file that is there and says something else is kept as
// `<name>.damaged`.
Result<void> write_identity(Disk& disk, const std::string& data_folder, const Identity& identity);
// Is there anything of ours beside the identity?
bool holds_data(const Disk& disk, const std::string& data_folder);

}  // namespace weir::metadata
