#include "coordinator/metadata/identity.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <map>

#include "base/crc32c.hpp"

namespace weir::metadata {
namespace {

constexpr std::int64_t kFileSizeMax = 64 * 1024;
constexpr int kFormat = 1;
constexpr std::string_view kChecksumKey = "weir.checksum";

using Properties = std::map<std::string, std::string, std::less<>>;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\f";
  const auto from = text.find_first_not_of(kSpace);
  return from == std::string_view::npos ? std::string_view{}
                                        : text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

// The part of Java's format that Kafka and we write: one `key=value` a line, comments with # or !, no escapes needed.
// False if a line is none; what the others say is there all the same.
bool parse_properties(std::string_view text, Properties& properties) {
  bool is_whole = true;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == '!') {
      continue;
    }
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) {
      is_whole = false;
      continue;
    }
    properties[std::string{trimmed(line.substr(0, equals))}] = trimmed(line.substr(equals + 1));
  }
  return is_whole;
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

// False if something that the identity needs is not there.
bool take_identity(const Properties& properties, Identity& identity) {
  const auto cluster_id = properties.find("cluster.id");
  const auto directory_id = properties.find("directory.id");
  const auto node_id = number_in(properties, "node.id");
  const auto directory = directory_id == properties.end() ? std::nullopt : uuid_from_string(directory_id->second);
  identity = {.cluster_id = cluster_id == properties.end() ? "" : cluster_id->second,
              .node_id = node_id.value_or(-1),
              .directory_id = directory.value_or(Uuid{})};
  return !identity.cluster_id.empty() && identity.node_id >= 0 && !identity.directory_id.is_zero();
}

std::string checksum_line(std::string_view before) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "=%08x\n", crc32c(as_bytes(before)));
  return std::string{kChecksumKey} + digits.data();
}

// Is the last line the checksum of all before it?
bool is_sealed(std::string_view text) {
  const auto at = text.rfind(std::string{kChecksumKey});
  return at != std::string_view::npos && text.substr(at) == checksum_line(text.substr(0, at));
}

}  // namespace

std::string write_meta_properties(const Identity& identity) {
  auto text = "# Who this data folder belongs to. Made by Weir at its first start; do not edit.\nweir.format=" +
              std::to_string(kFormat) + "\nversion=1\ncluster.id=" + identity.cluster_id +
              "\nnode.id=" + std::to_string(identity.node_id) + "\ndirectory.id=" + to_string(identity.directory_id) +
              "\n";
  return text + checksum_line(text);
}

MetaProperties read_meta_properties(std::string_view text, Identity& identity) {
  Properties properties;
  const bool is_whole = parse_properties(text, properties);
  const bool has_all = take_identity(properties, identity);
  if (properties.contains(kChecksumKey) && !is_sealed(text)) {
    return MetaProperties::malformed;
  }
  if (!is_whole) {
    return MetaProperties::malformed;
  }
  if (!properties.contains("weir.format")) {
    return properties.contains("version") ? MetaProperties::kafkas : MetaProperties::malformed;
  }
  const auto format = number_in(properties, "weir.format");
  if (!format || *format < kFormat) {
    return MetaProperties::malformed;
  }
  if (*format > kFormat) {
    return MetaProperties::newer;
  }
  if (!has_all) {
    return MetaProperties::malformed;
  }
  return properties.contains(kChecksumKey) ? MetaProperties::ours : MetaProperties::unchecked;
}

std::string identity_path(const std::string& data_folder) {
  return data_folder + "/meta.properties";
}

std::string identity_copy_path(const std::string& data_folder) {
  return data_folder + "/metadata/meta.properties";
}

Result<IdentityFile> read_identity(Disk& disk, const std::string& path) {
  IdentityFile file;
  const auto content = read_file(disk, path, kFileSizeMax);
  if (!content) {
    return content.error().code == Errc::not_found ? Result<IdentityFile>{file} : content.error();
  }
  file.kind = read_meta_properties(as_text(*content), file.identity);
  return file;
}

Result<void> write_identity(Disk& disk, const std::string& data_folder, const Identity& identity) {
  const auto text = write_meta_properties(identity);
  const auto own = identity_path(data_folder);
  for (const auto& path : {own, identity_copy_path(data_folder)}) {
    if (path !=
        own) {  // behind the folder's own: a folder `metadata` without it would be old data that lost its identity
      WEIR_TRY_VOID(disk.make_directories(data_folder + "/metadata"));  // its name: durable with the metadata log
    }
    const auto content = read_file(disk, path, kFileSizeMax);
    if (content && as_text(*content) == text) {
      continue;
    }
    Identity said;
    if (content && read_meta_properties(as_text(*content), said) != MetaProperties::unchecked) {
      WEIR_TRY_VOID(disk.rename(path, path + ".damaged"));
    }
    WEIR_TRY_VOID(replace_file(disk, path, as_bytes(text)));
  }
  return {};
}

bool holds_data(const Disk& disk, const std::string& data_folder) {
  return disk.exists(data_folder + "/manifest") || disk.exists(data_folder + "/commitlog") ||
         disk.exists(data_folder + "/metadata");
}

}  // namespace weir::metadata
