#include "coordinator/metadata/data_folder.hpp"

#include <cerrno>
#include <charconv>
#include <map>
#include <vector>

namespace weir::metadata {
namespace {

constexpr std::int64_t kFileSizeMax = 64 * 1024;
constexpr int kFormat = 1;
constexpr std::string_view kCleanShutdownText = "clean shutdown, format 1\n";

using Properties = std::map<std::string, std::string, std::less<>>;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\f";
  const auto from = text.find_first_not_of(kSpace);
  return from == std::string_view::npos ? std::string_view{}
                                        : text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

// The part of Java's format that Kafka and we write: one `key=value` a line, comments with # or !, no escapes needed.
std::optional<Properties> parse_properties(std::string_view text) {
  Properties properties;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == '!') {
      continue;
    }
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) {
      return std::nullopt;
    }
    properties[std::string{trimmed(line.substr(0, equals))}] = trimmed(line.substr(equals + 1));
  }
  return properties;
}

std::optional<std::int32_t> number_in(const Properties& properties, std::string_view key) {
  const auto found = properties.find(key);
  if (found == properties.end()) {
    return std::nullopt;
  }
  const auto& text = found->second;
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::string words_of(const Error& error) {
  const bool of_the_system = error.code == Errc::disk_failed || error.code == Errc::already_exists;
  switch (of_the_system ? error.detail : 0) {
    case EACCES:
    case EPERM: return "permission denied; the user that runs this needs the right to read and write there";
    case EROFS: return "its file system is read-only";
    case ENOTDIR: return "there is a file in its place, or in its path";
    default: return to_string(error);
  }
}

Error failed(std::string& why, const std::string& what, Error error) {
  why = what + ": " + words_of(error);
  return error;
}

// The folder with a name that a power cut keeps: also the folders above it that had to be made, and always the one that
// holds it, as an earlier start may have ended before this.
Result<void> make_durable_directories(Disk& disk, const std::string& path) {
  std::vector<std::string> parents;
  for (auto end = path.find_last_not_of('/'); end != std::string::npos;) {
    const auto slash = path.find_last_of('/', end);
    const auto parent = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    parents.push_back(parent);
    if (slash == std::string::npos || slash == 0 || disk.exists(parent)) {
      break;
    }
    end = path.find_last_not_of('/', slash);
  }
  WEIR_TRY_VOID(disk.make_directories(path));
  for (const auto& parent : parents) {
    WEIR_TRY_VOID(disk.sync_directory(parent));
  }
  return {};
}

}  // namespace

std::string write_meta_properties(const Identity& identity) {
  return "# Who this data folder belongs to. Made by Weir at its first start; do not edit.\nweir.format=" +
         std::to_string(kFormat) + "\nversion=1\ncluster.id=" + identity.cluster_id +
         "\nnode.id=" + std::to_string(identity.node_id) + "\ndirectory.id=" + to_string(identity.directory_id) + "\n";
}

MetaProperties read_meta_properties(std::string_view text, Identity& identity) {
  const auto properties = parse_properties(text);
  if (!properties) {
    return MetaProperties::malformed;
  }
  if (!properties->contains("weir.format")) {
    return properties->contains("version") ? MetaProperties::kafkas : MetaProperties::malformed;
  }
  const auto format = number_in(*properties, "weir.format");
  if (!format || *format < kFormat) {
    return MetaProperties::malformed;
  }
  if (*format > kFormat) {
    return MetaProperties::newer;
  }
  const auto cluster_id = properties->find("cluster.id");
  const auto directory_id = properties->find("directory.id");
  const auto node_id = number_in(*properties, "node.id");
  if (cluster_id == properties->end() || cluster_id->second.empty() || directory_id == properties->end() || !node_id ||
      *node_id < 0) {
    return MetaProperties::malformed;
  }
  const auto directory = uuid_from_string(directory_id->second);
  if (!directory || directory->is_zero()) {
    return MetaProperties::malformed;
  }
  identity = {.cluster_id = cluster_id->second, .node_id = *node_id, .directory_id = *directory};
  return MetaProperties::ours;
}

