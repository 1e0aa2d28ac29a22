#include "log/unknown_files.hpp"

#include <algorithm>
#include <set>

#include "log/index_layout.hpp"

namespace weir::log {
namespace {

constexpr std::size_t kNamesMax = 10;  // in a line of the log

bool is_zero(Bytes bytes) {
  return std::ranges::all_of(bytes, [](std::byte one) { return one == std::byte{0}; });
}

// At most what a header takes; nullopt if it cannot be read.
std::optional<std::vector<std::byte>> front_of(Disk& disk, const std::string& path) {
  const auto file = disk.open(path, {.read_only = true});
  if (!file) {
    return std::nullopt;
  }
  std::vector<std::byte> front(kSegmentHeaderSize);
  const auto got = (*file)->read_at(0, front);
  if (!got) {
    return std::nullopt;
  }
  front.resize(*got);
  return front;
}

Result<void> remove_if_there(Disk& disk, const std::string& path) {
  const auto removed = disk.remove(path);
  return removed || removed.error().code == Errc::not_found ? Result<void>{} : removed;
}

}  // namespace

bool is_file_of_ours(Disk& disk, const std::string& folder, const std::string& name) {
  const bool is_segment = segment_of_file_name(name).has_value();
  auto of_index = segment_of_file_name(name, ".index");
  of_index = of_index ? of_index : segment_of_file_name(name, ".index.tmp");
  if (!is_segment && !of_index) {
    return false;
  }
  const auto front = front_of(disk, folder + "/" + name);
  if (!front) {
    return false;
  }
  if (is_zero(*front)) {
    return true;
  }
  if (is_segment) {  // of any number: a file of the pool has the header of its former life until it is written
    return decode_segment_header(*front).has_value();
  }
  const auto header = decode_index_header(Bytes{*front}.first(std::min(front->size(), kIndexHeaderSize)));
  return header && header->segment == *of_index;
}

Result<std::vector<std::string>> remove_leftovers(Disk& disk, const std::string& folder,
                                                  const ManifestState& manifest) {
  std::set<std::string> known;
  for (const auto& [id, facts] : manifest.segments) {
    known.insert(segment_file_name(id));
    known.insert(index_file_name(id));
  }
  WEIR_TRY(const auto names, disk.list(folder));
  std::vector<std::string> left;
  for (const auto& name : names) {
    if (known.contains(name)) {
      continue;
    }
    if (is_file_of_ours(disk, folder, name)) {
      WEIR_TRY_VOID(disk.remove(folder + "/" + name));
    } else {
      left.push_back(name);
    }
  }
  return left;
}

Result<void> remove_dropped(Disk& disk, const std::string& folder, std::span<const SegmentId> segments) {
  for (const auto id : segments) {
    WEIR_TRY_VOID(remove_if_there(disk, folder + "/" + index_file_name(id)));
    WEIR_TRY_VOID(remove_if_there(disk, folder + "/" + segment_file_name(id)));
  }
  return {};
}

std::string list_files(const std::string& folder, std::span<const std::string> names) {
  std::string text;
  for (const auto& name : names.first(std::min(names.size(), kNamesMax))) {
    text += (text.empty() ? folder + ": " : ", ") + name;
  }
  return names.size() > kNamesMax ? text + " and " + std::to_string(names.size() - kNamesMax) + " more" : text;
}

}  // namespace weir::log
