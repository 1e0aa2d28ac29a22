#include "coordinator/metadata/data_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <vector>

#include "base/logging.hpp"
#include "coordinator/metadata/metadata_files.hpp"
#include "log/unknown_files.hpp"

namespace weir::metadata {
namespace {

constexpr std::int64_t kFileSizeMax = 64 * 1024;
constexpr const char* kOwnFolder = "give Weir a folder of its own (--data, or log.dirs in the config)";
// Format 1 named no end; a start does not trust it.
constexpr std::string_view kCleanShutdownText = "clean shutdown, format 2\nlog.end=";

std::optional<LogPosition> read_clean_shutdown(std::string_view text) {
  if (!text.starts_with(kCleanShutdownText)) {
    return std::nullopt;
  }
  text.remove_prefix(kCleanShutdownText.size());
  LogPosition end;
  const auto [behind, error] = std::from_chars(text.data(), text.data() + text.size(), end.value);
  const bool is_whole = error == std::errc{} && std::string_view{behind, text.data() + text.size()} == "\n";
  return is_whole && end.value >= 0 ? std::optional{end} : std::nullopt;
}

std::string text_of(const Identity& identity) {
  return "cluster.id=" + identity.cluster_id + ", node.id=" + std::to_string(identity.node_id) +
         ", directory.id=" + to_string(identity.directory_id);
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

// Of a file that is replaced, or was put aside by a repair, the name without what was added.
std::string_view stem_of(std::string_view name) {
  for (const std::string_view added : {".tmp", ".damaged"}) {
    name.remove_suffix(name.ends_with(added) ? added.size() : 0);
  }
  return name;
}

bool is_known_name(const std::string& name) {
  constexpr std::array<std::string_view, 10> kNames{"meta.properties", ".lock",        "clean-shutdown", "manifest",
                                                    "metadata",        "metadata-end", "commitlog",      "pool",
                                                    "direct-probe",    "lost+found"};
  return std::ranges::find(kNames, stem_of(name)) != kNames.end();
}

bool is_metadata_name(const std::string& name) {
  const auto stem = stem_of(name);
  return stem == "meta.properties" || stem == "end" || is_metadata_file(stem);
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

Result<std::unique_ptr<DataFolder>> DataFolder::open(Disk& disk, const std::string& path, std::int32_t node_id,
                                                     Random& random, std::string& why) {
  std::unique_ptr<DataFolder> folder{new DataFolder{disk, path}};
  if (auto made = make_durable_directories(disk, path); !made) {
    return failed(why, "cannot make the data folder " + path, made.error());
  }
  auto lock = disk.lock(path + "/.lock");
  if (!lock) {
    if (lock.error().code == Errc::in_use) {
      why = "data folder " + path + " is in use by process " + std::to_string(lock.error().detail) +
            "; stop it, or name another folder with --data";
      return lock.error();
    }
    return failed(why, "cannot lock the data folder " + path, lock.error());
  }
  folder->lock_ = std::move(*lock);
  WEIR_TRY_VOID(folder->refuse_kafkas(why));
  WEIR_TRY_VOID(folder->read_or_create_identity(node_id, random, why));
  WEIR_TRY_VOID(folder->take_clean_shutdown(why));
  folder->name_unknown_files();
  return folder;
}

Result<void> DataFolder::refuse_kafkas(std::string& why) const {
  for (const auto* name : {"/bootstrap.checkpoint", "/__cluster_metadata-0"}) {
    if (disk_.exists(path_ + name)) {
      why = "data folder " + path_ + " was formatted by Apache Kafka (it holds " + (name + 1) + "); " + kOwnFolder;
      return {Errc::invalid_argument};
    }
  }
  return {};
}

Result<void> DataFolder::read_or_create_identity(std::int32_t node_id, Random& random, std::string& why) {
  const auto path = identity_path(path_);
  const auto file = read_identity(disk_, path);
  if (!file) {
    return failed(why, "cannot read " + path, file.error());
  }
  const auto read_copy = read_identity(disk_, identity_copy_path(path_));
  const auto copy = read_copy ? *read_copy : IdentityFile{MetaProperties::malformed, {}};
  const bool is_used = holds_data(disk_, path_);
  if (file->kind == MetaProperties::newer) {
    why = path + " was written by a newer version of Weir; start that version";
    return {Errc::unsupported};
  }
  if (file->kind == MetaProperties::kafkas && !is_used) {
    why = "data folder " + path_ + " was formatted by Apache Kafka (meta.properties); " + kOwnFolder;
    return {Errc::invalid_argument};
  }
  if (file->kind == MetaProperties::missing && !is_used) {
    return create_identity(node_id, random, why);
  }
  WEIR_TRY_VOID(settle_identity(*file, copy, why));
  if (identity_.node_id != node_id) {
    const auto of_folder = std::to_string(identity_.node_id);
    why = "data folder " + path_ + " belongs to node " + of_folder + ", but node.id is " + std::to_string(node_id) +
          "; start with --set node.id=" + of_folder + ", or give this node a folder of its own";
    return Error{Errc::invalid_argument, identity_.node_id};
  }
  return {};
}

Result<void> DataFolder::create_identity(std::int32_t node_id, Random& random, std::string& why) {
  identity_ = {.cluster_id = to_string(random.uuid()), .node_id = node_id, .directory_id = random.uuid()};
  first_start_ = true;
  if (auto written = write_identity(disk_, path_, identity_); !written) {
    return failed(why, "cannot write " + identity_path(path_), written.error());
  }
  return {};
}

// The folder holds data, or at least one of the two files.
Result<void> DataFolder::settle_identity(const IdentityFile& file, const IdentityFile& copy, std::string& why) {
  const auto path = identity_path(path_);
  const auto copy_path = identity_copy_path(path_);
  const auto command = "`weir metadata repair " + path_ + "`";
  if (file.is_ours()) {
    if (copy.is_ours() && copy.identity != file.identity) {
      why = path + " says " + text_of(file.identity) + ", but its copy " + copy_path + " says " +
            text_of(copy.identity) + "; keep one of them with `weir metadata repair --cluster-id ID " + path_ +
            "`, or remove the file that is not of this folder";
      return {Errc::corrupt};
    }
    identity_ = file.identity;
    if (copy.kind == MetaProperties::malformed) {
      WEIR_LOG(error, "{} is damaged: made again from {}", copy_path, path);
    }
    if (file.kind == MetaProperties::unchecked || copy.kind != MetaProperties::ours) {
      keep_identity();
    }
    return {};
  }
  const auto* what = file.kind == MetaProperties::missing ? " is missing" : " is damaged";
  if (copy.is_ours()) {
    identity_ = copy.identity;
    WEIR_LOG(error, "{}{}: made again from its copy {}", path, what, copy_path);
    keep_identity();
    return {};
  }
  why =
      path + what + ", and so is its copy " + copy_path + "; put one of them back, or make them again with " + command;
  return {file.kind == MetaProperties::missing ? Errc::not_found : Errc::corrupt};
}

// commitlog/ and pool/ are the log's to judge.
void DataFolder::name_unknown_files() const {
  std::string text;
  const auto add = [&](const std::string& folder, bool (*is_known)(const std::string&)) {
    auto names = disk_.list(folder);
    if (!names) {
      return;
    }
    std::erase_if(*names, is_known);
    const auto unknown = log::list_files(folder, *names);
    text += (text.empty() || unknown.empty() ? "" : "; ") + unknown;
  };
  add(path_, is_known_name);
  add(path_ + "/metadata", is_metadata_name);
  if (!text.empty()) {
    WEIR_LOG(warn, "files that Weir does not know are left alone: {}", text);
  }
}

// What is known already need not be written for a start to go on: the next one tries again.
void DataFolder::keep_identity() {
  if (const auto written = write_identity(disk_, path_, identity_); !written) {
    WEIR_LOG(warn, "{} and its copy cannot be written: {}", identity_path(path_), to_string(written.error()));
  }
}

Result<void> DataFolder::take_clean_shutdown(std::string& why) {
  const auto file = path_ + "/clean-shutdown";
  if (!disk_.exists(file)) {
    return {};
  }
  const auto content = read_file(disk_, file, kFileSizeMax);
  clean_end_ = content ? read_clean_shutdown(as_text(*content)) : std::nullopt;
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

Result<void> DataFolder::mark_clean_shutdown(LogPosition log_end) {
  const auto text = std::string{kCleanShutdownText} + std::to_string(log_end.value) + "\n";
  return replace_file(disk_, path_ + "/clean-shutdown", as_bytes(text));
}

}  // namespace weir::metadata