Result<std::unique_ptr<DataFolder>> DataFolder::open(Disk& disk, const std::string& path, std::int32_t node_id,
                                                     Random& random, std::string& why) {
  std::unique_ptr<DataFolder> folder{new DataFolder{disk, path}};
  if (auto made = make_durable_directories(disk, path); !made) {
    return failed(why, "cannot make the data folder " + path, made.error());
  }
  auto lock = disk.lock(path + "/.lock");
  if (!lock) {
    if (lock.error().code == Errc::in_use) {
      why = "data folder " + path + " is in use by process " + std::to_string(lock.error().detail);
      return lock.error();
    }
    return failed(why, "cannot lock the data folder " + path, lock.error());
  }
  folder->lock_ = std::move(*lock);
  WEIR_TRY_VOID(folder->refuse_kafkas(why));
  WEIR_TRY_VOID(folder->read_or_create_identity(node_id, random, why));
  WEIR_TRY_VOID(folder->take_clean_shutdown(why));
  return folder;
}

Result<void> DataFolder::refuse_kafkas(std::string& why) const {
  for (const auto* name : {"/bootstrap.checkpoint", "/__cluster_metadata-0"}) {
    if (disk_.exists(path_ + name)) {
      why = "data folder " + path_ + " was formatted by Apache Kafka (it holds " + (name + 1) +
            "); give Weir a folder of its own";
      return {Errc::invalid_argument};
    }
  }
  return {};
}

Result<void> DataFolder::read_or_create_identity(std::int32_t node_id, Random& random, std::string& why) {
  const auto file = path_ + "/meta.properties";
  if (!disk_.exists(file)) {
    for (const auto* name : {"/metadata", "/commitlog", "/manifest"}) {
      if (disk_.exists(path_ + name)) {
        why = "data folder " + path_ + " holds " + (name + 1) +
              " but no meta.properties; put that file back, as a new one would make this another cluster";
        return {Errc::not_found};
      }
    }
    identity_ = {.cluster_id = to_string(random.uuid()), .node_id = node_id, .directory_id = random.uuid()};
    const auto text = write_meta_properties(identity_);
    if (auto written = replace_file(disk_, file, as_bytes(text)); !written) {
      return failed(why, "cannot write " + file, written.error());
    }
    first_start_ = true;
    return {};
  }
  const auto content = read_file(disk_, file, kFileSizeMax);
  if (!content) {
    return failed(why, "cannot read " + file, content.error());
  }
  switch (read_meta_properties(as_text(*content), identity_)) {
    case MetaProperties::ours: break;
    case MetaProperties::kafkas:
      why = "data folder " + path_ + " was formatted by Apache Kafka (meta.properties); give Weir a folder of its own";
      return {Errc::invalid_argument};
    case MetaProperties::newer:
      why = file + " was written by a newer version of Weir; start that version";
      return {Errc::unsupported};
    case MetaProperties::malformed: why = file + " is damaged; put back a copy of it"; return {Errc::corrupt};
  }
  if (identity_.node_id != node_id) {
    why = "data folder " + path_ + " belongs to node " + std::to_string(identity_.node_id) + ", but node.id is " +
          std::to_string(node_id);
    return Error{Errc::invalid_argument, identity_.node_id};
  }
  return {};
}

Result<void> DataFolder::take_clean_shutdown(std::string& why) {
  const auto file = path_ + "/clean-shutdown";
  if (!disk_.exists(file)) {
    return {};
  }
  const auto content = read_file(disk_, file, kFileSizeMax);
  clean_start_ = content && as_text(*content) == kCleanShutdownText;
  // Gone for good before anything is written: a crash from now on must not look like a clean stop.
  auto removed = disk_.remove(file);
  if (removed) {
    removed = disk_.sync_directory(path_);
  }
  if (!removed) {
    return failed(why, "cannot remove " + file, removed.error());
  }
  return {};
}

Result<void> DataFolder::mark_clean_shutdown() {
  return replace_file(disk_, path_ + "/clean-shutdown", as_bytes(kCleanShutdownText));
}

}  // namespace weir::metadata
